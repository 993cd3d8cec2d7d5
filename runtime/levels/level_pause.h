/* A program that begins paused: all probes of its modules are out of the code until it is resumed the first time. */
#ifndef DWELL_LEVELS_LEVEL_PAUSE_H
#define DWELL_LEVELS_LEVEL_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"

#pragma GCC visibility push(hidden)

enum level_pause_phase {
    PAUSE_NONE,
    PAUSE_HOLDS, /* all probes are out */
    PAUSE_ENDS,  /* exits are called again, enters are not yet */
};

extern uint32_t level_pause; /* enum level_pause_phase; changed under the levels' lock */

/* Whether no call reaches a probe by a check. Any thread, any time. */
static inline bool level_pause_is_on(void)
{
    return UNLIKELY(__atomic_load_n(&level_pause, __ATOMIC_ACQUIRE) != PAUSE_NONE);
}

#pragma GCC visibility pop

#endif
