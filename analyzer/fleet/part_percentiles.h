/* The columns p50, p90, p99 and max of functions by run, host, build or day. */
#ifndef DWELL_FLEET_PART_PERCENTILES_H
#define DWELL_FLEET_PART_PERCENTILES_H

#include "base/index.h"
#include "fleet/fleet_command.h"
#include "profile/durations.h"

enum { PART_PERCENTILES = 4 };
/* Members of a list of columns. */
#define PART_PERCENTILE_COLUMNS                                                                                        \
    { "p50", "P50", CELL_NS, USE_CHOSEN, false }, { "p90", "P90", CELL_NS, USE_CHOSEN, false },                        \
        { "p99", "P99", CELL_NS, USE_CHOSEN, false },                                                                  \
    {                                                                                                                  \
        "max", "MAX", CELL_NS, USE_CHOSEN, false                                                                       \
    }

/* The completed calls of a function and key. */
struct part_calls {
    struct durations *durations; /* NULL if unknown */
    uint64_t least, most;        /* nanoseconds; least > most if unknown */
};

struct part_percentiles {
    struct number_index *places;
    struct part_calls *list;
    size_t count, room;
    bool estimated; /* some run has durations of chosen functions alone */
    bool limited;   /* by the shortest and the longest call, as in reports: only if these were asked for */
};

/* Whether the user asks for percentiles, by --columns, --sort or --filter. */
bool part_percentiles_are_wanted(const struct fleet_settings *settings);

struct part_percentiles part_percentiles_begin(const struct fleet_settings *settings, const struct fleet_runs *runs);
void part_percentiles_drop(struct part_percentiles *p);

/* Says on standard error of how many runs they are, if not of all. */
void part_percentiles_say(const struct fleet_runs *runs);

/* The calls of a key and function, or NULL; or new ones if there are none. Valid until others are added. */
struct part_calls *part_percentiles_find(const struct part_percentiles *p, uint64_t key, uint32_t function);
struct part_calls *part_percentiles_add(struct part_percentiles *p, uint64_t key, uint32_t function);

/* Adds the limits of a part, or durations. */
void part_calls_limit(struct part_calls *calls, const struct fleet_part *part);
void part_calls_join(struct part_calls *calls, const struct durations *d);

/* The duration in nanoseconds that so many percent of the calls do not exceed. They must have durations. */
uint64_t part_calls_percentile(const struct part_percentiles *p, const struct part_calls *calls, double percent);

/* Fills the cells of the columns. Those of NULL, and of unknown calls, stay unknown. */
void part_percentiles_fill(const struct part_percentiles *p, const struct part_calls *calls, struct cell *cells);

#endif
