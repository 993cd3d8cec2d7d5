/* The probes of functions whose values are recorded: they read them, and call the usual probes. */
#ifndef DWELL_VALUE_PROBE_H
#define DWELL_VALUE_PROBE_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* The addresses that calls of the probes lead to for that. They are called as the usual ones, and keep the same
 * registers. */
struct value_probes {
    uint64_t enter, exit;
};

struct value_probes value_probes(void);

#pragma GCC visibility pop

#endif
