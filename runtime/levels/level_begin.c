/* The levels that a module's functions begin with: of the command line, of before it was unloaded, of the session. */
#include "levels/level_begin.h"

#include <time.h>

#include "clock.h"
#include "filter.h"
#include "helper.h"
#include "levels/in_place.h"
#include "levels/level_command.h"
#include "levels/level_kept.h"
#include "levels/level_records.h"
#include "levels/level_session.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"
#include "value_plan.h"

/* Bytes of code that are read before the program goes on: it takes as long as the probes of some 50,000 calls. A
 * process that makes fewer calls than that is not to wait for more. */
enum { AT_ONCE = 128 << 10 };

/* Milliseconds of the process' CPU time: to change the calls of a large program takes half as long. If it used less, it
 * is looked at again, after times that double. */
enum { LATER = 20, LOOKS_FROM = 10, LOOKS_TO = 1000 };

static struct {
    uint64_t at;   /* milliseconds of the clock; zero: no module waits */
    uint64_t cpu;  /* nanoseconds that the process had used before */
    uint64_t wait; /* milliseconds until it is looked at again */
} level_later;

static void level_begin_filtered(struct level_module *m, uint32_t filter)
{
    const uint32_t count = filter ? filter_levels_of_module(filter, m->info.dlpi_addr, NULL, 0) : 0;
    struct leveled_function *functions = count ? sys_memory(count * sizeof *functions) : NULL;
    if (!functions)
        return;
    filter_levels_of_module(filter, m->info.dlpi_addr, functions, count);
    for (uint32_t i = 0; i < count; i++)
        in_place_wanted |= functions[i].level != LEVEL_TIMED;
    for (uint32_t i = 0; i < count; i++)
        if (functions[i].watch && !level_module_watch(m, functions[i].function, functions[i].watch))
            level_note("out of memory: slow calls of some functions are not kept");
    for (uint32_t i = 0; i < count; i++)
        if (!level_module_want(m, functions[i].function, functions[i].level) && functions[i].level == LEVEL_COUNTED)
            level_note("too many functions have the level counted: some of them stay timed");
    sys_unmap(functions, count * sizeof *functions);
}

static bool level_begin_function_values(void *context, uint64_t function, enum value_plan_reads reads)
{
    return level_module_read_values(context, function, reads);
}

void level_begin_values(struct level_module *m)
{
    if (!value_plan_use_module(m->build_id, m->path, m->info.dlpi_addr, level_begin_function_values, m))
        level_note("out of memory: values of some functions are not recorded");
}

void level_begin_module(struct level_module *m, uint32_t filter)
{
    if (m->program)
        level_session_begin_program(m->build_id);
    level_begin_values(m); /* first: these functions stay timed */
    level_begin_filtered(m, filter);
    const bool filtered = m->count > 0, session = !level_kept_take(m) && level_session_take(m);
    level_begin_patterns(m);
    m->later = session && !filtered && !m->patterns && m->end - m->begin > AT_ONCE;
}

static void level_set_offset(void *context, uint64_t offset, enum level level)
{
    struct level_module *m = context;
    level_module_want(m, m->info.dlpi_addr + offset, level);
}

void level_begin_patterns(struct level_module *m)
{
    const uint64_t patterns = level_command_patterns();
    if (m->patterns == patterns)
        return;
    level_command_ask(m->build_id, m->path, level_set_offset, m);
    m->patterns = patterns;
}

bool level_begins_later(const struct level_module *m)
{
    return m->later && runtime.process->helper.tid;
}

/* ---- later ---- */

static uint64_t level_later_cpu(void)
{
    struct timespec cpu;
    if (SYS2(clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &cpu) < 0)
        return 0;
    return (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
}

static void level_later_look_after(uint64_t milliseconds)
{
    __atomic_store_n(&level_later.at, clock_monotonic() / 1000000 + milliseconds, __ATOMIC_RELEASE);
}

void level_later_wait(void)
{
    if (level_later.at)
        return;
    level_later.cpu = level_later_cpu();
    level_later.wait = LOOKS_FROM;
    level_later_look_after(LATER);
}

long level_later_is_due(void)
{
    const uint64_t at = __atomic_load_n(&level_later.at, __ATOMIC_ACQUIRE), now = clock_monotonic() / 1000000;
    if (!at || now < at)
        return at ? (long)(at - now) : -1;
    const uint64_t cpu = level_later_cpu();
    if (cpu < level_later.cpu) /* in a forked child */
        level_later.cpu = 0;
    if (!cpu || cpu - level_later.cpu >= (uint64_t)LATER * 1000000)
        return 0;
    const uint64_t wait = level_later.wait;
    level_later_look_after(wait);
    level_later.wait = smaller_of(2 * wait, LOOKS_TO);
    return (long)wait;
}

void level_later_begins(void)
{
    __atomic_store_n(&level_later.at, 0, __ATOMIC_RELAXED);
}
