/* The probe of functions whose values are recorded: it reads them, then calls the usual probe. */
#ifndef DWELL_VALUE_PROBE_H
#define DWELL_VALUE_PROBE_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* The address that calls of the enter's probe lead to for that; zero if the machine has no such probe. It is called as
 * the usual one, and keeps the same registers. */
uint64_t value_probe_address(void);

#pragma GCC visibility pop

#endif
