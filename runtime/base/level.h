/* The levels that a function's probes can have, and a function with its level. */
#ifndef DWELL_LEVELS_LEVEL_H
#define DWELL_LEVELS_LEVEL_H

#include <stdint.h>

enum level {
    LEVEL_TIMED,   /* each call is recorded with its times */
    LEVEL_COUNTED, /* each call adds one to a counter of its thread */
    LEVEL_OUT,     /* the probes are not called */
};

struct leveled_function {
    uint64_t function; /* its address */
    enum level level;
    uint32_t number; /* of its counter, if it is counted */
    uint32_t watch;  /* keep_calls.h; zero if its calls are not watched */
};

#endif
