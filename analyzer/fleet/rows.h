/* The rows of one session: the amounts of its call paths, in nanoseconds, with what they add to inclusive values. */
#ifndef DWELL_FLEET_ROWS_H
#define DWELL_FLEET_ROWS_H

#include "analysis/analysis.h"
#include "fleet/schema.h"

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
};

/* The numbers of a session's modules and functions. */
struct fleet_numbers {
    uint64_t *modules, *functions; /* by module and function of the profile */
};

/* Loads a session for the rows. Its times are nanoseconds, and copies of functions are apart: their number joins them.
 */
bool fleet_load_session(struct analysis *l, const char *path, struct error *error);

/* The caller drops them. */
struct fleet_numbers fleet_number(const struct analysis *l);
void fleet_numbers_drop(struct fleet_numbers *numbers);

/* Passes all rows of a loaded session to `take`, callers before the functions that they call. The place has neither day
 * nor run nor part. Stops and returns false if `take` does. */
typedef bool fleet_row_taker(void *context, const struct fleet_row *row);
bool fleet_follow_rows(const struct analysis *l, const struct fleet_numbers *numbers, fleet_row_taker *take,
                       void *context);

#endif
