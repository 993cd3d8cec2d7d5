/* The stubs of a module that count calls. All functions are called under the levels' lock. */
#ifndef DWELL_LEVELS_LEVEL_STUBS_H
#define DWELL_LEVELS_LEVEL_STUBS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct call_site;
struct level_module;

/* Makes stubs if a counted function of the module has none. Calls of functions that get none are checked. */
void level_stubs_make(struct level_module *m);

/* The stub that a call of the function whose counter has that number is to lead to; zero if there is none: then the
 * call is checked. */
uint64_t level_stub_of(struct level_module *m, const struct call_site *site, uint32_t number);

/* No call leads to them any more. Those for calls across cache lines are the rewriter's. */
void level_stubs_drop(struct level_module *m);

#pragma GCC visibility pop

#endif
