/* The levels of functions in a session. Part of format.h. */
#ifndef DWELL_FORMAT_LEVELS_H
#define DWELL_FORMAT_LEVELS_H

#include "dwell/format.h"

/* The levels of a function's probes (docs/levels.md). */
enum dwell_level_of_probes {
    DWELL_PROBES_TIMED = 0,
    DWELL_PROBES_COUNTED = 1,
    DWELL_PROBES_OUT = 2,
};

/* From this time on, the function's probes have another level than before. The first record of a function may belong to
 * the start of its module. No strings. */
struct dwell_rec_level {
    struct dwell_record record;
    uint64_t time;
    uint64_t function; /* address */
    uint32_t level;    /* enum dwell_level_of_probes */
    uint32_t pad;
};

/* The recorder has decided, to keep its overhead budget, that a function's probes are to have that level. A record of
 * the change follows when it is done. No strings. */
struct dwell_rec_decision {
    struct dwell_record record;
    uint64_t time;
    uint64_t function; /* address */
    uint32_t level;    /* enum dwell_level_of_probes */
    uint32_t pad;
    uint64_t calls; /* of the function in all processes until then */
    uint64_t mean;  /* ticks of a timed call, with callees and probes; zero: no call was timed */
};

#endif
