/* A part of a session is read from the chunks in which it begins, and has the same events as the whole session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/model.h"
#include "support/scenario.h"
#include "trace/mark_search.h"
#include "trace/timeline.h"
#include "trace/timeline_plain.h"

enum { F = 0x1000, G = 0x2000 };

TestSuite(unit_timeline_part, .timeout = 300);

static FILE *out;
static uint64_t told_from;

static bool part_print_event(void *context, const struct timeline_event *e)
{
    static const char *const kinds[] = { "enter", "found", "exit", "left", "open" };
    (void)context;
    if (e->time >= told_from)
        fprintf(out, "%ju.%u %s %jx\n", (uintmax_t)e->time, e->thread->thread, kinds[e->kind],
                (uintmax_t)e->call->function);
    return true;
}

static bool part_excludes_second(void *context, uint32_t process, uint32_t thread)
{
    (void)context;
    return process == 1 && thread != 2;
}

/* The caller frees it. */
static char *part_print(const struct session_file *file, const struct timeline_part *part, uint64_t from)
{
    char *text = NULL;
    size_t length;
    out = open_memstream(&text, &length);
    told_from = from;
    timeline_run_part(file, part, part_print_event, NULL);
    fclose(out);
    return text;
}

static struct session_file *part_save(struct writer *w)
{
    const char *error;
    writer_save(w, test_path("part.dwell"));
    writer_free(w);
    struct session_file *file = session_file_open(test_path("part.dwell"), &error);
    cr_assert(file != NULL);
    return file;
}

/* Thread 1 has three chunks, thread 2 one, and thread 3 ended at 60. */
static struct session_file *part_three_threads(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    for (unsigned i = 1; i <= 3; i++)
        write_thread(w, 1, i, 10 + i, SOURCE_PERF, "t");
    begin_events(w, 1, 1, 0, 10, NULL, 0);
    write_enter(w, 20, F);
    write_enter(w, 30, G);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 100, (struct open_call[]){ { F, 20 }, { G, 30 } }, 2);
    write_exit(w, 110);
    write_exit(w, 120);
    end_events(w, true);
    begin_events(w, 1, 1, 2, 200, NULL, 0);
    write_enter(w, 210, G);
    write_exit(w, 220);
    end_events(w, true);
    begin_events(w, 1, 2, 0, 10, NULL, 0);
    write_enter(w, 15, F);
    write_exit(w, 300);
    end_events(w, true);
    begin_events(w, 1, 3, 0, 10, NULL, 0);
    write_enter(w, 40, F);
    write_exit(w, 50);
    end_events(w, true);
    write_thread_end(w, 1, 3, false, 60);
    return part_save(w);
}

static void part_check(const struct session_file *file, const struct timeline_part *part, const char *wanted)
{
    char *text = part_print(file, part, 0);
    cr_assert(eq(str, text, (char *)wanted));
    free(text);
}

Test(unit_timeline_part, reading_begins_at_the_chunk_that_contains_it)
{
    struct session_file *file = part_three_threads();
    part_check(file, &(struct timeline_part){ .begin = 61 },
               "15.2 enter 1000\n20.1 enter 1000\n30.1 enter 2000\n110.1 exit 2000\n120.1 exit 1000\n210.1 enter 2000\n"
               "220.1 exit 2000\n300.2 exit 1000\n");
    part_check(file, &(struct timeline_part){ .begin = 100 }, /* the first chunk may end at 100 */
               "15.2 enter 1000\n20.1 enter 1000\n30.1 enter 2000\n110.1 exit 2000\n120.1 exit 1000\n210.1 enter 2000\n"
               "220.1 exit 2000\n300.2 exit 1000\n");
    part_check(
        file, &(struct timeline_part){ .begin = 101 },
        "15.2 enter 1000\n100.1 found 1000\n100.1 found 2000\n110.1 exit 2000\n120.1 exit 1000\n210.1 enter 2000\n"
        "220.1 exit 2000\n300.2 exit 1000\n");
    part_check(file, &(struct timeline_part){ .begin = 10000 },
               "15.2 enter 1000\n210.1 enter 2000\n220.1 exit 2000\n300.2 exit 1000\n");
    session_file_close(file);
}

Test(unit_timeline_part, a_thread_that_ended_earlier_is_not_read)
{
    struct session_file *file = part_three_threads();
    part_check(file, &(struct timeline_part){ .begin = 60, .wants = part_excludes_second },
               "20.1 enter 1000\n30.1 enter 2000\n40.3 enter 1000\n50.3 exit 1000\n110.1 exit 2000\n120.1 exit 1000\n"
               "210.1 enter 2000\n220.1 exit 2000\n");
    part_check(file, &(struct timeline_part){ .begin = 201, .wants = part_excludes_second },
               "210.1 enter 2000\n220.1 exit 2000\n");
    session_file_close(file);
}

/* Parts that begin at any time, of events in any chunks. */
Test(unit_timeline_part, events_are_those_of_the_whole)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct model *m = model_new(seed);
        struct session_file *file = part_save(model_write(m, (unsigned)(seed * 7), 0));
        const uint64_t last = m->end[0];
        for (int i = 0; i <= 10; i++) {
            const uint64_t from = last / 10 * (uint64_t)i;
            char *whole = part_print(file, &(struct timeline_part){ 0 }, from + 1);
            char *part = part_print(file, &(struct timeline_part){ .begin = from }, from + 1);
            cr_assert(eq(str, part, whole), "seed %ju, from %ju", (uintmax_t)seed, (uintmax_t)from);
            free(whole);
            free(part);
        }
        session_file_close(file);
        model_free(m);
    }
}

/* ---- without amounts ---- */

/* Adds up all that a call gets when it is removed. */
static bool part_add_amounts(void *context, const struct timeline_event *e)
{
    uint64_t *sum = context;
    const struct timeline_call *c = e->call;
    if (e->kind != TIMELINE_ENTER && e->kind != TIMELINE_FOUND)
        *sum += c->elapsed + c->once + c->flagged + c->blocked + c->below + c->flagged_below;
    return true;
}

Test(unit_timeline_part, events_without_amounts_are_the_same)
{
    const struct timeline_part bare = { .no_amounts = true };
    struct session_file *file = part_three_threads();
    uint64_t whole = 0, none = 0;
    timeline_run_part(file, &(struct timeline_part){ 0 }, part_add_amounts, &whole);
    timeline_run_part(file, &bare, part_add_amounts, &none);
    cr_assert(eq(u64, none, 0));
    /* elapsed and once, and what is below: 30 with 10 below, 10, 10, 285 and 10; nothing is known from 30 to 100 */
    cr_assert(eq(u64, whole, 2 * (30 + 10 + 10 + 285 + 10) + 10));
    session_file_close(file);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct model *m = model_new(seed);
        file = part_save(model_write(m, (unsigned)(seed * 7), 0));
        char *text = part_print(file, &(struct timeline_part){ 0 }, 0);
        part_check(file, &bare, text);
        free(text);
        session_file_close(file);
        model_free(m);
    }
}

/* ---- runs of plain events ---- */

struct part_run {
    struct timeline_plain *run;
    bool leaves;    /* the loop has the action `leaf` */
    uint64_t *seen; /* number of events in runs */
};

static void part_print_call(const struct part_run *r, uint64_t time, const char *kind, uint64_t function)
{
    fprintf(out, "%ju.%u %s %jx\n", (uintmax_t)time, r->run->thread->thread, kind, (uintmax_t)function);
    ++*r->seen;
}

static size_t part_run_depth(const void *to)
{
    const struct part_run *r = to;
    return r->run->thread->depth;
}

static void part_run_interval(void *to, const struct decoder *d, uint64_t begin)
{
    (void)to;
    cr_assert(le(u64, begin, d->time));
}

static void part_run_enter(void *to, const struct decoder *d)
{
    const struct part_run *r = to;
    cr_assert(lt(u64, d->time, r->run->until));
    timeline_plain_open(r->run, d->function, d->time);
    part_print_call(r, d->time, "enter", d->function);
}

static void part_run_exit(void *to, const struct decoder *d)
{
    const struct part_run *r = to;
    cr_assert(lt(u64, d->time, r->run->until));
    part_print_call(r, d->time, "exit", r->run->thread->stack[r->run->thread->depth - 1].function);
    timeline_plain_close(r->run);
}

static void part_run_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    cr_assert(lt(u64, d->time, ((struct part_run *)to)->run->until));
    part_print_call(to, entered, "enter", d->function);
    part_print_call(to, d->time, "exit", d->function);
}

static void part_run_stray_exit(void *to, const struct decoder *d)
{
    const struct part_run *r = to;
    (void)d;
    r->run->stray_exits++;
}

static uint64_t run_events[2]; /* without and with leaves */

/* Takes each second run over, in turn without and with leaves. */
static void part_take_run(void *context, struct timeline_plain *run)
{
    static const struct stack_actions actions = {
        .depth = part_run_depth,
        .interval = part_run_interval,
        .enter = part_run_enter,
        .exit = part_run_exit,
        .stray_exit = part_run_stray_exit,
    };
    static const struct stack_actions with_leaves = {
        .depth = part_run_depth,
        .interval = part_run_interval,
        .enter = part_run_enter,
        .exit = part_run_exit,
        .leaf = part_run_leaf,
        .stray_exit = part_run_stray_exit,
    };
    static unsigned runs;
    (void)context;
    struct part_run r = { .run = run, .leaves = ++runs % 4 == 0 };
    r.seen = &run_events[r.leaves];
    if (runs % 2 == 0)
        stack_apply_plain_until(r.leaves ? &with_leaves : &actions, &r, run->state, run->decoder, run->until);
}

/* Runs that a consumer takes over have the events that would be reported one by one, in the same order. */
Test(unit_timeline_part, runs_of_plain_events_are_those_events)
{
    const struct timeline_part with_runs = { .no_amounts = true, .plain = part_take_run };
    struct session_file *file = part_three_threads();
    char *text = part_print(file, &(struct timeline_part){ 0 }, 0);
    part_check(file, &with_runs, text);
    free(text);
    session_file_close(file);
    run_events[0] = run_events[1] = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct model *m = model_new(seed);
        file = part_save(model_write(m, (unsigned)(seed * 7), 0));
        text = part_print(file, &(struct timeline_part){ 0 }, 0);
        part_check(file, &with_runs, text);
        free(text);
        session_file_close(file);
        model_free(m);
    }
    cr_assert(gt(u64, run_events[0], 100));
    cr_assert(gt(u64, run_events[1], 100));
}

/* ---- marks ---- */

static void part_check_mark(const struct session_file *file, const char *wanted, uint64_t begin, uint64_t at)
{
    uint64_t time;
    cr_assert(eq(int, mark_search(file, wanted, begin, &time), at != UINT64_MAX), "%s", wanted);
    cr_assert(eq(u64, time, at), "%s", wanted);
}

Test(unit_timeline_part, marks_by_number_and_text)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "t");
    write_thread(w, 1, 2, 11, SOURCE_PERF, "t");
    begin_events(w, 1, 1, 0, 10, NULL, 0);
    write_mark(w, 30, 29, 7, "a");
    write_mark(w, 50, 50, 3, "7");
    end_events(w, true);
    begin_events(w, 1, 2, 0, 10, NULL, 0);
    write_mark(w, 25, 20, 7, "b");
    write_mark(w, 60, 60, 7, "a");
    end_events(w, true);
    struct session_file *file = part_save(w);
    part_check_mark(file, "7", 0, 20);
    part_check_mark(file, "7", 21, 29);
    part_check_mark(file, "7", 30, 50); /* a text */
    part_check_mark(file, "7", 51, 60);
    part_check_mark(file, "a", 30, 60);
    part_check_mark(file, "[bc]", 0, 20);
    part_check_mark(file, "a", 61, UINT64_MAX);
    part_check_mark(file, "-7", 0, UINT64_MAX);
    part_check_mark(file, "", 0, UINT64_MAX);
    session_file_close(file);
}
