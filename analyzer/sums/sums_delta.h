/*
 * The deltas of a session of mode profile while it is recorded: sums that add up to those of the complete session.
 *
 * Nothing in a delta is negative. Amounts that the runtime has not stored completely when they are read are in a later
 * delta. The deltas of a session, merged, are the file that `dwell profile` makes of the complete session.
 */
#ifndef DWELL_SUMS_SUMS_DELTA_H
#define DWELL_SUMS_SUMS_DELTA_H

#include "sums/sums.h"

struct sums_deltas;

/* `begin` is when the recording began: nanoseconds since 1970. */
struct sums_deltas *sums_deltas_new(uint64_t begin);
void sums_deltas_free(struct sums_deltas *d);

/* How many deltas were made. */
uint32_t sums_deltas_count(const struct sums_deltas *d);

/* Makes the sums of what a session has recorded since the last call, at the time `now`. With `last`, the session is
 * complete. Returns NULL if there is nothing, or, with the error set, if the session cannot be read. The last delta is
 * never nothing. The caller frees the sums. */
struct sums *sums_deltas_take(struct sums_deltas *d, const char *path, uint64_t now, bool last, struct error *error);

#endif
