/* Makes the runtime of tests/slow/, which is as slow as on a slow machine. The linker puts these functions around those
 * of other files. DWELL_SLOW=5us is the switch: so long takes each system call (until the program makes a sandbox),
 * each reading of the system's clocks, each event of the slow path, and each page of a chunk.
 *
 * DWELL_NAP=2ms is another one: so long the thread sleeps at every 32nd time that the recorder is about to change over
 * to another stack, or to record a mark. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chunk.h"
#include "clock.h"
#include "environment.h"
#include "recorder.h"
#include "runtime.h"
#include "stacks.h"
#include "sys.h"

static uint64_t slow_turns; /* of the loop below; zero: nothing is slow */

static uint64_t slow_nap; /* nanoseconds; zero: none */
static const struct recorder *slow_real_recorder;
static struct recorder slow_recorder;

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
    const char *wanted = environment_get("DWELL_SLOW"), *nap = environment_get("DWELL_NAP");
    if (nap)
        slow_nap = slow_nanoseconds(nap);
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

static void slow_sleep(void)
{
    static uint32_t times;
    const struct timespec time = { 0, (long)slow_nap };
    if (__atomic_fetch_add(&times, 1, __ATOMIC_RELAXED) % 32 == 0)
        SYS2(nanosleep, &time, NULL);
}

static void slow_switch_stack(struct thread *t, struct stack *to)
{
    slow_sleep();
    slow_real_recorder->switch_stack(t, to);
}

static void slow_control(struct thread *t, const struct control_event *event)
{
    slow_sleep();
    slow_real_recorder->control(t, event);
}

static void slow_replace_recorder(void)
{
    slow_real_recorder = runtime.recorder;
    slow_recorder = *slow_real_recorder;
    slow_recorder.switch_stack = slow_switch_stack;
    if (slow_recorder.control)
        slow_recorder.control = slow_control;
    runtime.recorder = &slow_recorder;
}

/* Called for each event of the slow path. */
void __wrap_stacks_find(struct thread *t, uint64_t stack_pointer)
{
    if (slow_nap && runtime.recorder != &slow_recorder)
        slow_replace_recorder();
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
