/* The sites of one function's code, found in a plain way. */
#ifndef DWELL_TESTS_PLAIN_FLOW_H
#define DWELL_TESTS_PLAIN_FLOW_H

#include "levels/probe_calls.h"

bool plain_sites_in_range(struct call_sites *sites, const struct hook_places *places, const struct unwind_range *range);

#endif
