/* Filters in modes trace and ring: what is shown has the sums that a recording without filters has for it, to the
 * tick. Calls and OS events are random. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/format.h"
#include "support/scenario.h"
#include "unit/runtime/filtered_script.h"

TestSuite(unit_runtime_filtered);

enum { MAX_EVENTS = 400, MAX_DEPTH = 6, START = 1000, WORDS = 1 << 16, MAX_PATHS = 512 };

/* A session, event by event, with each call's duration and whether the OS intervened in it. */
struct script {
    struct script_event events[MAX_EVENTS];
    uint64_t duration[MAX_EVENTS]; /* by enter */
    bool intervened[MAX_EVENTS];
    size_t count;
};

static unsigned script_random(unsigned limit)
{
    return (unsigned)rand() % limit;
}

static void script_add_os(struct script_event *e, uint64_t passed)
{
    e->os = true;
    if (script_random(2))
        e->blocked = script_random((unsigned)passed / 2 + 1);
    if (script_random(3) == 0)
        e->preempted = script_random((unsigned)passed / 2 + 1);
    e->faults = script_random(4) ? 0 : script_random(5);
}

static void script_make(struct script *s, unsigned os_every)
{
    size_t open[MAX_DEPTH], depth = 0;
    uint64_t time = START;
    memset(s, 0, sizeof *s);
    while (s->count < MAX_EVENTS - MAX_DEPTH || depth) {
        struct script_event *e = &s->events[s->count];
        const uint64_t passed = 1 + (uint64_t)script_random(script_random(4) ? 20 : 3000);
        time += passed;
        e->time = time;
        e->enter = depth == 0 || (depth < MAX_DEPTH && s->count < MAX_EVENTS - 2 * MAX_DEPTH && script_random(2));
        if (script_random(os_every) == 0)
            script_add_os(e, passed);
        for (size_t i = 0; i < depth; i++)
            s->intervened[open[i]] |= e->os;
        if (e->enter) {
            e->function = (1 + script_random(SCRIPT_FUNCTIONS)) * SCRIPT_FUNCTION;
            open[depth++] = s->count;
        } else {
            const size_t enter = open[--depth];
            e->function = s->events[enter].function;
            s->duration[enter] = time - s->events[enter].time;
        }
        s->count++;
        if (depth == 0 && s->count >= MAX_EVENTS - 2 * MAX_DEPTH)
            break;
    }
}

/* What each path of shown calls has to have. */
struct wanted {
    uint64_t path[MAX_DEPTH + 1]; /* a zero ends it */
    uint64_t calls, elapsed, application, blocked, preempted, faults;
};

struct wanted_list {
    struct wanted paths[MAX_PATHS];
    size_t count;
};

static struct wanted *wanted_find(struct wanted_list *l, const uint64_t *path)
{
    for (size_t i = 0; i < l->count; i++)
        if (memcmp(l->paths[i].path, path, sizeof l->paths[i].path) == 0)
            return &l->paths[i];
    cr_assert(lt(sz, l->count, (size_t)MAX_PATHS));
    memcpy(l->paths[l->count].path, path, sizeof l->paths[l->count].path);
    return &l->paths[l->count++];
}

static void wanted_add_interval(struct wanted *w, const struct script_event *e, uint64_t passed)
{
    w->elapsed += passed;
    w->application += e->os || e->flagged ? 0 : passed;
    w->blocked += e->blocked;
    w->preempted += e->preempted;
    w->faults += e->faults;
}

/* What the filters make of a call, by its enter. */
struct verdict {
    size_t parent; /* its enter; itself if there is none */
    bool hidden, kept;
    uint32_t shown, limit; /* as in struct call */
    uint64_t shortest;
};

static uint32_t script_action(const struct script_filters *f, uint64_t function)
{
    return f->actions[function / SCRIPT_FUNCTION - 1];
}

static uint32_t script_actions(const struct script_filters *f)
{
    uint32_t actions = 0;
    for (int i = 0; i < SCRIPT_FUNCTIONS; i++)
        actions |= f->actions[i];
    return actions;
}

static void verdict_of_enter(struct verdict *v, const struct verdict *caller, const struct script_filters *f,
                             uint64_t function)
{
    const uint32_t action = script_action(f, function), levels = (action & DWELL_FILTER_DEPTH) >> 8,
                   time = (action & DWELL_FILTER_TIME) >> 16;
    const bool outside = script_actions(f) & DWELL_FILTER_ROOT && caller->shown == 0 && !(action & DWELL_FILTER_ROOT);
    v->hidden =
        action & DWELL_FILTER_SUPPRESS || outside || caller->shown >= f->depth || caller->shown >= caller->limit;
    v->shown = caller->shown + !v->hidden;
    v->limit = caller->limit;
    if (levels && !v->hidden && v->shown + levels - 1 < v->limit)
        v->limit = v->shown + levels - 1;
    v->shortest = time ? f->shortest_in[time - 1] : caller->shortest;
}

/* Calls are kept for themselves, or for one that they lead to. */
static void verdict_fill(struct verdict *verdicts, const struct script *s, const struct script_filters *f)
{
    const bool targets = script_actions(f) & DWELL_FILTER_TARGET;
    const struct verdict nothing = { .limit = UINT32_MAX, .shortest = f->shortest };
    size_t open[MAX_DEPTH] = { 0 }, depth = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->events[i].enter) {
            verdict_of_enter(&verdicts[i], depth ? &verdicts[open[depth - 1]] : &nothing, f, s->events[i].function);
            verdicts[i].parent = depth ? open[depth - 1] : i;
            open[depth++] = i;
            continue;
        }
        struct verdict *v = &verdicts[open[--depth]];
        const size_t enter = open[depth];
        const bool own = targets ? script_action(f, s->events[enter].function) & DWELL_FILTER_TARGET
                                 : s->duration[enter] >= v->shortest || s->intervened[enter];
        v->kept = !v->hidden && (v->kept || own);
        for (size_t at = enter; v->kept && at != verdicts[at].parent;) {
            at = verdicts[at].parent;
            verdicts[at].kept = true; /* a hidden one stays hidden */
        }
    }
}

static void wanted_fill(struct wanted_list *l, const struct script *s, const struct script_filters *f)
{
    static struct verdict verdicts[MAX_EVENTS];
    uint64_t path[MAX_DEPTH + 1] = { 0 }, last = START;
    bool shown[MAX_DEPTH] = { false };
    size_t depth = 0, shown_depth = 0;
    memset(verdicts, 0, sizeof verdicts);
    verdict_fill(verdicts, s, f);
    l->count = 0;
    memset(l->paths, 0, sizeof l->paths);
    for (size_t i = 0; i < s->count; i++) {
        const struct script_event *e = &s->events[i];
        if (shown_depth)
            wanted_add_interval(wanted_find(l, path), e, e->time - last);
        last = e->time;
        if (e->enter) {
            shown[depth] = verdicts[i].kept && !verdicts[i].hidden;
            if (shown[depth]) {
                path[shown_depth++] = e->function;
                wanted_find(l, path)->calls++;
            }
            depth++;
        } else if (shown[--depth]) {
            path[--shown_depth] = 0;
        }
    }
}

static void check_script(const struct script *s, const struct script_filters *f)
{
    static uint16_t words[WORDS];
    static struct wanted_list wanted;
    memset(words, 0, sizeof words);
    const size_t count = filtered_script_play(f, s->events, s->count, START, words, WORDS);
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, START, NULL, 0);
    write_words(w, words, count);
    struct outcome o = outcome_of(w, 1);
    check_identities(&o);
    wanted_fill(&wanted, s, f);
    uint64_t calls = 0;
    for (size_t i = 0; i < wanted.count; i++) {
        const struct wanted *p = &wanted.paths[i];
        const struct times t = path_times(&o, 1, p->path);
        calls += p->calls;
        cr_assert(eq(u64, t.calls, p->calls));
        cr_assert(eq(u64, t.elapsed_exclusive, p->elapsed));
        cr_assert(eq(u64, t.application_exclusive, p->application));
        cr_assert(eq(u64, t.blocked_exclusive, p->blocked));
        cr_assert(eq(u64, t.preempted_exclusive, p->preempted));
        cr_assert(eq(u64, t.page_faults_exclusive, p->faults));
    }
    cr_assert(eq(u64, o.profile->counts.enters, calls));
    cr_assert(eq(u64, o.profile->counts.exits, calls));
    outcome_drop(&o);
}

static void check_filters(struct script_filters filters)
{
    for (unsigned seed = 0; seed < 60; seed++) {
        static struct script s;
        srand(seed);
        script_make(&s, 1 + seed % 7);
        check_script(&s, &filters);
    }
}

#define NONE 0
#define HIDE DWELL_FILTER_SUPPRESS
#define LEVELS(count) (((count) + 1u) << DWELL_FILTER_DEPTH_SHIFT)
#define TIME(number) ((uint32_t)(number) << DWELL_FILTER_TIME_SHIFT)

Test(unit_runtime_filtered, nothing_hidden)
{
    check_filters((struct script_filters){ .depth = 100 });
}

Test(unit_runtime_filtered, suppressed)
{
    check_filters((struct script_filters){ { NONE, HIDE }, .depth = 100 });
    check_filters((struct script_filters){ { HIDE, HIDE, HIDE }, .depth = 100 });
}

Test(unit_runtime_filtered, too_deep)
{
    for (uint32_t depth = 1; depth < MAX_DEPTH; depth++)
        check_filters((struct script_filters){ .depth = depth });
}

Test(unit_runtime_filtered, too_short)
{
    check_filters((struct script_filters){ .depth = 100, .shortest = 1 });
    check_filters((struct script_filters){ .depth = 100, .shortest = 50 });
    check_filters((struct script_filters){ .depth = 100, .shortest = 5000 });
}

Test(unit_runtime_filtered, below_roots)
{
    check_filters((struct script_filters){ { DWELL_FILTER_ROOT }, .depth = 100 });
    check_filters((struct script_filters){ { DWELL_FILTER_ROOT, DWELL_FILTER_ROOT, HIDE }, .depth = 2 });
    check_filters((struct script_filters){ { DWELL_FILTER_ROOT, NONE, HIDE }, .depth = 100, .shortest = 50 });
}

Test(unit_runtime_filtered, callers_of_targets)
{
    check_filters((struct script_filters){ { DWELL_FILTER_TARGET }, .depth = 100 });
    check_filters((struct script_filters){ { DWELL_FILTER_TARGET, HIDE }, .depth = 100 });
    check_filters((struct script_filters){ { DWELL_FILTER_TARGET, DWELL_FILTER_ROOT }, .depth = 3 });
}

Test(unit_runtime_filtered, levels_below_some_functions)
{
    check_filters((struct script_filters){ { LEVELS(0) }, .depth = 100 });
    check_filters((struct script_filters){ { LEVELS(1), LEVELS(2), HIDE }, .depth = 100 });
    check_filters((struct script_filters){ { LEVELS(1), DWELL_FILTER_ROOT | LEVELS(2) }, .depth = 4, .shortest = 30 });
}

Test(unit_runtime_filtered, other_times_below_some_functions)
{
    check_filters((struct script_filters){ { TIME(1) }, .depth = 100, .shortest_in = { 60 } });
    check_filters((struct script_filters){ { TIME(1) }, .depth = 100, .shortest = 200, .shortest_in = { 0 } });
    check_filters((struct script_filters){
        { TIME(1), TIME(2), HIDE }, .depth = 100, .shortest = 20, .shortest_in = { 1000, 100 } });
}

Test(unit_runtime_filtered, all_together)
{
    check_filters((struct script_filters){ { HIDE }, .depth = 3, .shortest = 30 });
    check_filters((struct script_filters){ { NONE, NONE, HIDE }, .depth = 1, .shortest = 1000 });
    check_filters((struct script_filters){
        { HIDE, TIME(1) | DWELL_FILTER_ROOT, LEVELS(3) }, .depth = 5, .shortest = 30, .shortest_in = { 300 } });
}

/* More times off the CPU in hidden calls than a record holds, and more page faults than a word. */
Test(unit_runtime_filtered, many_os_events_in_hidden_calls)
{
    enum { HIDDEN = 100 };
    static struct script s;
    memset(&s, 0, sizeof s);
    uint64_t time = START;
    s.events[s.count++] = (struct script_event){ .time = ++time, .function = 0x1000, .enter = true };
    for (int i = 0; i < HIDDEN; i++) {
        s.events[s.count++] = (struct script_event){ .time = time += 10, .function = 0x2000, .enter = true };
        s.events[s.count++] = (struct script_event){ .time = time += 100,
                                                     .function = 0x2000,
                                                     .os = true,
                                                     .blocked = i % 3 ? 20 : 0,
                                                     .preempted = i < 60 || i % 5 ? 0 : 30,
                                                     .faults = 1000 };
    }
    s.events[s.count++] = (struct script_event){ .time = time + 7, .function = 0x1000 };
    s.duration[0] = time;
    check_script(&s, &(struct script_filters){ { NONE, HIDE }, .depth = 100 });
}

/* The exits of hidden calls of the OS. */
Test(unit_runtime_filtered, hidden_calls_of_the_os)
{
    static struct script s;
    memset(&s, 0, sizeof s);
    s.events[s.count++] = (struct script_event){ .time = 1010, .function = 0x1000, .enter = true };
    s.events[s.count++] = (struct script_event){ .time = 1020, .function = 0x2000, .enter = true };
    s.events[s.count++] = (struct script_event){ .time = 1050, .function = 0x2000, .flagged = true };
    s.events[s.count++] = (struct script_event){ .time = 1060, .function = 0x1000 };
    s.duration[0] = 50;
    s.duration[1] = 30;
    check_script(&s, &(struct script_filters){ { NONE, HIDE }, .depth = 100 });
    check_script(&s, &(struct script_filters){ .depth = 100 });
    check_script(&s, &(struct script_filters){ .depth = 100, .shortest = 5 });
}
