/*
 * Compares random sessions with a reference that knows the program, but not its records. The sessions have pauses,
 * marks, changes of the stack, frames left without an exit, and chunks that begin anywhere. All readers must agree with
 * the reference to the tick: the profile, its parts, the timeline, the single calls, and the profile of a growing
 * session.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/calls.h"
#include "support/growth.h"
#include "support/scenario.h"
#include "support/stack_model.h"
#include "trace/timeline.h"

TestSuite(unit_stack, .timeout = 300);

enum { F = 0x1000, G = 0x2000 };

static const unsigned pieces[] = { 0, 60, 9, 2 };

static const char *stack_session_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", test_path("stack.dwell"));
    return path;
}

static struct session_file *stack_open_session(void)
{
    const char *error;
    struct session_file *file = session_file_open(stack_session_path(), &error);
    cr_assert(file != NULL, "%s", error);
    return file;
}

/* ---- the profile ---- */

static struct times stack_times_of(const struct outcome *o, int function)
{
    struct times *list = rollup_groups(o->rollup, BY_FUNCTION), found = { .shortest = UINT64_MAX };
    for (size_t i = 0; i < o->profile->function_count; i++)
        if (o->profile->functions[i].offset == stack_model_address(function))
            found = list[i];
    free(list);
    return found;
}

static void stack_check_functions(const struct outcome *o, const struct stack_model *m)
{
    for (int i = 0; i < STACK_MODEL_FUNCTIONS; i++) {
        const struct stack_model_times *f = &m->functions[i];
        const struct times t = stack_times_of(o, i);
        ASSERT_TIMES(t, f->elapsed_inclusive, f->elapsed_exclusive, f->elapsed_inclusive - f->flagged_inclusive,
                     f->elapsed_exclusive - f->flagged_exclusive, f->calls);
        cr_assert(eq(u64, t.shortest, f->shortest));
        cr_assert(eq(u64, t.longest, f->longest));
    }
    for (uint32_t i = 0; i < STACK_MODEL_THREADS; i++)
        cr_assert(eq(u64, thread_times(o, i + 1).elapsed_inclusive, m->threads[i]));
}

static void stack_check_profile(struct profile *p, struct session_file *file, const struct stack_model *m)
{
    struct outcome o = { file, p, rollup_new(p) };
    stack_check_functions(&o, m);
    check_identities(&o);
    cr_assert(eq(u64, p->counts.enters, m->enters));
    cr_assert(eq(u64, p->counts.exits, m->exits));
    cr_assert(eq(u64, p->counts.unwound, m->left));
    cr_assert(eq(u64, p->counts.stray_exits, m->stray_exits));
    cr_assert(eq(u64, p->counts.pauses, m->pauses));
    cr_assert(eq(u64, p->counts.paused, m->paused));
    cr_assert(eq(u64, p->counts.intervals, m->intervals));
    cr_assert(eq(u64, p->counts.damaged_chunks, 0));
    cr_assert(eq(sz, p->mark_count, m->marks));
    rollup_free(o.rollup);
    profile_free(p);
}

/* Two parts that touch at the border add up to the whole, and so do the single calls that end in them. */
static void stack_check_parts(struct session_file *file, const struct stack_model *m, uint64_t border)
{
    const struct selection parts[] = { { .cut = true, .from = 0, .to = border },
                                       { .cut = true, .from = border, .to = UINT64_MAX } };
    struct profile *sum = profile_new();
    for (int i = 0; i < 2; i++) {
        struct profile *part = collect_selection(file, NULL, 2, &parts[i]);
        profile_merge(sum, part);
        profile_free(part);
    }
    struct outcome o = { file, sum, rollup_new(sum) };
    for (int i = 0; i < STACK_MODEL_FUNCTIONS; i++) {
        const struct stack_model_times *f = &m->functions[i];
        ASSERT_TIMES(stack_times_of(&o, i), f->elapsed_inclusive, f->elapsed_exclusive,
                     f->elapsed_inclusive - f->flagged_inclusive, f->elapsed_exclusive - f->flagged_exclusive,
                     f->calls);
    }
    cr_assert(eq(u64, sum->counts.enters, m->enters));
    cr_assert(eq(u64, sum->counts.exits, m->exits));
    cr_assert(eq(u64, sum->counts.unwound, m->left));
    cr_assert(eq(u64, sum->counts.pauses, m->pauses));
    cr_assert(eq(u64, sum->counts.paused, m->paused));
    rollup_free(o.rollup);
    profile_free(sum);
}

/* ---- the timeline ---- */

struct follower {
    const struct stack_model *m;
    size_t seen[STACK_MODEL_THREADS];
    uint64_t once[STACK_MODEL_FUNCTIONS], elapsed[STACK_MODEL_FUNCTIONS], flagged[STACK_MODEL_FUNCTIONS];
    uint64_t threads[STACK_MODEL_THREADS];
    uint64_t last, marks, pauses, left;
};

/* A number for the call, which the timeline keeps as its note. */
static uint32_t stack_call_id(const struct stack_model *m, const struct stack_model_call *call)
{
    uint32_t i = 0;
    while (m->calls[i] != call)
        i++;
    return i + 1;
}

static void stack_check_open_calls(struct follower *f, const struct timeline_event *e)
{
    const uint32_t thread = e->thread->thread - 1;
    cr_assert(lt(sz, f->seen[thread], f->m->event_count[thread]));
    const struct stack_model_event *wanted = &f->m->events[thread][f->seen[thread]++];
    cr_assert(eq(u64, e->time, wanted->time));
    cr_assert(eq(sz, e->thread->depth, wanted->depth));
    for (unsigned i = 0; i < wanted->depth; i++) {
        const struct stack_model_call *call = wanted->stack[i];
        struct timeline_call *found = &e->thread->stack[i];
        if (e->kind == TIMELINE_ENTER && i + 1 == wanted->depth)
            found->note = stack_call_id(f->m, call);
        cr_assert(eq(u64, found->function, stack_model_address(call->function)));
        if (call->recorded && !call->lost)
            cr_assert(eq(u32, found->note, stack_call_id(f->m, call)));
    }
}

static void stack_check_ended_call(struct follower *f, const struct timeline_event *e)
{
    const struct stack_model_event *wanted = &f->m->events[e->thread->thread - 1][f->seen[e->thread->thread - 1] - 1];
    const struct stack_model_call *call = wanted->stack[wanted->depth - 1];
    cr_assert(eq(u64, e->call->enter_time, call->entered));
    if (call->lost)
        return;
    cr_assert(eq(u64, e->call->elapsed, call->elapsed));
    cr_assert(eq(u64, e->call->flagged, call->flagged));
    cr_assert(eq(u64, e->call->blocked, call->blocked));
    cr_assert(eq(u64, e->call->below, call->below));
    cr_assert(eq(u64, e->call->enter_time - e->call->delay, call->begin));
}

static int stack_function_of(const struct timeline_call *call)
{
    int i = 0;
    while (stack_model_address(i) != call->function)
        i++;
    return i;
}

static bool stack_follow_event(void *context, const struct timeline_event *e)
{
    struct follower *f = context;
    cr_assert(ge(u64, e->time, f->last));
    f->last = e->time;
    const bool opens = e->kind == TIMELINE_ENTER || e->kind == TIMELINE_FOUND || e->kind == TIMELINE_BACK;
    if (e->thread->depth > (opens ? 1 : 0)) /* a call was open before the event */
        f->threads[e->thread->thread - 1] += e->interval;
    if (e->kind == TIMELINE_ENTER || e->kind == TIMELINE_EXIT || e->kind == TIMELINE_MARK)
        stack_check_open_calls(f, e);
    if (e->kind == TIMELINE_EXIT)
        stack_check_ended_call(f, e);
    if (e->kind == TIMELINE_EXIT || e->kind == TIMELINE_LEFT || e->kind == TIMELINE_OPEN) {
        const int function = stack_function_of(e->call);
        f->once[function] += e->call->once;
        f->elapsed[function] += e->call->elapsed - e->call->below;
        f->flagged[function] += e->call->flagged - e->call->flagged_below;
    }
    f->marks += e->kind == TIMELINE_MARK;
    f->pauses += e->kind == TIMELINE_PAUSE;
    f->left += e->kind == TIMELINE_LEFT && e->call->ended;
    return true;
}

static void stack_check_timeline(const struct session_file *file, const struct stack_model *m)
{
    struct follower f = { .m = m };
    const struct timeline_counts counts = timeline_run(file, stack_follow_event, &f);
    cr_assert(eq(u64, counts.damaged_chunks, 0));
    cr_assert(eq(u64, counts.stray_exits, m->stray_exits));
    cr_assert(eq(u64, f.marks, m->marks));
    cr_assert(eq(u64, f.pauses, m->pauses));
    cr_assert(eq(u64, f.left, m->left));
    for (int i = 0; i < STACK_MODEL_FUNCTIONS; i++) {
        cr_assert(eq(u64, f.once[i], m->functions[i].elapsed_inclusive));
        cr_assert(eq(u64, f.elapsed[i], m->functions[i].elapsed_exclusive));
        cr_assert(eq(u64, f.flagged[i], m->functions[i].flagged_exclusive));
    }
    for (int i = 0; i < STACK_MODEL_THREADS; i++) {
        cr_assert(eq(sz, f.seen[i], m->event_count[i]));
        cr_assert(eq(u64, f.threads[i], m->threads[i]));
    }
}

/* ---- single calls ---- */

struct list {
    struct finished_call *calls;
    size_t count;
};

static bool stack_keep_call(void *context, const struct finished_call *call)
{
    struct list *list = context;
    cr_assert(lt(sz, list->count, STACK_MODEL_CALLS));
    struct finished_call *kept = &list->calls[list->count++];
    *kept = *call;
    for (int time = 0; time < CALL_TIMES; time++)
        kept->times[time] = call_ticks(call->times[time]);
    kept->blocked = call_ticks(call->blocked);
    return true;
}

static struct finished_call stack_expected_call(const struct profile *p, const struct stack_model_call *c)
{
    uint32_t function = 0;
    while (p->functions[function].offset != stack_model_address(c->function))
        function++;
    return (struct finished_call){
        .function = function,
        .begin = c->begin,
        .times = { c->elapsed, c->elapsed - c->below, c->elapsed - c->flagged,
                   c->elapsed - c->below - (c->flagged - c->flagged_below) },
        .blocked = c->blocked,
    };
}

/* No two calls begin at the same time. */
static int stack_compare_calls(const void *a, const void *b)
{
    const struct finished_call *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void stack_check_calls(struct session_file *file, const struct stack_model *m)
{
    struct profile *p = collect_profile(file, 1);
    struct list found = { calloc(STACK_MODEL_CALLS, sizeof *found.calls), 0 }, wanted = found;
    wanted.calls = calloc(STACK_MODEL_CALLS, sizeof *wanted.calls);
    calls_follow(&(struct calls_source){ .file = file, .profile = p }, stack_keep_call, &found);
    for (size_t i = 0; i < m->call_count; i++)
        if (m->calls[i]->recorded && m->calls[i]->finished && !m->calls[i]->lost)
            wanted.calls[wanted.count++] = stack_expected_call(p, m->calls[i]);
    cr_assert(eq(sz, found.count, wanted.count));
    qsort(found.calls, found.count, sizeof *found.calls, stack_compare_calls);
    qsort(wanted.calls, wanted.count, sizeof *wanted.calls, stack_compare_calls);
    for (size_t i = 0; i < found.count; i++) {
        cr_assert(eq(u32, found.calls[i].function, wanted.calls[i].function));
        cr_assert(eq(u64, found.calls[i].begin, wanted.calls[i].begin));
        for (int time = 0; time < CALL_TIMES; time++)
            cr_assert(eq(u64, found.calls[i].times[time], wanted.calls[i].times[time]));
        cr_assert(eq(u64, found.calls[i].blocked, wanted.calls[i].blocked));
    }
    free(found.calls);
    free(wanted.calls);
    profile_free(p);
}

/* ---- all readers ---- */

static struct stack_model *stack_make_session(uint64_t seed)
{
    struct stack_model *m = stack_model_new(seed, pieces[seed % 4]);
    writer_save(m->writer, stack_session_path());
    writer_free(m->writer);
    return m;
}

Test(unit_stack, all_readers_agree)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct stack_model *m = stack_make_session(seed);
        struct session_file *file = stack_open_session();
        stack_check_profile(collect_profile(file, (unsigned)(1 + seed % 3)), file, m);
        stack_check_profile(collect_sites(file, NULL, 1, NULL), file, m);
        stack_check_timeline(file, m);
        stack_check_calls(file, m);
        for (int i = 1; i < 4; i++)
            stack_check_parts(file, m, (uint64_t)i * 7919 * 65537 * seed % 400000000);
        session_file_close(file);
        stack_model_free(m);
    }
}

Test(unit_stack, read_while_it_grows)
{
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct stack_model *m = stack_make_session(seed);
        check_growth(stack_session_path(), seed);
        stack_model_free(m);
    }
}

/* ---- handmade corner cases ---- */

static struct writer *stack_begin_thread(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 11, SOURCE_PERF, "t");
    return w;
}

/* A pause ends with the chunk. The enter time shows whether another call of F began in the pause. */
Test(unit_stack, other_calls_behind_a_pause)
{
    for (int same = 0; same < 2; same++) {
        struct writer *w = stack_begin_thread();
        begin_events(w, 1, 1, 0, 0, NULL, 0);
        write_enter(w, 10, F);
        write_pause(w, 30);
        end_events(w, true);
        begin_events(w, 1, 1, 1, 100, (struct open_call[]){ { F, same ? 80 : 100 } }, 1);
        write_exit(w, 105);
        end_events(w, true);
        writer_save(w, stack_session_path());
        writer_free(w);
        struct session_file *file = stack_open_session();
        struct profile *p = collect_profile(file, 1);
        struct finished_call call;
        struct list list = { &call, 0 };
        calls_follow(&(struct calls_source){ .file = file, .profile = p }, stack_keep_call, &list);
        cr_assert(eq(sz, list.count, same));
        if (same) {
            cr_assert(eq(u64, call.begin, 10));
            cr_assert(eq(u64, call.times[CALL_ELAPSED_INCLUSIVE], 25));
        }
        cr_assert(eq(u64, p->counts.paused, 0)); /* nothing says how long it was */
        profile_free(p);
        session_file_close(file);
    }
}

/* The RESUME did not fit into the chunk that has the PAUSE. */
Test(unit_stack, a_chunk_that_begins_in_a_pause)
{
    struct writer *w = stack_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_pause(w, 30);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 30, (struct open_call[]){ { F, 30 } }, 1);
    write_open(w, G, 100); /* the chunk already lists it, or it is not open */
    write_resume(w, 100, 1);
    write_exit(w, 105);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 25, 25, 25, 25, 1);
    cr_assert(eq(u64, o.profile->counts.paused, 70));
    cr_assert(eq(u64, o.profile->counts.intervals, 3));
    outcome_drop(&o);
}

/* Frames that were left in a pause were on the stack until the pause began. */
Test(unit_stack, frames_left_at_a_resume)
{
    struct writer *w = stack_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_pause(w, 30);
    write_unwind(w, 1);
    write_resume(w, 100, 0);
    write_exit(w, 105);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, G), 10, 10, 10, 10, 1);
    cr_assert(eq(u64, function_times(&o, G).longest, 10));
    cr_assert(eq(u64, function_times(&o, F).longest, 25));
    outcome_drop(&o);
}

/* The thread was killed before it wrote the RESUME. */
Test(unit_stack, an_event_of_a_paused_thread)
{
    struct writer *w = stack_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_pause(w, 30);
    write_words(w, (uint16_t[]){ 0, 0, 0, 0, 0, 0 }, 6);
    write_enter(w, 100, G);
    write_os(w);
    write_exit(w, 110);
    write_thread_end(w, 1, 1, false, 150);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, F), 70, 60, 60, 60, 1);
    ASSERT_TIMES(function_times(&o, G), 10, 10, 0, 0, 1);
    cr_assert(eq(u64, o.profile->counts.paused, 70));
    outcome_drop(&o);
}

/* The enter times of open calls are limited to the beginning of the chunk. */
Test(unit_stack, frames_from_the_future)
{
    struct writer *w = stack_begin_thread();
    begin_events(w, 1, 1, 0, 50, (struct open_call[]){ { F, 1000 } }, 1);
    write_enter(w, 60, G);
    write_exit(w, 70);
    write_exit(w, 80);
    end_events(w, true);
    writer_save(w, stack_session_path());
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(u64, function_times(&o, F).longest, 30));
    outcome_drop(&o);
    for (uint64_t seed = 1; seed < 10; seed++)
        check_growth(stack_session_path(), seed);
}
