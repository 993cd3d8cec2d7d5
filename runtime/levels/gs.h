/* The calling thread's base of gs, by which calls are counted in place. Instructions read and set it (FSGSBASE), or
 * arch_prctl where the processor or the kernel has none. New threads and forked children inherit it. */
#ifndef DWELL_LEVELS_GS_H
#define DWELL_LEVELS_GS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum gs_way {
    GS_NONE,
    GS_BY_INSTRUCTION,
    GS_BY_CALL, /* takes only bases in the user's half */
};

enum gs_way gs_way(void);

/* By call, each thread remembers what it has set, so this asks the system once. Zero if the system refuses to tell. */
uint64_t gs_get(void);

/* False if the system refuses it, in a sandbox that the runtime does not know. The thread does not try it again. A
 * signal handler may set another base meanwhile: then that one stays. */
bool gs_set(uint64_t base);

/* Whether the system has refused one of both to the calling thread. */
bool gs_is_refused(void);

#pragma GCC visibility pop

#endif
