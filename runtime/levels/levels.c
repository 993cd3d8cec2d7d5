/* Levels of the probes: which functions are not timed, and the modules whose code was rewritten for that. The enter
 * probes go first. The exit probes follow where no call of the function is open. An exit without an enter does no harm,
 * but a call without an exit would stay open. What cannot be rewritten stays as it is, and the session has a note about
 * it.
 *
 * Children that a process forks have the same code and the same memory. */
#include "levels/levels.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "filter.h"
#include "levels/count_stubs.h"
#include "levels/counts.h"
#include "levels/rewrite.h"
#include "metadata.h"
#include "modules.h"
#include "probes.h"
#include "process.h"
#include "runtime.h"
#include "slow.h"
#include "sys.h"
#include "thread.h"

struct level_table {
    uint64_t mask;
    size_t size; /* of this block, in bytes */
    struct leveled_function slots[];
};

struct level_module {
    struct level_module *next;
    uint64_t bias;
    uint32_t filter;                    /* its number in the filters */
    bool loaded;                        /* now */
    bool tried;                         /* its code was looked at */
    bool denied;                        /* its functions stay timed */
    struct leveled_function *functions; /* that are not to be timed */
    uint32_t count;
    struct hook_places places;
    struct call_sites sites;
    struct rewriter rewriter;
    struct count_stubs stubs;
};

struct level_table *levels_table;

static struct level_module *level_modules;

/* ---- the table ---- */

static uint64_t level_first_slot(const struct level_table *in, uint64_t function)
{
    return (function * 0x9e3779b97f4a7c15u >> 40) & in->mask;
}

const struct leveled_function *levels_find(const struct level_table *table, uint64_t function)
{
    for (uint64_t i = level_first_slot(table, function); table->slots[i].function; i = (i + 1) & table->mask)
        if (table->slots[i].function == function)
            return &table->slots[i];
    return NULL;
}

static void level_insert(struct level_table *table, struct leveled_function function)
{
    uint64_t i = level_first_slot(table, function.function);
    while (table->slots[i].function && table->slots[i].function != function.function)
        i = (i + 1) & table->mask;
    table->slots[i] = function;
}

static bool level_counts(const struct level_module *m)
{
    return m->loaded && !m->denied;
}

/* The old table stays mapped: a probe may be reading it. False without memory. */
static bool level_make_table(void)
{
    uint64_t count = 0, slots = 64;
    for (const struct level_module *m = level_modules; m; m = m->next)
        count += level_counts(m) ? m->count : 0;
    if (count == 0 && !levels_table)
        return true;
    while (slots < 2 * count)
        slots *= 2;
    const size_t size = sizeof *levels_table + slots * sizeof *levels_table->slots;
    struct level_table *made = sys_memory(size);
    if (!made)
        return false;
    made->mask = slots - 1;
    made->size = size;
    for (const struct level_module *m = level_modules; m; m = m->next)
        for (uint32_t i = 0; level_counts(m) && i < m->count; i++)
            level_insert(made, m->functions[i]);
    if (levels_table && levels_table->size == size && memcmp(levels_table, made, size) == 0)
        sys_unmap(made, size);
    else
        __atomic_store_n(&levels_table, made, __ATOMIC_RELEASE);
    return true;
}

/* ---- the stubs of calls whose function is not known beforehand ---- */

/* Read at each call: a direct call would be one of those that are rewritten, in a program that the runtime is linked
 * into. */
static void (*volatile level_enter)(void *, void *) = probe_enter;
static void (*volatile level_exit)(void *, void *) = probe_exit;

/* A call of a counted function whose counter has no page. */
static void level_counted_enter(void *function, void *call_site)
{
    (void)call_site;
    const struct thread *t = thread_self;
    if (t && t->wiped->gate == GATE_QUIET) /* paused */
        return;
    slow_enter((uint64_t)function, (uint64_t)__builtin_frame_address(0), 0);
}

static void level_checked_enter(void *function, void *call_site)
{
    const struct leveled_function *f = levels_function((uint64_t)function);
    if (!f || f->level == LEVEL_TIMED)
        level_enter(function, call_site); /* by a jump: the probe looks at its return address */
    else if (f->level == LEVEL_COUNTED && !counts_add(f->number))
        level_counted_enter(function, call_site);
}

static void level_checked_exit(void *function, void *call_site)
{
    if (levels_of((uint64_t)function) == LEVEL_TIMED)
        level_exit(function, call_site);
}

/* ---- modules ---- */

static void level_note(const char *what)
{
    static const char *noted[8];
    for (unsigned i = 0; i < sizeof noted / sizeof *noted; i++) {
        if (noted[i] == what)
            return;
        if (!noted[i]) {
            noted[i] = what;
            metadata_note(what);
            return;
        }
    }
}

void levels_begin(void)
{
    for (struct level_module *m = level_modules; m; m = m->next)
        m->loaded = false;
}

/* A function that finds no counter stays timed. */
static void level_number_functions(struct level_module *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        struct leveled_function *f = &m->functions[i];
        if (f->level != LEVEL_COUNTED)
            continue;
        f->number = counts_number(f->function, m->bias, m->filter);
        if (f->number != COUNTS_NONE)
            continue;
        f->level = LEVEL_TIMED;
        level_note("too many functions have the level counted: some of them stay timed");
    }
}

void levels_add(uint64_t bias, uint32_t filter)
{
    const uint32_t count = filter_levels_of_module(filter, bias, NULL, 0);
    struct level_module *m = level_modules;
    if (count == 0)
        return;
    while (m && (m->bias != bias || m->filter != filter))
        m = m->next;
    if (!m) {
        m = sys_memory(sizeof *m);
        struct leveled_function *functions = m ? sys_memory(count * sizeof *functions) : NULL;
        if (!functions)
            return;
        *m = (struct level_module){ .next = level_modules, .bias = bias, .filter = filter, .functions = functions };
        m->count = filter_levels_of_module(filter, bias, functions, count);
        level_number_functions(m);
        level_modules = m;
    }
    m->loaded = true;
}

static bool level_is_open(uint64_t function)
{
    for (const struct thread *t = runtime.process->threads.live; t; t = t->next) {
        const struct call *end = thread_call(t, thread_state(t));
        for (const struct call *call = (const struct call *)t->shadow + 1; t->shadow && call < end; call++)
            if (call->function == function)
                return true;
    }
    return false;
}

/* Whether calls through the module's slots can be led to other functions. */
static bool level_has_slots(const struct level_module *m)
{
    return m->places.slot_count[HOOK_ENTER] > 0 && !hook_places_code(&m->places, m->places.probes[HOOK_ENTER]);
}

/* The form for a call whose function is known. */
static enum call_form level_form(const struct level_module *m, struct call_site *site)
{
    const struct leveled_function *f = levels_function(site->function);
    if (!f || f->level == LEVEL_TIMED)
        return CALL_ORIGINAL;
    if (site->hook == HOOK_EXIT)
        return level_is_open(site->function) ? CALL_ORIGINAL : CALL_OUT;
    if (f->level == LEVEL_OUT)
        return CALL_OUT;
    site->stub = count_stubs_find(&m->stubs, f->number);
    return site->stub ? CALL_COUNTED : CALL_CHECKED;
}

static void level_choose_forms(struct level_module *m, enum hook hook)
{
    for (uint32_t i = 0; i < m->sites.count; i++) {
        struct call_site *site = &m->sites.list[i];
        if (site->hook == hook)
            site->wanted = (uint8_t)(site->function ? level_form(m, site) : CALL_CHECKED);
    }
}

static bool level_enters_are_done(const struct level_module *m)
{
    for (uint32_t i = 0; i < m->sites.count; i++) {
        const struct call_site *site = &m->sites.list[i];
        if (site->hook == HOOK_ENTER && site->form != site->wanted)
            return false;
    }
    return true;
}

static bool level_set_slots(const struct level_module *m, uint64_t target)
{
    for (uint32_t i = 0; i < m->places.slot_count[HOOK_ENTER]; i++)
        if (!rewriter_set_slot(&m->rewriter, m->places.slots[HOOK_ENTER][i], target))
            return false;
    return true;
}

static void level_restore(struct level_module *m)
{
    for (uint32_t i = 0; i < m->sites.count; i++)
        m->sites.list[i].wanted = CALL_ORIGINAL;
    rewriter_apply(&m->rewriter, &m->sites, HOOK_ENTER);
    rewriter_apply(&m->rewriter, &m->sites, HOOK_EXIT);
}

/* Takes the enters out. Those that are called in other ways than by the known sites, and those whose site cannot be
 * rewritten, go through the slots, which lead to a check then. Returns NULL, or why that is not possible. */
static const char *level_take_out_enters(struct level_module *m)
{
    level_choose_forms(m, HOOK_ENTER);
    if (!rewriter_apply(&m->rewriter, &m->sites, HOOK_ENTER))
        return "code cannot be made writable: the probes of functions with the level out stay in it";
    const bool slots = level_has_slots(m);
    if (level_enters_are_done(m) && !(m->sites.more_enters && slots))
        return NULL;
    if (slots && level_set_slots(m, (uint64_t)level_checked_enter))
        return NULL;
    return "some calls of probes cannot be rewritten: functions with the level out stay timed in their module";
}

static bool level_calls_probes(const struct level_module *m)
{
    return m->places.slot_count[HOOK_ENTER] > 0 || hook_places_code(&m->places, m->places.probes[HOOK_ENTER]);
}

/* Whether this is the only thread that runs the program's code: changes need no order then. */
static bool level_is_alone(void)
{
    struct stat tasks; /* a folder has two links, and one for each folder in it */
    const nlink_t own = runtime.process->helper.tid ? 2 : 1;
    return SYS4(newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) == 0 && tasks.st_nlink == 2 + own;
}

/* Returns NULL, or a problem. */
static const char *level_rewrite(struct level_module *m, const struct dl_phdr_info *info)
{
    const uint64_t checks[HOOKS] = { (uint64_t)level_checked_enter, (uint64_t)level_checked_exit };
    m->places = (struct hook_places){ .probes = { (uint64_t)probe_enter, (uint64_t)probe_exit } };
    hook_places_find(&m->places, info);
    if (level_calls_probes(m))
        call_sites_find(&m->sites, &m->places, info);
    else
        m->sites.complete = true;
    if (m->sites.complete && m->sites.count == 0) {
        m->denied = true;
        return NULL;
    }
    if (!m->sites.complete)
        return "a module has no table of its functions' code: its functions with the level out stay timed";
    if (!rewriter_begin(&m->rewriter, &m->places, checks))
        return "no memory for code can be had: functions with the level out stay timed";
    m->rewriter.alone = level_is_alone();
    count_stubs_make(&m->stubs, &m->places, m->functions, m->count, level_counted_enter);
    const char *problem = level_take_out_enters(m);
    if (problem) {
        level_restore(m);
        return problem;
    }
    level_choose_forms(m, HOOK_EXIT);
    rewriter_apply(&m->rewriter, &m->sites, HOOK_EXIT);
    m->rewriter.alone = false;
    return NULL;
}

static void level_forget_code(struct level_module *m)
{
    call_sites_drop(&m->sites);
    rewriter_end(&m->rewriter);
    count_stubs_drop(&m->stubs);
    m->tried = m->denied = false;
}

/* Whether the module is still the one whose code was rewritten: the loader may have put the same file in its place
 * again. */
static bool level_is_same(const struct level_module *m, const struct dl_phdr_info *info)
{
    struct hook_places now = { .code_count = 0 };
    hook_places_find_code(&now, info);
    for (uint32_t i = 0; i < m->sites.count; i++) {
        const struct call_site *site = &m->sites.list[i];
        if (site->form != CALL_ORIGINAL && hook_places_code(&now, site->address) &&
            rewriter_is_as_expected(&m->rewriter, site))
            return true;
    }
    return m->denied;
}

void levels_apply(const struct dl_phdr_info *info)
{
    struct level_module *m = level_modules;
    while (m && !(m->loaded && m->bias == info->dlpi_addr))
        m = m->next;
    if (!m || (m->tried && level_is_same(m, info)))
        return;
    level_forget_code(m);
    m->tried = true;
    if (!level_make_table())
        return;
    const char *problem = level_rewrite(m, info);
    m->denied |= problem != NULL;
    if (m->denied)
        level_make_table();
    if (problem)
        level_note(problem);
}

/* Modules that are not loaded any more: nothing of them can be rewritten, and their stubs are not used. */
void levels_end(void)
{
    for (struct level_module **place = &level_modules; *place;) {
        struct level_module *m = *place;
        if (m->loaded) {
            place = &m->next;
            continue;
        }
        *place = m->next;
        level_forget_code(m);
        sys_unmap(m->functions, m->count * sizeof *m->functions);
        sys_unmap(m, sizeof *m);
    }
    level_make_table();
}
