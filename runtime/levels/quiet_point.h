/* Whether an event of the calling thread, or the sleep of another one, shows that no earlier call of a probe is
 * unfinished. */
#ifndef DWELL_LEVELS_QUIET_POINT_H
#define DWELL_LEVELS_QUIET_POINT_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* False in a signal handler, as that may have interrupted a probe, and where it is not known. `stack_pointer` is that
 * of the event. On a thread with a single stack. */
bool quiet_point(uint64_t stack_pointer);

/* The end of the calling thread's stack, which holds the stack pointer; zero if it is not known. */
uint64_t quiet_stack_end(uint64_t stack_pointer);

/* The same as quiet_point for another thread, if it sleeps in a system call that no probe has made. False if it runs.
 * `stack_end`: quiet_stack_end on that thread. */
bool quiet_point_of_sleeper(uint32_t tid, uint64_t stack_end);

#pragma GCC visibility pop

#endif
