/*
 * A session on its way to the store. The store gets the sums of a session, as `dwell profile` writes them: those of a
 * recorded session are made first, in a temporary file.
 */
#ifndef DWELL_FLEET_SESSION_SUMS_H
#define DWELL_FLEET_SESSION_SUMS_H

#include "analysis/analysis.h"

/* The numbers of a session's modules and functions. */
struct fleet_numbers {
    uint64_t *modules, *functions; /* by module and function of the profile */
};

struct fleet_session {
    struct analysis
        analysis; /* of sums. Its times are nanoseconds. Copies of functions are apart: their number joins them */
    struct fleet_numbers numbers;
    bool whole; /* the analysis has all call paths; else they are read one by one (thread_tree.h) */
};

/* The number of a run in the store: the same for a recorded session and for its sums. Zero if the session has no number
 * of its own, before it is one of sums. */
uint64_t fleet_session_number(const struct session_file *file);

/* Sets the error that durations cannot be, and returns false. */
bool fleet_durations_are_damaged(const struct fleet_session *session, struct error *error);

/* Opens a session of sums, or makes it of a recorded one. The caller drops it. */
bool fleet_session_open(struct fleet_session *session, const char *path, struct error *error);
void fleet_session_drop(struct fleet_session *session);

#endif
