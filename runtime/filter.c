/*
 * Filters: which functions are recorded. `dwell record` finds the functions that the user's patterns name, and puts
 * their addresses into the session file; here they are looked up at every enter. All calls are in the shadow stack, and
 * each says there whether the file knows of it.
 *
 * With a shortest duration, enters wait: they are written when a call below them or their own end shows that they are
 * to be kept. Whatever else is written, is written behind them.
 */
#include <string.h>
#include <sys/mman.h>

#include "call.h"
#include "clock.h"
#include "control.h"
#include "filter.h"
#include "frames_left.h"
#include "osevents.h"
#include "pause.h"
#include "probe_steps.h"
#include "probes.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "sys.h"
#include "thread.h"

struct filter_slot {
    uint64_t address;
    uint32_t action;
};

struct filter_table {
    uint64_t mask;
    struct filter_slot slots[];
};

struct filter_settings filter_settings = { .depth = UINT32_MAX };

static const struct dwell_filters *filters;
static struct filter_table *table;
static uint64_t table_of; /* which modules' functions are in it: a sum over them */

static inline uint64_t first_slot(const struct filter_table *in, uint64_t address)
{
    return (address * 0x9e3779b97f4a7c15u >> 40) & in->mask;
}

uint32_t filter_action(uint64_t function)
{
    const struct filter_table *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (in)
        for (uint64_t i = first_slot(in, function); in->slots[i].address; i = (i + 1) & in->mask)
            if (in->slots[i].address == function)
                return in->slots[i].action;
    return filter_settings.only ? DWELL_FILTER_SUPPRESS : DWELL_FILTER_RECORD;
}

/* ---- the table; under the lock of the module map ---- */

static const struct dwell_filter_module *next_module(const struct dwell_filter_module *m)
{
    return (const struct dwell_filter_module *)((const char *)m + m->size);
}

void filter_begin(int fd)
{
    const uint64_t offset = runtime.session.header->first_filters;
    struct dwell_chunk_header head;
    if (!offset || SYS4(pread64, fd, &head, sizeof head, offset) != (long)sizeof head ||
        head.kind != DWELL_CHUNK_FILTERS)
        return;
    filters = sys_map(head.size, PROT_READ, MAP_SHARED, fd, offset);
    if (!filters)
        return;
    runtime.filtered = true;
    filter_settings.only = filters->only != 0;
    filter_settings.depth = filters->depth ? filters->depth : UINT32_MAX;
    filter_settings.starts = filters->starts != 0;
    filter_settings.shortest = filters->shortest;
    if (filter_settings.starts)
        runtime.activation.stopped = 1;
}

uint32_t filter_module(struct text build_id, struct text path)
{
    if (!filters)
        return 0;
    const struct dwell_filter_module *m = (const struct dwell_filter_module *)(filters + 1);
    for (uint32_t i = 1; i <= filters->modules; i++, m = next_module(m)) {
        const char *id = (const char *)(m + 1), *name = id + m->build_id_length;
        if (m->build_id_length ? m->build_id_length == build_id.length && memcmp(id, build_id.at, build_id.length) == 0
                               : m->path_length == path.length && memcmp(name, path.at, path.length) == 0)
            return i;
    }
    return 0;
}

static const struct dwell_filter_module *numbered(uint32_t number)
{
    const struct dwell_filter_module *m = (const struct dwell_filter_module *)(filters + 1);
    while (--number > 0)
        m = next_module(m);
    return m;
}

static void insert(struct filter_table *into, uint64_t address, uint32_t action)
{
    uint64_t i = first_slot(into, address);
    while (into->slots[i].address && into->slots[i].address != address)
        i = (i + 1) & into->mask;
    into->slots[i] = (struct filter_slot){ address, action };
}

/* The old table stays: a probe may look into it. */
void filter_use_modules(const struct filter_use *uses, uint32_t count)
{
    uint64_t sum = 0, functions = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (uses[i].bias + uses[i].module) * 0x9e3779b97f4a7c15u;
        functions += numbered(uses[i].module)->functions;
    }
    if (sum == table_of)
        return;
    uint64_t slots = 64;
    while (slots < functions * 2)
        slots *= 2;
    struct filter_table *made = sys_memory(sizeof *made + slots * sizeof *made->slots);
    if (!made)
        return;
    made->mask = slots - 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct dwell_filter_module *m = numbered(uses[i].module);
        const struct dwell_filter *f = (const struct dwell_filter *)((const char *)m + m->size) - m->functions;
        for (uint32_t j = 0; j < m->functions; j++)
            insert(made, uses[i].bias + f[j].offset, f[j].action);
    }
    __atomic_store_n(&table, made, __ATOMIC_RELEASE);
    table_of = sum;
}

/* ---- the probes ---- */

PROBES_DEFINITION(filter, STEPS_TIMED | STEPS_FILTER)
PROBES_DEFINITION(filter_sites, STEPS_TIMED | STEPS_FILTER | STEPS_SITES)

/* ---- the unusual event; signals are held back ---- */

uint32_t filter_shown_depth(const struct thread *t)
{
    uint32_t count = 0;
    const struct call *end = thread_call(t, t->state);
    for (const struct call *call = (const struct call *)t->shadow + 1; call < end; call++)
        count += call->kind == CALL_SHOWN;
    return count;
}

void filter_flush(struct thread *t)
{
    struct call *end = thread_call(t, t->state);
    for (struct call *call = (struct call *)t->shadow + 1; call < end; call++) {
        if (call->kind != CALL_WAITING)
            continue;
        slow_emit(t, call->enter_time, call, true);
        call->kind = CALL_SHOWN;
    }
}

static void pop(struct thread *t, uint64_t now)
{
    const struct call *call = thread_call(t, t->state) - 1;
    if (call->kind == CALL_WAITING && now - call->enter_time >= filter_settings.shortest)
        filter_flush(t);
    t->filter.left_unrecorded += call->kind == CALL_SHOWN;
    t->state -= one_call;
}

static void end_call(struct thread *t, uint64_t now, bool flagged)
{
    const struct call *call = thread_call(t, t->state) - 1;
    if (call->kind == CALL_WAITING && (t->filter.kept_words || now - call->enter_time >= filter_settings.shortest))
        filter_flush(t);
    if (call->kind == CALL_SHOWN) {
        if (flagged)
            slow_keep_flag(t);
        slow_emit(t, now, call, false);
    }
    t->state -= one_call;
}

static inline struct call made_call(const struct call *caller, uint64_t function, uint64_t stack_pointer, uint64_t now,
                                    uint64_t frame_id, uint64_t call_site, enum call_kind kind)
{
    return (struct call){
        .function = function,
        .stack_pointer = stack_pointer,
        .enter_time = now,
        .frame_id = frame_id,
        .call_site = call_site,
        .kind = kind,
        .shown = caller->shown + (kind != CALL_HIDDEN),
    };
}

static void begin_call(struct thread *t, const struct event *event, uint64_t now)
{
    struct call *call = thread_call(t, t->state);
    const uint32_t action = filter_action(event->function);
    const enum call_kind kind = filter_kind(&call[-1], action & DWELL_FILTER_IGNORE ? DWELL_FILTER_SUPPRESS : action);
    const uint64_t call_site =
        runtime.call_sites ? call_site_of(&call[-1], event->function, event->stack_pointer, event->origin) : 0;
    const struct call entry =
        made_call(&call[-1], event->function, event->stack_pointer, now, event->frame_id, call_site, kind);
    *call = entry;
    if (kind == CALL_SHOWN)
        slow_emit(t, now, call, true);
    call = thread_call(t, t->state); /* the stack may have moved */
    *call = entry;
    const uint32_t depth = (uint32_t)(t->state >> 32);
    t->state += one_call;
    if (action & DWELL_FILTER_IGNORE)
        filter_ignore(t, depth, now);
}

void filter_ignore(struct thread *t, uint32_t depth, uint64_t now)
{
    pause_begin(t, now);
    t->filter.ignored_depth = depth;
}

void filter_record(struct thread *t, const struct event *event)
{
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        thread_stop_for(t, DWELL_TROUBLE_REFUSED);
        slow_count_lost();
        return;
    }
    uint64_t now = clock_now(runtime.clock);
    if (now < t->last)
        now = t->last;
    int64_t left = frames_left_before(t, t->state, event);
    if (!thread_grow_stack(t)) {
        thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
        slow_count_lost();
    } else if (left >= 0) {
        slow_keep_os_events(t);
        if (t->filter.kept_words)
            filter_flush(t);
        for (; left > 0; left--)
            pop(t, now);
        if (event->enter)
            begin_call(t, event, now);
        else
            end_call(t, now, event->flagged);
    }
    thread_set_limit(t);
    sys_restore_signals(mask);
    os_forget_own(t);
}

/* A function that starts or stops the recording is entered. */
void filter_trigger(const struct event *event)
{
    const uint32_t action = filter_action(event->function);
    if (action & (DWELL_FILTER_START | DWELL_FILTER_STOP))
        control_trigger(action & DWELL_FILTER_START);
}
