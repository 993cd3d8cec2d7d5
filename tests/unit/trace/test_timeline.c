/* Events in time order over all threads, calls with their time on the stack, and how gaps are handled. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/resolve.h"
#include "support/load.h"
#include "support/model.h"
#include "support/scenario.h"
#include "tables/views.h"
#include "trace/timeline.h"

enum { F = 0x1000, G = 0x2000, H = 0x3000 };

static FILE *out;

static bool timeline_note(void *context, const struct timeline_event *e)
{
    static const char *const kinds[] = { "enter", "found", "exit",  "left",   "open",
                                         "aside", "back",  "pause", "resume", "mark" };
    const struct timeline_call *call = e->call;
    (void)context;
    fprintf(out, "%ju.%u %s", (uintmax_t)e->time, e->thread->thread, kinds[e->kind]);
    if (call && e->kind < TIMELINE_PAUSE)
        fprintf(out, " %c", call->function == F ? 'F' : call->function == G ? 'G' : 'H');
    if (e->kind >= TIMELINE_EXIT && e->kind <= TIMELINE_SET_ASIDE)
        fprintf(out, " %ju/%ju", (uintmax_t)call->elapsed, (uintmax_t)call->once);
    if (e->kind == TIMELINE_MARK)
        fprintf(out, " %u %.*s at %ju", e->mark_number, (int)e->mark_length, e->mark_text, (uintmax_t)e->mark_time);
    fprintf(out, "%s +%ju\n", e->extras->flagged ? " flagged" : "", (uintmax_t)e->interval);
    return true;
}

/* Prints the events of the written session. The caller frees the text. */
static char *timeline_print(struct writer *w, struct timeline_counts *counts)
{
    char *text = NULL;
    size_t length;
    const char *error;
    writer_save(w, test_path("timeline.dwell"));
    writer_free(w);
    struct session_file *file = session_file_open(test_path("timeline.dwell"), &error);
    cr_assert(file != NULL);
    out = open_memstream(&text, &length);
    struct timeline_counts c = timeline_run(file, timeline_note, NULL);
    fclose(out);
    session_file_close(file);
    if (counts)
        *counts = c;
    else
        cr_assert(eq(u64, c.damaged_chunks + c.stray_exits, 0));
    return text;
}

static void expect_timeline(struct writer *w, const char *wanted)
{
    char *text = timeline_print(w, NULL);
    cr_assert(eq(str, text, (char *)wanted));
    free(text);
}

static struct writer *timeline_begin_session(unsigned threads)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    for (unsigned i = 1; i <= threads; i++)
        write_thread(w, 1, i, 10 + i, SOURCE_PERF, "t");
    return w;
}

Test(unit_timeline, threads_in_time_order)
{
    struct writer *w = timeline_begin_session(2);
    begin_events(w, 1, 2, 0, 90, NULL, 0); /* the file has the chunks in no order */
    write_enter(w, 100, H);
    write_exit(w, 260);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 200, (struct open_call[]){ { F, 100 } }, 1);
    write_exit(w, 300);
    end_events(w, true);
    begin_events(w, 1, 1, 0, 100, NULL, 0);
    write_enter(w, 100, F);
    write_enter(w, 150, G);
    write_os(w);
    write_exit(w, 200);
    end_events(w, true);
    expect_timeline(w, "100.1 enter F +0\n"
                       "100.2 enter H +10\n"
                       "150.1 enter G +50\n"
                       "200.1 exit G 50/50 flagged +50\n"
                       "260.2 exit H 160/160 +160\n"
                       "300.1 exit F 200/200 +100\n");
}

Test(unit_timeline, recursive_time_counts_once)
{
    struct writer *w = timeline_begin_session(1);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_enter(w, 30, F);
    write_exit(w, 50);
    write_exit(w, 70);
    write_exit(w, 100);
    end_events(w, true);
    expect_timeline(w, "10.1 enter F +10\n"
                       "20.1 enter G +10\n"
                       "30.1 enter F +10\n"
                       "50.1 exit F 20/20 +20\n"
                       "70.1 exit G 50/50 +20\n"
                       "100.1 exit F 90/70 +30\n");
}

Test(unit_timeline, calls_that_were_left_and_calls_still_open)
{
    struct writer *w = timeline_begin_session(1);
    begin_events(w, 1, 1, 0, 0, (struct open_call[]){ { F, 0 } }, 1);
    write_enter(w, 10, G);
    write_enter(w, 20, H);
    write_unwind(w, 2);
    write_enter(w, 50, H);
    end_events(w, true);
    write_thread_end(w, 1, 1, true, 75);
    expect_timeline(w, "0.1 found F +0\n"
                       "10.1 enter G +10\n"
                       "20.1 enter H +10\n"
                       "50.1 left H 30/30 +30\n"
                       "50.1 left G 40/40 +0\n"
                       "50.1 enter H +0\n"
                       "75.1 open H 25/25 flagged +25\n"
                       "75.1 open F 75/75 +0\n");
}

/* docs/format.md: PAUSE and RESUME with a time of three words; OPEN before RESUME. */
Test(unit_timeline, a_pause_takes_no_time)
{
    struct writer *w = timeline_begin_session(1);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_words(w, (uint16_t[]){ 11u << 8 | 3, 30, 0, 0 }, 4);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, H, 0, 0, 0, 60, 0, 0 }, 8);
    write_words(w, (uint16_t[]){ 12u << 8 | 5, 70, 0, 0, 1, 0 }, 6);
    w->last = 70;
    write_exit(w, 90);
    write_exit(w, 100);
    end_events(w, true);
    expect_timeline(w, "10.1 enter F +10\n"
                       "20.1 enter G +10\n"
                       "30.1 pause +10\n"
                       "70.1 resume +0\n"
                       "70.1 left G 10/10 +0\n"
                       "70.1 found H +0\n"
                       "90.1 exit H 20/20 +20\n"
                       "100.1 exit F 50/50 +10\n");
}

/* Two stacks of one thread; the thread never returns to one of them. */
Test(unit_timeline, stacks_are_set_aside_and_come_back)
{
    struct writer *w = timeline_begin_session(1);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 30, 0, 0, 1, 0 }, 6);
    w->last = 30;
    write_enter(w, 40, F);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, F, 0, 0, 0, 40, 0, 0 }, 8);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, G, 0, 0, 0, 50, 0, 0 }, 8);
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 60, 0, 0, 0, 0 }, 6);
    w->last = 60;
    write_exit(w, 75);
    write_exit(w, 90);
    end_events(w, true);
    expect_timeline(w, "10.1 enter F +10\n"
                       "20.1 enter G +10\n"
                       "30.1 aside G 10/10 +10\n"
                       "30.1 aside F 20/20 +0\n"
                       "40.1 enter F +10\n"
                       "60.1 aside F 20/20 +20\n"
                       "60.1 back F +0\n"
                       "60.1 back G +0\n"
                       "75.1 exit G 25/25 +15\n"
                       "90.1 exit F 50/50 +15\n"
                       "90.1 open F 20/20 +0\n");
}

Test(unit_timeline, marks)
{
    struct writer *w = timeline_begin_session(1);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_words(w, (uint16_t[]){ 10u << 8 | 11, 30, 0, 0, 25, 0, 0, 7, 0, 3, 'h' | 'e' << 8, 'y' }, 12);
    w->last = 30;
    write_exit(w, 40);
    end_events(w, true);
    expect_timeline(w, "10.1 enter F +10\n"
                       "30.1 mark 7 hey at 25 +20\n"
                       "40.1 exit F 30/30 +10\n");
}

/* A call that a chunk lists as open is open. Any other call ended with the last chunk. */
Test(unit_timeline, missing_chunks)
{
    struct writer *w = timeline_begin_session(1);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_enter(w, 30, H);
    end_events(w, true);
    begin_events(w, 1, 1, 2, 100, (struct open_call[]){ { F, 10 }, { G, 80 } }, 2);
    write_exit(w, 110);
    write_exit(w, 120);
    write_exit(w, 130);
    end_events(w, true);
    struct timeline_counts counts;
    char *text = timeline_print(w, &counts);
    cr_assert(eq(str, text,
                 "10.1 enter F +10\n"
                 "20.1 enter G +10\n"
                 "30.1 enter H +10\n"
                 "100.1 left H 0/0 +0\n"
                 "100.1 left G 10/10 +0\n"
                 "100.1 found G +0\n"
                 "110.1 exit G 10/10 +10\n"
                 "120.1 exit F 40/40 +10\n"));
    cr_assert(eq(u64, counts.stray_exits, 1));
    free(text);
}

/* A chunk that directly follows has the same calls, even if it has other enter times. Behind a gap they are others. */
Test(unit_timeline, enter_times_that_differ_between_chunks)
{
    struct writer *w = timeline_begin_session(1);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 10, (struct open_call[]){ { F, 8 } }, 1);
    write_enter(w, 30, G);
    write_exit(w, 40);
    end_events(w, true);
    begin_events(w, 1, 1, 3, 50, (struct open_call[]){ { F, 45 } }, 1);
    write_exit(w, 60);
    end_events(w, true);
    expect_timeline(w, "10.1 enter F +10\n"
                       "30.1 enter G +20\n"
                       "40.1 exit G 10/10 +10\n"
                       "50.1 left F 30/30 +0\n"
                       "50.1 found F +0\n"
                       "60.1 exit F 10/10 +10\n");
}

/* ---- comparison with the model ---- */

struct sums {
    struct resolver *resolver;
    uint64_t calls[MODEL_FUNCTIONS], once[MODEL_FUNCTIONS], found;
    uint64_t last;
    size_t events, stop_after;
};

static bool timeline_add_call(void *context, const struct timeline_event *e)
{
    struct sums *s = context;
    cr_assert(ge(u64, e->time, s->last));
    s->last = e->time;
    if (e->kind == TIMELINE_ENTER) {
        e->call->note = resolver_function(s->resolver, e->thread->process, e->call->function, e->time);
        s->calls[e->call->note]++;
    }
    s->found += e->kind == TIMELINE_FOUND;
    if (e->kind == TIMELINE_EXIT || e->kind == TIMELINE_LEFT || e->kind == TIMELINE_OPEN)
        s->once[e->call->note] += e->call->once;
    return ++s->events != s->stop_after;
}

Test(unit_timeline, sums_are_the_reports_for_any_chunks, .timeout = 300)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        static const unsigned pieces[] = { 0, 100, 3 };
        struct model *m = model_new(seed);
        size_t events = 0;
        for (int i = 0; i < 3; i++) {
            struct writer *w = model_write(m, pieces[i], (unsigned)seed % MODEL_THREADS);
            writer_save(w, test_path("model.dwell"));
            writer_free(w);
            struct analysis analysis;
            load_whole(&analysis, test_path("model.dwell"), 1);
            struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION);
            struct sums s = { .resolver = resolver_new(analysis.file, analysis.profile) };
            timeline_run(analysis.file, timeline_add_call, &s);
            cr_assert(eq(u64, s.found, 0));
            for (uint32_t f = 0; f < analysis.profile->function_count; f++) {
                cr_assert(eq(u64, s.calls[f], functions[f].calls));
                cr_assert(eq(u64, s.once[f], functions[f].elapsed_inclusive));
            }
            cr_assert(events == 0 || s.events == events);
            events = s.events;
            struct sums part = { .resolver = s.resolver, .stop_after = 100 };
            timeline_run(analysis.file, timeline_add_call, &part);
            cr_assert(eq(sz, part.events, 100));
            resolver_free(s.resolver);
            free(functions);
            analysis_drop(&analysis);
        }
        model_free(m);
    }
}
