/* The rows of one session: the amounts of its call paths, in nanoseconds, with what they add to inclusive values. */
#ifndef DWELL_FLEET_SUM_SUM_ROWS_H
#define DWELL_FLEET_SUM_SUM_ROWS_H

#include "fleet/schema.h"
#include "fleet/session_sums.h"

struct fleet_amounts {
#define FLEET_MEMBER(name, add) uint64_t name;
    FLEET_COLUMNS(FLEET_MEMBER)
#undef FLEET_MEMBER
#define FLEET_MEMBER(name, add) double name;
    FLEET_SQUARES(FLEET_MEMBER)
#undef FLEET_MEMBER
};

struct fleet_row {
    struct fleet_place place;
    struct fleet_amounts amounts;
    const struct durations *durations; /* of the path's calls, in nanoseconds; NULL if there are none */
};

/* Passes all rows of a session to `take`, the functions that a path calls before the path. The place has neither day
 * nor run nor part. Stops and returns false if `take` does, or with an error if the file has changed. */
typedef bool fleet_row_taker(void *context, const struct fleet_row *row);
bool fleet_follow_rows(struct fleet_session *session, fleet_row_taker *take, void *context, struct error *error);

#endif
