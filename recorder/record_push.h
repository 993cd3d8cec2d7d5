/*
 * Pushes what is recorded to a fleet's store: the sums of the whole session at its end, or deltas of them while it is
 * recorded. All work is done by threads of dwell. What the store does not take waits in the spool (fleet/spool.h).
 */
#ifndef DWELL_RECORDER_RECORD_PUSH_H
#define DWELL_RECORDER_RECORD_PUSH_H

#include "base/error.h"
#include "recorder/record_settings.h"
#include "session.h"

struct record_push;

/* Finds the server and makes the spool: *push becomes NULL without --push. An error if there is no server or no spool.
 */
bool record_push_new(const struct record_settings *s, struct record_push **push, struct error *error);

/* Begins to take deltas of the session at `path`. */
void record_push_start(struct record_push *p, const struct session *session, int fd, const char *path);

/* Takes no more deltas. Writes a note into the session if the spool has dropped any. */
void record_push_stop(struct record_push *p);

/* Pushes the rest of a complete session, unless it is empty, and says in a line what was pushed. Frees all. */
void record_push_finish(struct record_push *p, bool empty);

#endif
