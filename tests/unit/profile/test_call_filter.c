/* Filters of calls on a recorded session: values of paths and of single calls. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "profile/calls.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"

TestSuite(unit_call_filter, .timeout = 300);

enum { MAIN = 0x1000, PARSE = 0x2000, LOG = 0x3000, WRITE = 0x4000 };

/* main(0..100) calls parse(10..50) and log(60..70). parse calls log(20..30), which calls write(22..28), and
 * log(35..40).
 */
static const char *call_filter_save(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/shop");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "shop");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 10, PARSE);
    write_enter(w, 20, LOG);
    write_enter(w, 22, WRITE);
    write_os(w);
    write_exit(w, 28);
    write_exit(w, 30);
    write_enter(w, 35, LOG);
    write_exit(w, 40);
    write_exit(w, 50);
    write_enter(w, 60, LOG);
    write_exit(w, 70);
    write_exit(w, 100);
    end_events(w, true);
    write_symbol_module(w, 0, "");
    write_symbol_file(w, 1, "/src/shop.c");
    write_symbol(w, 0, 1, 1, MAIN, "main");
    write_symbol(w, 0, 1, 2, PARSE, "parse");
    write_symbol(w, 0, 1, 3, LOG, "log_line");
    write_symbol(w, 0, 1, 4, WRITE, "write_line");
    writer_save(w, test_path("filtered"));
    writer_free(w);
    return test_path("filtered");
}

/* main(0..100) pauses from 20 to 40, and calls log(50..60), which calls write(52..55). */
static const char *call_filter_save_paused(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/shop");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "shop");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_pause(w, 20);
    write_resume(w, 40, 0);
    write_enter(w, 50, LOG);
    write_enter(w, 52, WRITE);
    write_exit(w, 55);
    write_exit(w, 60);
    write_exit(w, 100);
    end_events(w, true);
    write_symbol_module(w, 0, "");
    write_symbol(w, 0, 0, 1, MAIN, "main");
    write_symbol(w, 0, 0, 3, LOG, "log_line");
    write_symbol(w, 0, 0, 4, WRITE, "write_line");
    writer_save(w, test_path("filtered"));
    writer_free(w);
    return test_path("filtered");
}

struct call_filter_case {
    char *only, *suppress, *ignore;
    uint32_t depth;
    uint64_t shortest;
    bool paused; /* the session with a pause */
};

static void call_filter_add(struct call_filters *filters, enum call_action action, const char *text)
{
    struct error error = { NULL };
    if (text)
        cr_assert(call_filters_add(filters, "--option", action, text, &error));
}

static struct analysis_options call_filter_options(const struct call_filter_case *c)
{
    struct analysis_options options = { .jobs = 1 };
    struct call_filters *filters = &options.selection.filters;
    filters->depth = c->depth;
    filters->shortest = c->shortest;
    call_filter_add(filters, CALL_SHOWN, c->only);
    call_filter_add(filters, CALL_SUPPRESSED, c->suppress);
    call_filter_add(filters, CALL_IGNORED, c->ignore);
    return options;
}

static bool call_filter_print_call(void *context, const struct finished_call *call)
{
    const struct analysis *analysis = ((void **)context)[0];
    FILE *out = ((void **)context)[1];
    fprintf(out, "%s of %s %d-%d/%d-%d\n", analysis->names[call->function].name,
            call->caller == PROFILE_NONE ? "-" : analysis->names[call->caller].name,
            (int)call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]), (int)call_ticks(call->times[CALL_ELAPSED_EXCLUSIVE]),
            (int)call_ticks(call->times[CALL_APPLICATION_INCLUSIVE]),
            (int)call_ticks(call->times[CALL_APPLICATION_EXCLUSIVE]));
    return true;
}

/* The session's description and times, and its single calls in the order of their ends. */
static void call_filter_expect(struct call_filter_case c, const char *wanted)
{
    struct analysis_options options = call_filter_options(&c);
    struct analysis analysis;
    char *text = NULL;
    size_t length;
    load_with(&analysis, c.paused ? call_filter_save_paused() : call_filter_save(), &options);
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "%s: %d/%d\n", analysis.summary.selection, (int)analysis.summary.elapsed_inclusive,
            (int)analysis.summary.application_inclusive);
    struct times *sums = rollup_groups(analysis.rollup, BY_FUNCTION);
    uint64_t exclusive = 0, calls = 0;
    for (size_t i = 0; i < analysis.profile->function_count; i++) {
        exclusive += sums[i].elapsed_exclusive;
        calls += sums[i].calls;
    }
    cr_assert(eq(u64, exclusive, analysis.summary.elapsed_inclusive));
    cr_assert(eq(u64, 2 * calls, analysis.summary.events));
    void *context[] = { &analysis, out };
    analysis_follow_calls(&analysis, false, call_filter_print_call, context);
    fclose(out);
    cr_assert(eq(str, text, (char *)wanted));
    free(text);
    free(sums);
    analysis_drop(&analysis);
    selection_request_drop(&options.selection);
}

Test(unit_call_filter, suppressed_calls_count_for_their_callers)
{
    call_filter_expect((struct call_filter_case){ .suppress = "log_*" },
                       "without log_*: 100/94\n"
                       "write_line of parse 6-6/0-0\nparse of main 40-34/34-34\nmain of - 100-60/94-60\n");
    call_filter_expect((struct call_filter_case){ .suppress = "*@shop.c:4" },
                       "without *@shop.c:4: 100/94\n"
                       "log_line of parse 10-10/4-4\nlog_line of parse 5-5/5-5\nparse of main 40-25/34-25\n"
                       "log_line of main 10-10/10-10\nmain of - 100-50/94-50\n");
}

Test(unit_call_filter, a_pause_of_the_recording_takes_no_time)
{
    call_filter_expect((struct call_filter_case){ .suppress = "log_line", .paused = true },
                       "without log_line: 80/80\nwrite_line of main 3-3/3-3\nmain of - 80-77/80-77\n");
    call_filter_expect((struct call_filter_case){ .ignore = "log_line", .paused = true },
                       "ignoring log_line: 70/70\nmain of - 70-70/70-70\n");
}

Test(unit_call_filter, only_some_functions)
{
    call_filter_expect((struct call_filter_case){ .only = "re:^p" }, "only re:^p: 40/34\nparse of - 40-40/34-34\n");
}

Test(unit_call_filter, ignored_calls_take_their_time_with_them)
{
    call_filter_expect((struct call_filter_case){ .ignore = "log_line" },
                       "ignoring log_line: 75/75\nparse of main 25-25/25-25\nmain of - 75-50/75-50\n");
    call_filter_expect((struct call_filter_case){ .suppress = "parse", .ignore = "write_line" },
                       "without parse, ignoring write_line: 94/94\n"
                       "log_line of main 4-4/4-4\nlog_line of main 5-5/5-5\nlog_line of main 10-10/10-10\n"
                       "main of - 94-75/94-75\n");
}

Test(unit_call_filter, calls_that_are_too_deep)
{
    call_filter_expect((struct call_filter_case){ .depth = 2 },
                       "to depth 2: 100/94\n"
                       "parse of main 40-40/34-34\nlog_line of main 10-10/10-10\nmain of - 100-50/94-50\n");
    call_filter_expect((struct call_filter_case){ .suppress = "parse", .depth = 2 },
                       "without parse, to depth 2: 100/94\n"
                       "log_line of main 10-10/4-4\nlog_line of main 5-5/5-5\nlog_line of main 10-10/10-10\n"
                       "main of - 100-75/94-75\n");
}

/* The OS intervened in log(20..30), so it is shown with its callers, and write, too. */
Test(unit_call_filter, calls_that_are_too_short)
{
    call_filter_expect((struct call_filter_case){ .shortest = 10 },
                       "calls of at least 10 ns: 100/94\n"
                       "write_line of log_line 6-6/0-0\nlog_line of parse 10-4/4-4\nparse of main 40-30/34-30\n"
                       "log_line of main 10-10/10-10\nmain of - 100-50/94-50\n");
    call_filter_expect((struct call_filter_case){ .suppress = "write_line", .shortest = 11 },
                       "without write_line, calls of at least 11 ns: 100/94\n"
                       "log_line of parse 10-10/4-4\nparse of main 40-30/34-30\nmain of - 100-60/94-60\n");
}

Test(unit_call_filter, patterns_that_match_nothing)
{
    struct analysis_options options = call_filter_options(&(struct call_filter_case){ .ignore = "pars" });
    struct analysis analysis;
    struct error error = { NULL };
    cr_assert(not(analysis_load(&analysis, call_filter_save(), &options, &error)));
    cr_assert(strstr(error.text, "pattern 'pars' matches no function that was recorded; did you mean 'parse'?") != NULL,
              "%s", error.text);
    error_drop(&error);
    selection_request_drop(&options.selection);
}
