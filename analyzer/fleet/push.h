/* Sends sessions to the store. */
#ifndef DWELL_FLEET_PUSH_H
#define DWELL_FLEET_PUSH_H

#include "fleet/store.h"

/* A word and a text that the user gives a run, such as commit=1f0c. */
struct fleet_label {
    char *key, *value;
};

struct fleet_labels {
    struct fleet_label *list;
    size_t count, room;
};

/* Adds KEY=VALUE. It is an error if there is no key. */
bool fleet_labels_add(struct fleet_labels *labels, const char *text, struct error *error);
void fleet_labels_drop(struct fleet_labels *labels);

struct fleet_pushed {
    uint64_t run;
    bool known;       /* the store has the run already: nothing was sent */
    uint64_t rows;    /* of call paths */
    bool older_store; /* it has no table for durations, which were left out */
    uint64_t names;   /* of functions that the store did not have */
};

/*
 * Sends a session's rows, then the row of the run that lets readers count them. Until that last row is there, no reader
 * sees anything of the run. If it fails at any place, what was sent stays unseen, and the session can be pushed again.
 */
bool fleet_push(const struct fleet_store *store, const char *path, const struct fleet_labels *labels,
                struct fleet_pushed *pushed, struct error *error);

#endif
