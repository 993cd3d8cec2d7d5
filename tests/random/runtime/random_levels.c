/* Makes the runtime of tests/random/: levels change at random all the time. The linker puts these functions around
 * those of levels.c. DWELL_RANDOM_LEVELS=SEED[,out] is the switch; half of the functions, chosen by the seed, get the
 * levels timed and counted, with ",out" also out. The other half stays timed.
 *
 * DWELL_FSGSBASE=off makes it a runtime for a machine whose programs cannot change the base of gs by an instruction,
 * and DWELL_FSGSBASE=none for one whose system does not let them change it either. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "levels/in_place.h"
#include "levels/levels.h"
#include "levels/machine.h"
#include "levels/probe_calls.h"
#include "probes.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

#if defined(__aarch64__)
enum { MACHINE_FINDS_NO_OWNERS = 1 };
#else
enum { MACHINE_FINDS_NO_OWNERS = 0 };
#endif

enum { MAX_MODULES = 64, MAX_FUNCTIONS = 4096, CHANGES_AT_ONCE = 64 };

struct random_module {
    uint64_t bias;
    const char *path;
    uint32_t first, count; /* of its functions */
    bool loaded;
};

static struct random_module random_modules[MAX_MODULES];
static uint32_t random_module_count;
static uint64_t random_functions[MAX_FUNCTIONS];
static uint32_t random_function_count;
static uint64_t random_state;
static enum { UNKNOWN, OFF, COUNTED_ONLY, ALSO_OUT } random_switch;

#pragma GCC visibility push(hidden)
bool __real_levels_begin(void);
bool __wrap_levels_begin(void);
void __real_levels_visit(const struct level_visit *visit);
void __wrap_levels_visit(const struct level_visit *visit);
void __real_levels_end(void);
void __wrap_levels_end(void);
long __real_levels_tick(void);
long __wrap_levels_tick(void);
void __real_levels_begin_process(void);
void __wrap_levels_begin_process(void);
bool __real_machine_has_gs(void);
bool __wrap_machine_has_gs(void);
bool __real_machine_lets_set_gs(void);
bool __wrap_machine_lets_set_gs(void);
#pragma GCC visibility pop

static bool random_is_on(void)
{
    if (random_switch == UNKNOWN) {
        const char *text = environment_get("DWELL_RANDOM_LEVELS");
        char *end = NULL;
        random_state = text ? strtoull(text, &end, 10) : 0;
        random_switch = !text ? OFF : strcmp(end, ",out") == 0 ? ALSO_OUT : COUNTED_ONLY;
    }
    return random_switch != OFF;
}

static uint64_t random_mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static uint32_t random_below(uint32_t end)
{
    random_state += 0x9e3779b97f4a7c15u;
    return (uint32_t)(random_mix(random_state) % end);
}

static void random_add_function(const struct random_module *m, uint64_t function, uint64_t seed)
{
    if (random_mix((function - m->bias) ^ seed << 32) & 1 || random_function_count == MAX_FUNCTIONS)
        return;
    for (uint32_t i = m->first; i < random_function_count; i++)
        if (random_functions[i] == function)
            return;
    random_functions[random_function_count++] = function;
}

/* On aarch64 it is not known whose the calls are. A range with calls of the probes is a function. */
static void random_add_ranges(const struct random_module *m, const struct dl_phdr_info *info,
                              const struct call_sites *sites, uint64_t seed)
{
    struct unwind_ranges ranges;
    struct unwind_range range;
    const bool found = unwind_ranges_begin(&ranges, info);
    for (uint32_t i = 0, site = 0; found && site < sites->count && i < ranges.count; i++) {
        if (!unwind_range_at(&ranges, i, &range))
            continue;
        while (site < sites->count && sites->list[site].address < range.begin)
            site++;
        if (site < sites->count && sites->list[site].address < range.end && MACHINE_FINDS_NO_OWNERS)
            random_add_function(m, range.begin, seed);
    }
}

static void random_find_functions(const struct random_module *m, const struct dl_phdr_info *info)
{
    struct hook_places places = { .probes = { (uint64_t)probe_enter, (uint64_t)probe_exit } };
    struct call_sites sites;
    hook_places_find(&places, info);
    if (!places.slot_count[HOOK_ENTER])
        return;
    const uint64_t seed = strtoull(environment_get("DWELL_RANDOM_LEVELS"), NULL, 10);
    call_sites_find(&sites, &places, info, false);
    random_add_ranges(m, info, &sites, seed);
    for (uint32_t i = 0; i < sites.count; i++)
        if (sites.list[i].function)
            random_add_function(m, sites.list[i].function, seed);
    call_sites_drop(&sites);
}

static bool random_is_told(const char *word)
{
    const char *text = environment_get("DWELL_FSGSBASE");
    return text && strcmp(text, word) == 0;
}

bool __wrap_machine_has_gs(void)
{
    return !random_is_told("off") && !random_is_told("none") && __real_machine_has_gs();
}

bool __wrap_machine_lets_set_gs(void)
{
    return !random_is_told("none") && __real_machine_lets_set_gs();
}

/* As with a budget. */
void __wrap_levels_begin_process(void)
{
    in_place_wanted = random_is_on();
    __real_levels_begin_process();
}

bool __wrap_levels_begin(void)
{
    const bool begun = __real_levels_begin();
    for (uint32_t i = 0; begun && i < random_module_count; i++)
        random_modules[i].loaded = false;
    return begun;
}

void __wrap_levels_visit(const struct level_visit *visit)
{
    __real_levels_visit(visit);
    if (!random_is_on())
        return;
    struct random_module *m = random_modules;
    while (m < random_modules + random_module_count && (m->bias != visit->info->dlpi_addr || m->path != visit->path.at))
        m++;
    if (m == random_modules + MAX_MODULES)
        return;
    if (m == random_modules + random_module_count) {
        random_module_count++;
        *m = (struct random_module){ .bias = visit->info->dlpi_addr, .path = visit->path.at };
        m->first = random_function_count;
        random_find_functions(m, visit->info);
        m->count = random_function_count - m->first;
    }
    m->loaded = true;
}

static void random_change(uint64_t function)
{
    const uint32_t levels = random_switch == ALSO_OUT ? 3 : 2;
    levels_set(function, (enum level)random_below(levels));
}

/* Changes each function with a probability of one half, those of libraries that may have gone excepted. */
static void random_change_all(void)
{
    for (uint32_t i = 0; i < random_module_count; i++) {
        const struct random_module *m = &random_modules[i];
        for (uint32_t j = 0; m->loaded && j < m->count; j++)
            if (random_below(2))
                random_change(random_functions[m->first + j]);
    }
    levels_settle();
}

void __wrap_levels_end(void)
{
    __real_levels_end();
    if (random_is_on())
        random_change_all();
}

long __wrap_levels_tick(void)
{
    if (!random_is_on())
        return __real_levels_tick();
    random_change_all();
    __real_levels_tick();
    return 1;
}

/* In place of the helper, which qemu-user cannot start. */
static void *random_work(void *data)
{
    sigset_t all;
    memset(&all, 0xff, sizeof all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        random_change_all();
        __real_levels_tick();
        sys_sleep_a_millisecond();
    }
    return data;
}

static __attribute__((constructor(102))) void random_begin(void)
{
    pthread_t thread;
    if (MACHINE_FINDS_NO_OWNERS && random_is_on() && runtime.process && !runtime.process->helper.tid)
        pthread_create(&thread, NULL, random_work, NULL);
}
