/* Filters in modes trace and ring: what is shown has the sums that a recording without filters has for it, to the
 * tick. Calls and OS events are random. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/scenario.h"
#include "unit/runtime/filtered_script.h"

TestSuite(unit_runtime_filtered);

enum { FUNCTIONS = 4, MAX_EVENTS = 400, MAX_DEPTH = 6, START = 1000, WORDS = 1 << 16, MAX_PATHS = 512 };

/* A session, event by event, with each call's duration and whether the OS intervened in it. */
struct script {
    struct script_event events[MAX_EVENTS];
    uint64_t duration[MAX_EVENTS]; /* by enter */
    bool intervened[MAX_EVENTS];
    size_t count;
};

static uint64_t script_function(unsigned number)
{
    return 0x1000u * (number + 1);
}

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
            e->function = script_function(script_random(FUNCTIONS));
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

static void wanted_fill(struct wanted_list *l, const struct script *s, const struct script_filters *f)
{
    uint64_t path[MAX_DEPTH + 1] = { 0 }, last = START;
    bool shown[MAX_DEPTH] = { false };
    size_t depth = 0, shown_depth = 0;
    l->count = 0;
    memset(l->paths, 0, sizeof l->paths);
    for (size_t i = 0; i < s->count; i++) {
        const struct script_event *e = &s->events[i];
        if (shown_depth)
            wanted_add_interval(wanted_find(l, path), e, e->time - last);
        last = e->time;
        if (e->enter) {
            shown[depth] = e->function != f->suppressed && shown_depth < f->depth &&
                           (s->duration[i] >= f->shortest || (f->shortest && s->intervened[i]));
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

enum { NONE = 0xff };

Test(unit_runtime_filtered, nothing_hidden)
{
    check_filters((struct script_filters){ NONE, 100, 0 });
}

Test(unit_runtime_filtered, suppressed)
{
    check_filters((struct script_filters){ 0x2000, 100, 0 });
}

Test(unit_runtime_filtered, too_deep)
{
    for (uint32_t depth = 1; depth < MAX_DEPTH; depth++)
        check_filters((struct script_filters){ NONE, depth, 0 });
}

Test(unit_runtime_filtered, too_short)
{
    check_filters((struct script_filters){ NONE, 100, 1 });
    check_filters((struct script_filters){ NONE, 100, 50 });
    check_filters((struct script_filters){ NONE, 100, 5000 });
}

Test(unit_runtime_filtered, all_together)
{
    check_filters((struct script_filters){ 0x1000, 3, 30 });
    check_filters((struct script_filters){ 0x3000, 1, 1000 });
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
    check_script(&s, &(struct script_filters){ 0x2000, 100, 0 });
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
    check_script(&s, &(struct script_filters){ 0x2000, 100, 0 });
    check_script(&s, &(struct script_filters){ NONE, 100, 0 });
    check_script(&s, &(struct script_filters){ NONE, 100, 5 });
}
