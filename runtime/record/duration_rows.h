/*
 * The rows of counters that duration_counts.c adds to: they are made when a call is the first one of its range. There
 * are at most DWELL_MAX_DURATION_ROWS for a thread.
 */
#ifndef DWELL_DURATION_ROWS_H
#define DWELL_DURATION_ROWS_H

#include "duration_counts.h"

#pragma GCC visibility push(hidden)

/* Makes the row of a duration, which is that of its first call, or counts the call if there is one by now. If there is
 * no room, the node says so. Signals need not be held back. The time that it takes is that of the runtime. */
void duration_rows_add_first(struct thread *t, struct dwell_tree_node *node, uint64_t duration);

/* The same as duration_counts_note on the slow path, which measures its own time. Signals are held back. */
void duration_rows_note(struct thread *t, struct dwell_tree_node *node, uint64_t duration);

/* For a node in memory with a counter that is not in the file, for calibrate.c. False if there is no memory. */
bool duration_rows_add_known(struct thread *t, const struct dwell_tree_node *node, uint64_t duration, uint64_t *calls);

/* The thread's call tree begins, perhaps in a forked child: forgets the rows. Signals are held back. */
void duration_rows_begin(struct thread *t);

/* Ends the thread's rows. Signals are held back. */
void duration_rows_end(struct thread *t);

/* Unmaps the tables. */
void duration_rows_drop_tables(struct thread *t);

#pragma GCC visibility pop

#endif
