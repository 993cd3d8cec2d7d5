/* record --only, --suppress and the other filters: which of a program's calls are recorded. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_filters, .timeout = 300, .init = without_os_calls);

/* threads 2 1000: main calls run_wave; two threads call worker, which calls work. */
static void filters_check(const char *mode, const char *filters, const char *wanted)
{
    free(run_well("$DWELL record -q --mode %s %s $SAMPLES/threads 2 1000", mode, filters));
    char *paths = report_paths("");
    cr_assert(eq(str, paths, (char *)wanted), "%s %s", mode, filters);
    free(paths);
    struct report *r = report_of("--by process");
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    check_sums(r, "process");
    report_drop(r);
}

static const char *const modes[] = { "trace", "ring=1G", "profile" };

static void filters_check_all(const char *filters, const char *wanted)
{
    for (int i = 0; i < 3; i++)
        filters_check(modes[i], filters, wanted);
}

#define ALL "main 1\nmain/run_wave 1\nworker 2\nworker/work 2000\n"

Test(e2e_filters, suppressed_functions_count_for_their_callers)
{
    filters_check_all("--suppress worker", "main 1\nmain/run_wave 1\nwork 2000\n");
    filters_check_all("--suppress run_wave --suppress work", "main 1\nworker 2\n");
    filters_check_all("--suppress 're:^w'", "main 1\nmain/run_wave 1\n");
    filters_check_all("--suppress 'w*r'", "main 1\nmain/run_wave 1\nwork 2000\n");
    filters_check_all("--suppress 'threads!w*'", "main 1\nmain/run_wave 1\n");
}

Test(e2e_filters, only_some_functions)
{
    filters_check_all("--only work", "work 2000\n");
    filters_check_all("--only work --only main", "main 1\nwork 2000\n");
    filters_check_all("--only file:threads.c", ALL);
    filters_check_all("--only module:threads --suppress main", "run_wave 1\nworker 2\nworker/work 2000\n");
}

Test(e2e_filters, ignored_functions_leave_with_all_they_call)
{
    filters_check_all("--ignore worker", "main 1\nmain/run_wave 1\n");
    filters_check_all("--ignore work", "main 1\nmain/run_wave 1\nworker 2\n");
    filters_check_all("--ignore main", "worker 2\nworker/work 2000\n");
}

Test(e2e_filters, calls_that_are_too_deep)
{
    filters_check_all("--depth 1", "main 1\nworker 2\n");
    filters_check_all("--depth 2", ALL);
    filters_check_all("--depth 1 --suppress worker", "main 1\nwork 2000\n");
}

Test(e2e_filters, starting_and_stopping_on_functions)
{
    filters_check_all("--start-on worker", "main 0\nmain/run_wave 0\nworker 2\nworker/work 2000\n");
    filters_check_all("--stop-on run_wave", "main 1\n");
    filters_check_all("--start-on run_wave --stop-on worker", "main 0\nmain/run_wave 1\n");
}

/* threads 2 1000: main calls run_wave; two threads call worker, which calls work. */
Test(e2e_filters, roots)
{
    filters_check_all("--root worker", "worker 2\nworker/work 2000\n");
    filters_check_all("--root work --root run_wave", "run_wave 1\nwork 2000\n");
    filters_check_all("--root main --depth 1", "main 1\n");
}

Test(e2e_filters, levels_below_some_functions)
{
    filters_check_all("--depth worker=0", "main 1\nmain/run_wave 1\nworker 2\n");
    filters_check_all("--depth main=0 --depth worker=1", "main 1\nworker 2\nworker/work 2000\n");
    filters_check_all("--depth 'w*=0' --depth '*=3'", "main 1\nmain/run_wave 1\nworker 2\n");
}

Test(e2e_filters, functions_with_little_code)
{
    filters_check_all("--min-size 1", ALL);
    char *size = run_well("nm -S --defined-only $SAMPLES/threads | awk '$4 == \"work\" { print $2 }'");
    char filters[100];
    snprintf(filters, sizeof filters, "--root worker --min-size %lu", strtoul(size, NULL, 16));
    filters_check_all(filters, "worker 2\nworker/work 2000\n");
    snprintf(filters, sizeof filters, "--root worker --min-size %lu", strtoul(size, NULL, 16) + 1);
    filters_check_all(filters, "worker 2\n");
    free(size);
}

Test(e2e_filters, callers_of_functions)
{
    static const struct {
        const char *filters, *wanted;
    } cases[] = {
        { "--callers-of work", "worker 2\nworker/work 2000\n" },
        { "--callers-of worker", "worker 2\n" },
        { "--callers-of 'run_*'", "main 1\nmain/run_wave 1\n" },
        { "--callers-of work --callers-of run_wave --suppress worker", "main 1\nmain/run_wave 1\nwork 2000\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int j = 0; j < 2; j++)
            filters_check(modes[j], cases[i].filters, cases[i].wanted);
}

/* Times of their own: in calls of `nap`, and below `main`. */
Test(e2e_filters, shortest_durations_in_some_functions)
{
    free(run_well("$DWELL record -q --os-events none --min nap=500us --min work=1s $PROGRAMS/filters/hidden 1000 20"));
    char *paths = report_paths("");
    cr_assert(eq(str, paths, "main 1\nmain/burn 100\nmain/naps 1\nmain/naps/nap 20\nmain/touch 1\n"));
    free(paths);
    free(run_well("$DWELL record -q --os-events none --min 10s --min naps=0ns $PROGRAMS/filters/hidden 1000 20"));
    paths = report_paths("");
    cr_assert(eq(str, paths, "main 1\nmain/naps 1\nmain/naps/nap 20\n"));
    free(paths);
}

/* Recording goes on and off with each call. */
Test(e2e_filters, triggers_again_and_again)
{
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --mode %s --start-on begin_of_work --stop-on end_of_work "
                      "$PROGRAMS/filters/again 50",
                      modes[i]));
        char *paths = report_paths("");
        cr_assert(eq(str, paths, "main 0\nmain/begin_of_work 50\nmain/work 50\n"), "%s", modes[i]);
        free(paths);
    }
}

/* Half of the calls of `short` sleep 20 ms, the others do nothing. Calls in which the operating system intervenes are
 * kept: on a busy machine, those that do nothing may be there if they were preempted or had to fetch a page, or took
 * 10 ms. */
static void filters_check_short(void)
{
    char *paths =
        run_well("$DWELL tree --min 0 --depth 999 --format csv | tr -d '\\r' | awk -F, '"
                 "NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next } "
                 "{ p[$1] = $1 > 1 ? p[$1 - 1] \"/\" $3 : $3; calls = $5; sleeps = $3 == \"nothing\" ? 0 : 10; "
                 "  may_be = $column[\"preempted_inclusive_ns\"] > 0 || "
                 "           !sleeps && ($column[\"page_faults\"] > 0 || $column[\"blocked_inclusive_ns\"] > 0) || "
                 "           $column[\"elapsed_inclusive_ns\"] >= sleeps * 20e6 + (calls - sleeps) * 10e6; "
                 "  if (p[$1] ~ /^main\\/outer(\\/inner(\\/nothing)?)?$/ && calls > sleeps && may_be) calls = sleeps; "
                 "  if (calls > 0) print p[$1], calls }' | LC_ALL=C sort");
    cr_assert(eq(str, paths, "main 1\nmain/outer 10\nmain/outer/inner 10\nmain/outer/inner/sleep_long 10\n"));
    free(paths);
}

Test(e2e_filters, calls_that_are_too_short)
{
    free(run_well("$DWELL record -q --min 10ms $PROGRAMS/filters/short"));
    filters_check_short();
    char *out = run_well("$DWELL record -q --min 0ns $PROGRAMS/filters/short");
    struct report *r = report_of("");
    check_counts(out, r, 5);
    report_drop(r);
    free(out);
}

Test(e2e_filters, calls_too_short_leave_their_time_to_their_callers)
{
    free(run_well("$DWELL record -q --min 10ms $PROGRAMS/filters/short"));
    struct report *r = report_of("");
    check_sums(r, "function");
    report_drop(r);
}

/* Each nap lasts a millisecond at least. More of them than a record has room for belong to `in`. */
static void filters_check_waits(const char *arguments, const char *in)
{
    enum { NAPS = 120 };
    struct report *r = NULL;
    uint64_t blocked = 0, all = 1;
    /* On a busy machine, others may wait for a moment inside the kernel, for the helper's changes of the mappings. */
    for (int try = 0; try < MOST_TRIES && blocked != all; try++) {
        if (r)
            report_drop(r);
        free(run_well("$DWELL record -q --os-events perf %s $PROGRAMS/filters/hidden 1000 120", arguments));
        r = report_of("");
        blocked = report_sum(r, "function", in, "blocked_exclusive_ns");
        all = report_sum(r, "function", NULL, "blocked_exclusive_ns");
    }
    cr_assert(ge(u64, blocked, NAPS * 900000), "%s", arguments);
    cr_assert(eq(u64, blocked, all), "%s", arguments);
    cr_assert(ge(u64, report_sum(r, "function", "main", "page_faults"), 300), "%s", arguments);
    cr_assert(ge(u64, report_sum(r, "function", "main", "application_inclusive_ns"), 100000), "%s", arguments);
    check_sums(r, "function");
    report_drop(r);
}

Test(e2e_filters, waits_and_page_faults_in_hidden_calls)
{
    static const char *const filters[] = { "--only main", "--depth 1", "--suppress 'nap*' --suppress touch" };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            char all[100];
            snprintf(all, sizeof all, "--mode %s %s", modes[j], filters[i]);
            filters_check_waits(all, "main");
        }
    }
}

/* A call that sleeps is written when it ends, and its sleep is its own. */
Test(e2e_filters, waits_in_calls_that_may_be_too_short)
{
    filters_check_waits("--min 1ns", "nap");
    filters_check_waits("--min 10us", "nap");
    filters_check_waits("--min 10us --suppress naps --mode ring=1G", "nap");
    filters_check_waits("--min 200ms --suppress nap", "naps");
}

/* At least a nanosecond for each of the calls that are not shown. */
Test(e2e_filters, the_cost_of_hidden_calls_is_left_out)
{
    static const char *const cases[] = {
        "--suppress tiny",
        "--suppress tiny --call-sites",
        "--suppress tiny --mode ring=1G",
        "--suppress tiny --mode profile",
        "--suppress tiny --mode profile --call-sites",
        "--only main --only work",
        "--only work --mode profile",
        "--depth 2",
        "--depth 2 --mode profile",
        "--min 10us",
        "--min 10us --call-sites",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        free(run_well("$DWELL record -q %s $PROGRAMS/filters/hidden 100000 0", cases[i]));
        struct report *r = report_of("");
        cr_assert(ge(u64, report_sum(r, "function", "work", "overhead_exclusive_ns"), 100000), "%s", cases[i]);
        report_drop(r);
    }
}

/* Where all calls are hidden, the number of system calls does not follow theirs. Without OS events, as each stop by the
 * tracer is one. */
Test(e2e_filters, hidden_calls_make_no_system_calls)
{
    static const char *const filters[] = { "--only burn", "--suppress work --suppress tiny", "--only burn --min 1s" };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < (i < 2 ? 3 : 2); j++) {
            uint64_t counts[2];
            for (int k = 0; k < 2; k++) {
                struct ran r = run("$DWELL record -q --os-events none --mode %s %s $PROGRAMS/filters/syscalls "
                                   "$PROGRAMS/filters/hidden %d 0",
                                   modes[j], filters[i], k ? 200000 : 1000);
                cr_assert(eq(int, r.status, 0), "%s", r.err);
                counts[k] = truth(r.err, "syscalls");
                ran_drop(&r);
            }
            cr_assert(lt(u64, counts[1], counts[0] + 20000), "%s %s", modes[j], filters[i]);
        }
}

Test(e2e_filters, left_frames_hidden_and_shown)
{
    static const struct {
        const char *filters, *wanted;
    } cases[] = {
        { "--suppress middle", "main 1\nmain/after 1100\nmain/catcher 300\nmain/catcher/after 300\n"
                               "main/catcher/recurse 300\nmain/catcher/recurse/recurse 300\n"
                               "main/catcher/recurse/recurse/recurse 300\nmain/outer 1000\nmain/outer/inner 1000\n"
                               "main/raiser 100\nmain/raiser/handler 100\n" },
        { "--suppress inner --suppress outer", "main 1\nmain/after 1100\nmain/catcher 300\nmain/catcher/after 300\n"
                                               "main/catcher/recurse 300\nmain/catcher/recurse/recurse 300\n"
                                               "main/catcher/recurse/recurse/recurse 300\nmain/middle 1000\n"
                                               "main/raiser 100\nmain/raiser/handler 100\n" },
        { "--ignore outer --ignore recurse", "main 1\nmain/after 1100\nmain/catcher 300\nmain/catcher/after 300\n"
                                             "main/raiser 100\nmain/raiser/handler 100\n" },
        { "--depth 2", "main 1\nmain/after 1100\nmain/catcher 300\nmain/outer 1000\nmain/raiser 100\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int j = 0; j < 3; j++) {
            free(run_well("$DWELL record -q --mode %s %s $PROGRAMS/jumps-O2", modes[j], cases[i].filters));
            char *paths = report_paths("");
            cr_assert(eq(str, paths, (char *)cases[i].wanted), "%s %s", modes[j], cases[i].filters);
            free(paths);
        }
    }
}

Test(e2e_filters, filters_from_a_file)
{
    free(run_well("printf '# what is of interest\\n\\nonly  work \\nonly main\\n  depth 3\\n' > filters; "
                  "$DWELL record -q --filter-file filters $SAMPLES/threads 2 1000"));
    char *paths = report_paths("");
    cr_assert(eq(str, paths, "main 1\nwork 2000\n"));
    free(paths);
}

Test(e2e_filters, forked_children_have_the_same_filters)
{
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --mode %s --only child_work $SAMPLES/processes 5", modes[i]));
        char *paths = report_paths("");
        cr_assert(eq(str, paths, "child_work 5000\n"), "%s", modes[i]);
        free(paths);
    }
}

static void filters_check_templates(const char *filters, const char *wanted)
{
    for (int i = 0; i < 3; i++) {
        struct ran r = run("$DWELL record -q --mode %s %s $PROGRAMS/filters/templates", modes[i], filters);
        cr_assert(eq(int, r.status, 0), "%s: %s", filters, r.err);
        cr_assert(eq(str, r.err, ""), "%s", filters);
        ran_drop(&r);
        char *paths = report_paths("");
        cr_assert(eq(str, paths, (char *)wanted), "%s %s", modes[i], filters);
        free(paths);
    }
}

/* Demangled names of function templates begin with the return type. */
Test(e2e_filters, function_templates)
{
#define MAIN "main 1\n"
#define COUNT "main/ns::count(int) 1\n"
#define CHOOSE "main/ns::count(int)/int (*ns::choose<int>(int))(int) 10\n"
#define TWICE "main/ns::count(int)/int ns::twice<int>(int) 10\n"
    filters_check_templates("--depth 9", MAIN COUNT CHOOSE TWICE);
    filters_check_templates("--ignore 'ns::*'", MAIN);
    filters_check_templates("--ignore 'ns::twice*'", MAIN COUNT CHOOSE);
    filters_check_templates("--suppress 'ns::twice<int>'", MAIN COUNT CHOOSE);
    filters_check_templates("--suppress 'ns::twice<int>(int)'", MAIN COUNT CHOOSE);
    filters_check_templates("--suppress 'int ns::twice<int>'", MAIN COUNT CHOOSE);
    filters_check_templates("--suppress 'ns::choose<int>'", MAIN COUNT TWICE);
    filters_check_templates("--suppress 're:^ns::(twice|choose)<'", MAIN COUNT);
    filters_check_templates("--suppress 'templates!ns::choose*'", MAIN COUNT TWICE);
    filters_check_templates("--only 'ns::twice<*>'", "int ns::twice<int>(int) 10\n");
    filters_check_templates("--only 'ns::choose<*>' env A=b", "int (*ns::choose<int>(int))(int) 10\n");
    filters_check_templates("--stop-on 'ns::choose<*>'", MAIN COUNT);
    filters_check_templates("--start-on 'ns::twice<*>'",
                            "main 0\nmain/ns::count(int) 0\n"
                            "main/ns::count(int)/int (*ns::choose<int>(int))(int) 9\n" TWICE);
}

Test(e2e_filters, a_similar_name_of_a_template)
{
    struct ran r = run("$DWELL record -q --suppress 'ns::twcie<int>' $PROGRAMS/filters/templates");
    cr_assert(eq(str, r.err,
                 "dwell: --suppress: pattern 'ns::twcie<int>' matched no instrumented function of a recorded program; "
                 "did you mean 'ns::twice<int>'?\n"));
    ran_drop(&r);
}

Test(e2e_filters, libraries_and_plugins)
{
    free(run_well("$DWELL record -q --suppress 'libsample-library*!*' $SAMPLES/modules/modules "
                  "$SAMPLES/modules/libsample-plugin.so 50"));
    struct report *r = report_of("--by module");
    cr_assert(eq(u64, report_sum(r, "module", "libsample-plugin.so", "calls"), 50));
    cr_assert(eq(u64, report_sum(r, "module", "libsample-library.so", "calls"), 0));
    report_drop(r);
}

#define WORK "$SAMPLES/threads 2 1000"

/* The functions appear in a program that another one executes. */
Test(e2e_filters, programs_that_start_other_programs)
{
    static const char *const wrappers[] = {
        "sh -c '" WORK "'",
        "sh -c 'true; " WORK "; true'",
        "sh -c 'exec env A=b sh -c \"" WORK " && true\"'",
        "env A=b " WORK,
        "timeout 300 " WORK,
        "./script",
        "make -s -f Work",
    };
    free(run_well("printf '#!/bin/sh\\n%%s\\n' \"" WORK "\" > script; chmod +x script; "
                  "printf 'all:\\n\\t%%s\\n' \"" WORK "\" > Work"));
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        if (strncmp(wrappers[i], "make", 4) == 0 && system("command -v make >/dev/null") != 0)
            continue;
        for (int j = 0; j < 3; j++) {
            struct ran r =
                run("$DWELL record -q --mode %s --suppress worker --ignore 'threads!run_*' %s", modes[j], wrappers[i]);
            cr_assert(eq(int, r.status, 0), "%s: %s", wrappers[i], r.err);
            cr_assert(eq(str, r.err, ""), "%s", wrappers[i]);
            ran_drop(&r);
            char *paths = report_paths("");
            cr_assert(eq(str, paths, "main 1\nwork 2000\n"), "%s %s: %s", modes[j], wrappers[i], paths);
            free(paths);
        }
    }
}

Test(e2e_filters, all_filters_behind_a_wrapper)
{
    filters_check_all("--only work --only main sh -c '\"$@\"' sh", "main 1\nwork 2000\n");
    filters_check_all("--only file:threads.c env A=b", ALL);
    filters_check_all("--start-on worker env A=b", "main 0\nmain/run_wave 0\nworker 2\nworker/work 2000\n");
    filters_check_all("--stop-on run_wave sh -c '\"$@\"' sh", "main 1\n");
    filters_check_all("--depth 1 sh -c '\"$@\"' sh", "main 1\nworker 2\n");
    free(run_well("$DWELL record -q --min 10ms --suppress sleep_short sh -c $PROGRAMS/filters/short"));
    filters_check_short();
}

Test(e2e_filters, libraries_that_are_loaded_later)
{
    static const char *const wrappers[] = { "", "env A=b" };
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++) {
            free(run_well("$DWELL record -q --mode %s --suppress 'libsample-plugin*!*' %s $SAMPLES/modules/modules "
                          "$SAMPLES/modules/libsample-plugin.so 50",
                          modes[j], wrappers[i]));
            struct report *r = report_of("--by module");
            cr_assert(eq(u64, report_sum(r, "module", "libsample-plugin.so", "calls"), 0), "%s", modes[j]);
            cr_assert(gt(u64, report_sum(r, "module", "libsample-library.so", "calls"), 0), "%s", modes[j]);
            report_drop(r);
        }
    }
}

/* The loader cannot list the libraries of such a program. It must run once. */
Test(e2e_filters, static_programs)
{
    free(run_well(
        "$DWELL record -q --suppress fib $PROGRAMS/static-dwell 20 > out; test $(grep -c 'calls fib' out) = 1"));
    char *paths = report_paths("");
    cr_assert(eq(str, paths, "main 1\n"));
    free(paths);
    free(run_well("$DWELL record -q --only fib sh -c '$PROGRAMS/static-dwell 3'"));
    paths = report_paths("");
    cr_assert(eq(int, strncmp(paths, "fib 1\n", 6), 0), "%s", paths);
    free(paths);
}

static void filters_check_suppressed_fib(uint64_t programs)
{
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "main", "calls"), programs));
    cr_assert(eq(u64, report_sum(r, "function", "fib", "calls"), 0));
    report_drop(r);
}

/* More programs than chunks of filters that a process reads. They have no build-id, so their paths tell them apart. */
Test(e2e_filters, a_hundred_programs)
{
    free(run_well("objcopy --remove-section .note.gnu.build-id $SAMPLES/fib fib-0 && "
                  "for i in $(seq 99); do cp fib-0 fib-$i; done"));
    free(run_well("$DWELL record -q --suppress fib sh -c 'for i in $(seq 0 99); do ./fib-$i 5; done; ./fib-0 5; "
                  "./fib-99 5'"));
    filters_check_suppressed_fib(102);
}

/* Several processes ask at the same time. */
Test(e2e_filters, programs_that_begin_at_once)
{
    free(run_well("objcopy --remove-section .note.gnu.build-id $SAMPLES/fib fib-0 && "
                  "for i in $(seq 19); do cp fib-0 fib-$i; done"));
    free(run_well(
        "$DWELL record -q --suppress fib sh -c 'for i in $(seq 0 19); do ./fib-$i 5 >/dev/null & done; wait'"));
    filters_check_suppressed_fib(20);
}

/* Without the recorder there is no answer. The program goes on soon, and the session says what it lacks. */
Test(e2e_filters, a_recorder_that_is_killed)
{
    struct ran r =
        run("timeout 300 $DWELL record -q --suppress fib sh -c 'kill -9 $PPID; exec > out; $SAMPLES/fib 5; "
            "$SAMPLES/fib 5; touch done'; for i in $(seq 1200); do test -e done && break; sleep 0.1; done; ls done");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
    struct report *report = report_of("");
    cr_assert(gt(u64, report_sum(report, "function", "fib", "calls"), 1));
    report_drop(report);
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "the recorder did not answer"), "%s", info);
    free(info);
}

/* A pattern that matched nothing is a warning, and the exit status is the program's. */
Test(e2e_filters, patterns_that_match_nothing)
{
    struct ran r = run("$DWELL record -q --suppress wroker --only main sh -c '$SAMPLES/threads 2 1000; exit 7'");
    cr_assert(eq(int, r.status, 7), "%s", r.err);
    cr_assert(eq(str, r.err,
                 "dwell: --suppress: pattern 'wroker' matched no instrumented function of a recorded program; did you "
                 "mean 'worker'?\n"));
    ran_drop(&r);
    r = run("$DWELL record -q --ignore file:none.c $SAMPLES/threads 2 1000");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(str, r.err,
                 "dwell: --ignore: pattern 'file:none.c' matched no instrumented function of a recorded program\n"));
    ran_drop(&r);
    r = run("$DWELL record --strict-filters --suppress worker sh -c '$SAMPLES/threads 2 1000'");
    cr_assert(eq(int, r.status, 125));
    cr_assert(has(r.err, "--suppress: pattern 'worker' matches no instrumented function of "), "%s", r.err);
    cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
}

/* After a mistake nothing is recorded or replaced, and the program does not run. */
Test(e2e_filters, mistakes)
{
    static const struct {
        const char *filters, *message;
    } cases[] = {
        { "--strict-filters --only nothing_of_that_name",
          "--only: pattern 'nothing_of_that_name' matches no instrumented function of " },
        { "--suppress 're:('", "--suppress: 're:(': " },
        { "--depth 0", "--depth: '0' is not a number from 1 to 8000" },
        { "--depth main=300", "--depth: '300' is not a number from 0 to 250" },
        { "--depth main=", "--depth: '' is not a number from 0 to 250" },
        { "--depth =3", "--depth: '' names no function" },
        { "--min-size 0", "--min-size: '0' is not a number from 1 to 2147483647" },
        { "--min main=5", "--min: '5' is not a time such as 500ns, 10us, 2.5ms or 1s" },
        { "--min a=1us --min a=2us --min a=3us --min a=4us --min a=5us --min a=6us --min a=7us --min a=8us",
          "--min: there can be 7 different times for patterns" },
        { "--callers-of work --mode profile", "--callers-of: mode profile counts every call" },
        { "--callers-of work --min 1ms", "--min has no effect on --callers-of; use one of them" },
        { "--min 5", "--min: '5' is not a time such as 500ns, 10us, 2.5ms or 1s" },
        { "--min 1ms --mode profile", "--min: mode profile counts every call" },
        { "--filter-file none.txt", "none.txt: No such file or directory" },
        { "--filter-file wrong.txt", "wrong.txt:2: sometimes: 'sometimes' is none of only, suppress, " },
        { "--filter-file wrong.txt", "wrong.txt:2: " },
    };
    free(run_well("echo old > dwell.data; printf '#\\nsometimes work\\n' > wrong.txt"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ran r = run("$DWELL record %s $SAMPLES/threads 2 1000", cases[i].filters);
        cr_assert(eq(int, r.status, 125), "%s", cases[i].filters);
        cr_assert(has(r.err, cases[i].message), "%s: %s", cases[i].filters, r.err);
        cr_assert(eq(str, r.out, ""));
        ran_drop(&r);
    }
    char *old = run_well("cat dwell.data; ls");
    cr_assert(eq(str, old, "old\ndwell.data\nwrong.txt\n"));
    free(old);
}

/* The probes of hidden functions are out of the code: calls and call paths are the same. */
Test(e2e_filters, no_hidden_probes)
{
    static const char *const cases[][2] = {
        { "--only work --only main", "$SAMPLES/threads 2 1000" },
        { "--suppress work", "$SAMPLES/threads 2 1000" },
        { "--only main", "$SAMPLES/fib 15" },
        { "--suppress middle --depth 3", "$PROGRAMS/jumps-O2" },
        { "--only child_work", "$SAMPLES/processes 5" },
        { "--suppress 'ns::*'", "$PROGRAMS/filters/templates" },
        { "--suppress main --ignore work", "$SAMPLES/threads 2 1000" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *mode = modes[i % 3];
        free(run_well("$DWELL record -q --mode %s %s %s", mode, cases[i][0], cases[i][1]));
        char *expected = report_paths("");
        free(run_well("$DWELL record -q --no-hidden-probes --mode %s %s %s", mode, cases[i][0], cases[i][1]));
        char *paths = report_paths("");
        cr_assert(eq(str, paths, expected), "%s %s", mode, cases[i][0]);
        struct report *r = report_of("");
        check_sums(r, "function");
        report_drop(r);
        char *info = run_well("$DWELL info");
        cr_assert(not(has(info, "level ")), "%s", info);
        free(info);
        free(paths);
        free(expected);
    }
}

Test(e2e_filters, hidden_functions_cost_nothing)
{
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --no-hidden-probes --os-events perf --mode %s --only main --only work "
                      "$PROGRAMS/filters/hidden 100000 20",
                      modes[i]));
        struct report *r = report_of("");
        cr_assert(lt(u64, report_sum(r, "function", "work", "overhead_exclusive_ns"), 100000), "%s", modes[i]);
        cr_assert(ge(u64, report_sum(r, "function", NULL, "blocked_exclusive_ns"), 20 * 900000), "%s", modes[i]);
        report_drop(r);
    }
}
