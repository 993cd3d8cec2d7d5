/* Reads the durations of calls that a session of sums has (dwell/format_sums.h). */
#ifndef DWELL_PROFILE_TREE_DURATIONS_H
#define DWELL_PROFILE_TREE_DURATIONS_H

#include "profile/durations.h"
#include "profile/tree_sums.h"

/* Whether a writer makes such a row. */
bool tree_durations_can_be(const struct dwell_duration_row *row);

/* Adds a row to the durations of its node. False if it cannot be. */
bool tree_durations_add_row(struct durations **d, const struct dwell_duration_row *row);

/* Adds the rows of a thread to the nodes of a profile. `nodes` has them by number in the file. False if any row or
 * chunk is damaged: what comes after it is left out. */
bool tree_durations_read(const struct tree_chunks *chunks, const struct session_file *file, uint32_t process,
                         uint32_t thread, struct profile *p, const uint32_t *nodes, size_t count);

#endif
