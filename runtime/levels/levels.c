/* Levels of the probes: the modules whose functions can have levels, and when they are rewritten. A module is only
 * touched while it cannot be unloaded, and no code changes during a fork. What cannot be rewritten stays as it is, and
 * the session has a note about it.
 *
 * Children that a process forks have the same code and the same memory. */
#include "levels/levels.h"

#include <string.h>

#include "clock.h"
#include "filter.h"
#include "helper.h"
#include "levels/code_lock.h"
#include "levels/in_place.h"
#include "levels/level_begin.h"
#include "levels/level_kept.h"
#include "levels/level_module.h"
#include "levels/level_pause.h"
#include "levels/level_places.h"
#include "levels/level_read.h"
#include "levels/level_records.h"
#include "levels/level_seen.h"
#include "levels/level_session.h"
#include "levels/level_unloads.h"
#include "lock.h"
#include "modules.h"
#include "process.h"
#include "runtime.h"
#include "stacks.h"
#include "sys.h"
#include "thread.h"

enum { /* milliseconds */
       SOON = 1,
       LATEST = 500,
       LATEST_PAUSED = 4000, /* when only calls that were open at a pause's begin are waited for */
       SHORT_PAUSE = 50,     /* the code stays as it is in a pause that is shorter */
       AHEAD = 5,            /* from when a module is found to when its code is read for a budget */
       PATIENCE = 400,       /* for other threads to leave fork or dlclose */
};

static struct {
    uint32_t generation;  /* of the last changes */
    uint32_t looks;       /* number of looks at the threads' stacks */
    uint32_t last_module; /* number of the last module */
    uint32_t pending;     /* not zero: changes are not complete */
    bool stopped;         /* functions stay timed */
    bool may_pause;       /* recording is off: the probes may go out */
    uint64_t pause_at;    /* then, in milliseconds */
    bool reading;         /* a part of some module's code was read, and there are more */
    bool reads_ahead;     /* a budget will change levels */
    uint64_t ahead_at;    /* then code is read, in milliseconds; zero if there is none to read */
    long patience;        /* milliseconds until the next look */
    struct level_module *modules;
} levels;

static struct process_levels *level_process(void)
{
    return &runtime.process->levels;
}

static void level_lock_take(void)
{
    lock_take(&level_process()->lock);
}

static void level_lock_release(void)
{
    lock_release(&level_process()->lock);
}

/* Takes the lock, but not during a fork: the child would get a half-made change. A fork that does not end does not stop
 * changes permanently. */
static void level_lock_to_change(void)
{
    level_lock_take();
    for (int i = 0; i < PATIENCE && level_process()->forking; i++) {
        level_lock_release();
        sys_sleep_a_millisecond();
        level_lock_take();
    }
}

/* ---- changes; under the lock ---- */

static bool level_is_pending(const struct level_module *m)
{
    return m->loaded && !m->denied && (((m->changes || m->leaving || m->tries) && !m->later) || level_module_lags(m));
}

static void level_look_for_open_calls(struct level_look *look)
{
    bool quiet = true, anew = false;
    for (struct level_module *m = levels.modules; m; m = m->next) {
        quiet &= !m->loaded || level_module_is_quiet(m, look, levels.generation + 1);
        anew |= m->loaded && m->pause == PAUSE_CHECKS;
    }
    look->open_known = quiet;
    look->open_fewer = quiet && level_open_find(anew);
}

/* The thread of a forked child may have open calls before it is set up. */
static struct level_look level_look_at_threads(void)
{
    struct level_look look = { .number = ++levels.looks, .seen = level_ask_threads(), .ends = levels.stopped };
    look.blind = stacks_are_used() || !runtime.process->threads.live;
    if (!look.blind)
        level_mark_open_calls(look.number);
    if (level_pause == PAUSE_HOLDS)
        level_look_for_open_calls(&look);
    return look;
}

static void level_change_pause(enum level_pause_phase phase)
{
    if (phase != PAUSE_HOLDS)
        level_open_forget();
    __atomic_store_n(&level_pause, phase, __ATOMIC_SEQ_CST);
    for (struct level_module *m = levels.modules; m; m = m->next)
        m->changes |= level_is_pending(m);
}

static void level_work_on(struct level_module *m, const struct level_look *look, bool alone)
{
    const bool changes = m->changes;
    const char *problem = level_module_work(m, look, levels.generation + 1, alone);
    if (changes)
        level_see_changes(m);
    if (problem && m->count)
        level_note(problem);
}

static void level_note_reading(bool reading)
{
    __atomic_store_n(&levels.reading, reading, __ATOMIC_RELAXED);
}

/* Returns whether all that was wanted is on its way. */
static bool level_work(void)
{
    bool any = false, all = true, changes = false, leaving = false;
    level_note_reading(false);
    for (const struct level_module *m = levels.modules; m; m = m->next)
        any |= level_is_pending(m);
    if (!any) {
        levels.pending = 0;
        return true;
    }
    if (level_process()->forking)
        return false;
    if (level_process()->ended)
        return true;
    struct level_look look = level_look_at_threads();
    look.in_parts = true;
    for (struct level_module *m = levels.modules; m; m = m->next) {
        const uint32_t pause = m->pause;
        const bool changed = m->changes;
        if (level_is_pending(m) && level_module_is_reachable(m)) {
            level_work_on(m, &look, false);
            level_note_reading(levels.reading || m->reading);
        }
        changes |= changed && !m->reading;
        changes |= m->pause != pause;
        all &= !m->loaded || m->denied || m->later || !m->changes;
        leaving |= level_is_pending(m) && (m->changes || !stacks_are_used());
    }
    if (changes) {
        levels.generation = level_next_generation();
        level_ask_threads();
        levels.patience = 0;
    }
    __atomic_store_n(&levels.pending, leaving, __ATOMIC_RELAXED);
    return all;
}

/* Whether something is left to do besides looks for calls that were open at a pause's begin. */
static bool level_is_busy(void)
{
    for (const struct level_module *m = levels.modules; m; m = m->next)
        if (level_is_pending(m) && (m->changes || m->leaving || m->pause != PAUSE_HOLDS))
            return true;
    return false;
}

static long level_time_until(uint64_t milliseconds)
{
    const uint64_t now = clock_monotonic() / 1000000;
    return now < milliseconds ? (long)(milliseconds - now) : 0;
}

/* Whether a pause is to begin, and after how many milliseconds. */
static long level_pause_is_due(void)
{
    if (!__atomic_load_n(&levels.may_pause, __ATOMIC_ACQUIRE) || level_pause_is_on() || levels.stopped)
        return -1;
    return level_time_until(levels.pause_at);
}

/* Whether code is to be read before a change needs it, and after how many milliseconds. Programs that end at once are
 * spared, unless they make many calls. */
static long level_ahead_is_due(void)
{
    const uint64_t at = __atomic_load_n(&levels.ahead_at, __ATOMIC_ACQUIRE);
    return at ? level_time_until(at) : -1;
}

static long level_something_is_due(void)
{
    const long due[] = { level_pause_is_due(), level_ahead_is_due(), level_later_is_due() };
    long first = -1;
    for (size_t i = 0; i < sizeof due / sizeof *due; i++)
        first = due[i] >= 0 && (first < 0 || due[i] < first) ? due[i] : first;
    return level_session_is_awaited() ? SOON : first;
}

static void level_begin_pending(void)
{
    levels.patience = 0;
    __atomic_store_n(&levels.pending, 1, __ATOMIC_RELEASE);
}

/* Modules do not wait any longer for their time. Under the lock. */
static void level_begin_now(void)
{
    level_later_begins();
    for (struct level_module *m = levels.modules; m; m = m->next)
        m->later = false;
    level_begin_pending();
}

/* In a forked child: the levels that the session has and its parent did not have. */
static void level_look_at_session(void)
{
    level_lock_to_change();
    for (struct level_module *m = levels.modules; m && !levels.stopped; m = m->next)
        if (m->loaded)
            level_session_take(m);
    level_session_looked();
    level_begin_pending();
    level_lock_release();
}

void levels_expect_changes(void)
{
    if (__atomic_load_n(&levels.ahead_at, __ATOMIC_RELAXED) > 1)
        __atomic_store_n(&levels.ahead_at, 1, __ATOMIC_RELEASE);
}

bool levels_hurry(void)
{
    return __atomic_load_n(&levels.reading, __ATOMIC_RELAXED) || level_ahead_is_due() == 0;
}

long levels_tick(void)
{
    if (level_session_is_due())
        level_look_at_session();
    const bool later = level_later_is_due() == 0;
    long due = level_something_is_due();
    if (!__atomic_load_n(&levels.pending, __ATOMIC_ACQUIRE) && due && !level_places_are_crowded())
        return due;
    level_lock_take();
    if (later)
        level_begin_now();
    if (level_pause_is_due() == 0 && !level_process()->forking) {
        level_change_pause(PAUSE_HOLDS);
        level_begin_pending();
    }
    level_work();
    if (level_places_are_crowded() && (level_process()->forking || !level_places_leave(levels.modules)))
        __atomic_store_n(&levels.pending, 1, __ATOMIC_RELEASE);
    if (level_ahead_is_due() == 0 && !level_process()->forking) {
        level_note_reading(!level_process()->ended && !levels.stopped && level_read_ahead(levels.modules));
        if (!levels.reading)
            __atomic_store_n(&levels.ahead_at, 0, __ATOMIC_RELAXED);
    }
    long patience = levels.pending ? 0 : -1;
    if (levels.pending) {
        const long latest = level_is_busy() ? LATEST : LATEST_PAUSED;
        levels.patience = levels.patience ? 2 * levels.patience : SOON;
        levels.patience = levels.patience < latest ? levels.patience : latest;
        patience = levels.patience;
    }
    const bool reading = levels.reading;
    level_lock_release();
    level_records_write();
    if (reading)
        return 0;
    due = level_something_is_due();
    return due >= 0 && (patience < 0 || due < patience) ? due + 1 : patience;
}

bool levels_settle(void)
{
    if (!runtime.process)
        return true;
    level_lock_take();
    level_begin_pending();
    const bool done = level_work(), pending = levels.pending;
    level_lock_release();
    level_records_write();
    if (pending && runtime.process->helper.tid && !helper_is_here())
        helper_wake();
    return done;
}

uint32_t levels_set(uint64_t function, enum level level)
{
    uint32_t count = 0;
    if (!runtime.process)
        return 0;
    level_lock_to_change();
    for (struct level_module *m = levels.modules; m && !levels.stopped; m = m->next)
        if (m->loaded && function - m->begin < m->end - m->begin)
            count += level_module_want(m, function, level);
    level_lock_release();
    return count;
}

uint32_t levels_change(level_change *change, const void *context)
{
    uint32_t count = 0;
    level_lock_to_change();
    for (struct level_module *m = levels.modules; m && !levels.stopped; m = m->next)
        if (m->loaded)
            count += change(m, context);
    level_lock_release();
    return count;
}

void levels_have_patterns(struct text build_id, struct text path, uint64_t patterns)
{
    level_lock_to_change();
    for (struct level_module *m = levels.modules; m; m = m->next)
        if (m->loaded && text_is_same(m->build_id, build_id) && text_is_same(m->path, path))
            m->patterns = patterns;
    level_lock_release();
}

void levels_ask_for_patterns(void)
{
    level_lock_to_change();
    level_begin_now();
    for (struct level_module *m = levels.modules; m; m = m->next)
        if (m->loaded && !levels.stopped)
            level_begin_patterns(m);
    level_lock_release();
}

void levels_stop(void)
{
    level_lock_to_change();
    levels.stopped = true;
    for (struct level_module *m = levels.modules; m; m = m->next)
        for (uint32_t i = 0; i < m->count; i++)
            level_module_want(m, m->functions[i], LEVEL_TIMED);
    level_lock_release();
    levels_settle();
    levels_resume();
}

/* ---- a paused program ---- */

void levels_try_to_settle(void)
{
    for (int i = 0; i < PATIENCE && !levels_settle();) {
        if (__atomic_load_n(&levels.reading, __ATOMIC_RELAXED)) {
            if (helper_is_here())
                helper_serve();
            continue;
        }
        sys_sleep_a_millisecond();
        i++;
    }
}

static void level_end_pause(enum level_pause_phase phase)
{
    level_lock_to_change();
    level_change_pause(phase);
    level_lock_release();
    levels_try_to_settle();
}

/* All calls are checked first. From then on, each passes. */
void levels_resume(void)
{
    __atomic_store_n(&levels.may_pause, false, __ATOMIC_RELEASE);
    level_lock_take(); /* the helper may be about to begin a pause */
    const bool paused = level_pause_is_on();
    level_lock_release();
    if (!paused)
        return;
    level_end_pause(PAUSE_CHECKS);
    level_end_pause(PAUSE_NONE);
}

void levels_may_pause(void)
{
    if (level_pause_is_on() || __atomic_load_n(&levels.may_pause, __ATOMIC_RELAXED))
        return;
    levels.pause_at = clock_monotonic() / 1000000 + SHORT_PAUSE;
    __atomic_store_n(&levels.may_pause, true, __ATOMIC_RELEASE);
}

bool levels_are_resumed(void)
{
    return !__atomic_load_n(&levels.may_pause, __ATOMIC_ACQUIRE) && !level_pause_is_on();
}

void levels_begin_paused(void)
{
    level_open_begin();
    level_pause = PAUSE_HOLDS;
}

bool levels_leave_places(void)
{
    counts_leave();
    if (!runtime.process)
        return true;
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return false;
    level_lock_to_change();
    const bool left = level_places_leave(levels.modules);
    level_lock_release();
    sys_restore_signals(mask);
    return left;
}

void levels_lose_places(void)
{
    if (in_place_use_lost())
        levels_leave_places();
}

/* ---- the process' end ---- */

/* Nothing changes from then on: calls would be counted or out while the session says that they are timed. */
void levels_end_process(void)
{
    level_lock_take();
    level_process()->ended = true;
    level_lock_release();
    level_records_finish();
}

void levels_take_end_back(void)
{
    level_process()->ended = false;
}

/* ---- modules ---- */

bool levels_begin(void)
{
    level_lock_take();
    if (level_process()->forking) {
        level_lock_release();
        return false;
    }
    level_unloads_visit();
    for (struct level_module *m = levels.modules; m; m = m->next)
        m->loaded = false;
    return true;
}

/* Nothing of modules that are not loaded any more can be rewritten, and their stubs are not used. The loader's list may
 * lack a library for a moment although its code stays: then calls still lead to the stubs. */
static void level_drop_modules(uint64_t begin, uint64_t end)
{
    for (struct level_module **place = &levels.modules; *place;) {
        struct level_module *m = *place;
        if (m->loaded || m->end <= begin || end <= m->begin || level_module_is_in_use(m)) {
            place = &m->next;
            continue;
        }
        *place = m->next;
        level_kept_put(m);
        level_module_forget(m);
        if (m->room)
            sys_unmap(m->functions, m->room * sizeof *m->functions);
        sys_unmap(m, sizeof *m);
    }
}

/* The slots of functions at these addresses are those of the module that was there before: it has to go first. */
static struct level_module *level_add_module(const struct level_visit *visit)
{
    level_drop_modules(visit->begin, visit->end);
    struct level_module *m = sys_memory(sizeof *m);
    if (!m)
        return NULL;
    *m = (struct level_module){
        .next = levels.modules,
        .info = *visit->info,
        .begin = visit->begin,
        .end = visit->end,
        .build_id = visit->build_id,
        .path = visit->path,
        .number = ++levels.last_module,
        .program = visit->program,
    };
    code_lock_cover(m->begin, m->end);
    if (!levels.stopped)
        level_begin_module(m, visit->filter);
    m->changes |= level_pause_is_on() || (filter_settings.hidden_out && !levels.stopped);
    levels.modules = m;
    if (levels.reads_ahead)
        __atomic_store_n(&levels.ahead_at, clock_monotonic() / 1000000 + AHEAD, __ATOMIC_RELEASE);
    return m;
}

/* No thread can be in a call of the module's functions if none has been set up yet. */
void levels_visit(const struct level_visit *visit)
{
    struct level_module *m = levels.modules;
    while (m && (m->loaded || m->info.dlpi_addr != visit->info->dlpi_addr ||
                 !text_is_same(m->build_id, visit->build_id) || !text_is_same(m->path, visit->path)))
        m = m->next;
    if (m && !level_module_is_same(m, visit->info))
        level_module_forget(m);
    if (!m)
        m = level_add_module(visit);
    if (!m)
        return;
    m->info = *visit->info;
    m->loaded = true;
    if (!m->changes || level_process()->ended)
        return;
    m->later = level_begins_later(m) && !level_read_known(m);
    if (m->later) {
        level_later_wait();
        return;
    }
    const bool alone = !runtime.process->threads.live;
    const struct level_look look = alone ? (struct level_look){ .blind = true } : level_look_at_threads();
    level_work_on(m, &look, alone);
    if (!alone)
        levels.generation = level_next_generation();
    if (!alone || m->tries)
        level_begin_pending();
}

void levels_end(void)
{
    level_drop_modules(0, UINT64_MAX);
    level_unloads_visited();
    const bool work = levels.pending || levels.ahead_at || level_later_is_due() >= 0;
    level_lock_release();
    level_records_write();
    if (work && runtime.process->helper.tid)
        helper_wake();
}

/* ---- calls of the program that modules and code have to be left alone for ---- */

bool levels_unloading(bool now)
{
    if (!runtime.process)
        return false;
    const uint64_t mask = sys_block_signals();
    bool used = false;
    level_lock_take();
    level_unloads_note(now);
    for (const struct level_module *m = levels.modules; m && !now; m = m->next)
        used |= m->count > 0;
    level_lock_release();
    sys_restore_signals(mask);
    return used;
}

void levels_forking(bool now)
{
    if (!runtime.process)
        return;
    const uint64_t mask = sys_block_signals();
    level_lock_take();
    level_process()->forking += now ? 1u : -1u;
    level_lock_release();
    sys_restore_signals(mask);
}

void levels_forked(void)
{
    level_unloads_forked();
    level_session_forked();
}

void levels_begin_process(void)
{
    levels.reads_ahead = runtime.session.header->also & DWELL_ALSO_BUDGET;
    counts_begin_process(levels.reads_ahead);
    const bool likely = levels.reads_ahead || runtime.session.header->first_filters || level_pause_is_on();
    if (likely && level_is_alone()) /* with the helper it would have two threads */
        rewriter_prepare();
}
