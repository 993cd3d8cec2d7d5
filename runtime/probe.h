/*
 * The probes (hooks.c), as the runtime itself calls them.
 */
#ifndef DWELL_PROBE_H
#define DWELL_PROBE_H

#include "common.h"

#pragma GCC visibility push(hidden)

void probe_enter(void *function, void *call_site);
void probe_exit(void *function, void *call_site);

#pragma GCC visibility pop

#endif
