/* Makes the runtime of tests/slow/, which is as slow as on a slow machine. The linker puts these functions around those
 * of other files. DWELL_SLOW=5us is the switch: so long takes each system call (until the program makes a sandbox),
 * each reading of the system's clocks, each event of the slow path, and each page of a chunk. */
#include <stdlib.h>
#include <string.h>

#include "chunk.h"
#include "clock.h"
#include "environment.h"
#include "stacks.h"
#include "sys.h"

static uint64_t slow_turns; /* of the loop below; zero: nothing is slow */

#pragma GCC visibility push(hidden)
void __real_environment_adopt(void);
void __wrap_environment_adopt(void);
long __real_sys_start_thread(void *stack_top, void (*run)(void *), void *argument);
long __wrap_sys_start_thread(void *stack_top, void (*run)(void *), void *argument);
void __real_stacks_find(struct thread *t, uint64_t stack_pointer);
void __wrap_stacks_find(struct thread *t, uint64_t stack_pointer);
struct area __real_chunk_take(uint32_t least, uint32_t size);
struct area __wrap_chunk_take(uint32_t least, uint32_t size);
void __real_clock_pair(enum dwell_clock clock, uint64_t *ticks, uint64_t *nanoseconds);
void __wrap_clock_pair(enum dwell_clock clock, uint64_t *ticks, uint64_t *nanoseconds);
uint64_t __real_clock_monotonic(void);
uint64_t __wrap_clock_monotonic(void);
uint64_t __real_clock_realtime(void);
uint64_t __wrap_clock_realtime(void);
#pragma GCC visibility pop

/* It reads no clock: the program may have forbidden that. */
static void slow_spin(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns; i++)
        ;
}

static void slow_wait(uint64_t times)
{
    slow_spin(slow_turns * times);
}

static bool slow_call(long number, const long *arguments)
{
    (void)number, (void)arguments;
    slow_wait(1);
    return true;
}

static uint64_t slow_nanoseconds(const char *text)
{
    char *unit = NULL;
    const uint64_t number = strtoull(text, &unit, 10);
    return strcmp(unit, "us") == 0 ? number * 1000 : strcmp(unit, "ms") == 0 ? number * 1000000 : number;
}

/* The shortest of several measurements: other programs may run meanwhile. */
static uint64_t slow_find_turns(uint64_t wanted)
{
    enum { TRIES = 5, TURNS = 20000 };
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t begin = __real_clock_monotonic();
        slow_spin(TURNS);
        const uint64_t took = __real_clock_monotonic() - begin;
        best = took < best ? took : best;
    }
    return best ? wanted * TURNS / best : TURNS;
}

void __wrap_environment_adopt(void)
{
    __real_environment_adopt();
    const char *wanted = environment_get("DWELL_SLOW");
    if (!wanted || slow_turns)
        return;
    slow_turns = slow_find_turns(slow_nanoseconds(wanted));
    if (!sys_guard)
        sys_guard = slow_call;
}

/* It makes no thread in a sandbox. */
long __wrap_sys_start_thread(void *stack_top, void (*run)(void *), void *argument)
{
    const bool slow = sys_guard == slow_call;
    if (slow)
        sys_guard = NULL;
    const long result = __real_sys_start_thread(stack_top, run, argument);
    if (slow)
        sys_guard = slow_call;
    return result;
}

/* Called for each event of the slow path. */
void __wrap_stacks_find(struct thread *t, uint64_t stack_pointer)
{
    slow_wait(1);
    __real_stacks_find(t, stack_pointer);
}

struct area __wrap_chunk_take(uint32_t least, uint32_t size)
{
    const struct area area = __real_chunk_take(least, size);
    slow_wait(area.size / DWELL_UNIT);
    return area;
}

void __wrap_clock_pair(enum dwell_clock clock, uint64_t *ticks, uint64_t *nanoseconds)
{
    slow_wait(1);
    __real_clock_pair(clock, ticks, nanoseconds);
}

uint64_t __wrap_clock_monotonic(void)
{
    slow_wait(1);
    return __real_clock_monotonic();
}

uint64_t __wrap_clock_realtime(void)
{
    slow_wait(1);
    return __real_clock_realtime();
}
