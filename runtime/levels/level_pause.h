/* A paused program whose probes are taken out of the code. Until it is resumed, a checked call of a probe passes only
 * if an earlier call of the same function is open on its thread. So calls that are open at the beginning of the pause
 * end as usual, and no other call is recorded. */
#ifndef DWELL_LEVELS_LEVEL_PAUSE_H
#define DWELL_LEVELS_LEVEL_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "levels/machine.h"

#pragma GCC visibility push(hidden)

struct thread;

enum level_pause_phase {
    PAUSE_NONE,
    PAUSE_CHECKS, /* a module's calls of the probes are checked: at the beginning and at the end of a pause */
    PAUSE_HOLDS,  /* the probes are out, but for those of functions with an open call */
};

/* What the modules come to, by enum level_pause_phase. Changed under the levels' lock. */
extern uint32_t level_pause;

static inline bool level_pause_is_on(void)
{
    return UNLIKELY(__atomic_load_n(&level_pause, __ATOMIC_ACQUIRE) != PAUSE_NONE);
}

/* While the program is paused, the bytes of functions that may have an open call on some thread are not zero, nor are
 * those of others with the same place. Else no byte is zero. It is the filter of the checks' stubs. */
enum { LEVEL_OPEN_PLACES = MACHINE_FILTER_BYTES };
extern uint8_t level_open[LEVEL_OPEN_PLACES];
extern bool level_open_any; /* some function is one of these; under the levels' lock */

static inline bool level_may_be_open(uint64_t function)
{
    return __atomic_load_n(&level_open[function / 16 % LEVEL_OPEN_PLACES], __ATOMIC_RELAXED);
}

/* All functions may have open calls from now on, or none has. */
void level_open_forget(void);
void level_open_begin(void);

/* Looks at the threads' stacks, while no checked call passes that is not below an open one. `anew`: after
 * level_open_forget. Returns whether the functions with open calls are fewer than before. */
bool level_open_find(bool anew);

#pragma GCC visibility pop

#endif
