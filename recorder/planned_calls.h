/* Which calls into libraries are recorded (`dwell record --calls-to`). */
#ifndef DWELL_RECORDER_PLANNED_CALLS_H
#define DWELL_RECORDER_PLANNED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "session.h"
#include "symbols/function_pattern.h"

struct planned_calls {
    struct call_choice {
        struct function_pattern of;
        size_t matches;
        const char *reason; /* why a function that matches is left alone; NULL if there is none */
    } * choices;
    size_t count, room;
    bool all;    /* --calls-to-all */
    char *bytes; /* the modules as a plan chunk has them */
    size_t length;
    uint32_t modules, slots;
};

/* Adds a pattern. If it is not valid, sets the error. */
bool planned_calls_add(struct planned_calls *c, const char *text, struct error *error);

/* Whether calls into libraries are recorded. */
bool planned_calls_any(const struct planned_calls *c);

/* Finds the slots in the program and the libraries that it is linked with. If a pattern names nothing, sets the error.
 */
bool planned_calls_find(struct planned_calls *c, const char *program, struct error *error);

/* Writes the plan into a session that no program records into yet. False if there is no room. */
bool planned_calls_write(const struct planned_calls *c, const struct session *session, int fd);

void planned_calls_drop(struct planned_calls *c);

#endif
