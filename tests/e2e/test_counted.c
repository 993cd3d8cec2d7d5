/* record --level counted: the calls of some functions are only counted, and the counts are exact. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/counted.h"
#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_counted, .timeout = 300, .init = without_os_calls);

Test(e2e_counted, threads_signals_and_jumps)
{
    for (int i = 0; i < 3; i++)
        counted_run(counted_modes[i], "64 20000 50");
}

Test(e2e_counted, forked_children)
{
    for (int i = 0; i < 3; i++)
        counted_run(counted_modes[i], "4 2000 50 20");
}

Test(e2e_counted, hundreds_of_threads)
{
    counted_run("trace", "400 200 1000");
}

Test(e2e_counted, all_kinds_of_calls)
{
    glob_t found;
    cr_assert(eq(int, glob(DWELL_PROGRAMS "/levels/kinds-*", 0, NULL, &found), 0));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], ".p"))
            continue;
        struct ran r =
            run("$DWELL record -q --mode %s --level 'counted=hot_*' %s 2000", counted_modes[i % 3], found.gl_pathv[i]);
        cr_assert(eq(int, r.status, 7), "%s: %s", found.gl_pathv[i], r.err);
        counted_check(r.out, found.gl_pathv[i]);
        ran_drop(&r);
        char *info = run_well("$DWELL info");
        cr_assert(not(has(info, "stay timed")), "%s: %s", found.gl_pathv[i], info);
        free(info);
    }
    globfree(&found);
}

static void counted_compare_libraries(const char *mode, const char *levels, const char *how, int functions)
{
    char *out = run_well("$DWELL record -q --mode %s %s $PROGRAMS/loading/same $PROGRAMS/loading/libloading-a.so "
                         "$PROGRAMS/loading/libloading-b.so 50 %s",
                         mode, levels, how);
    struct report *r = report_of("");
    static const char *const all[] = { "inner_a", "begin_a", "end_a", "begin_b", "end_b", "inner_b" };
    for (int i = 0; i < functions; i++)
        cr_assert(eq(u64, report_sum(r, "function", all[i], "calls"), truth(out, all[i])), "%s %s %s %s", mode, levels,
                  how, all[i]);
    report_drop(r);
    free(out);
}

/* Levels are about the functions of one library, whatever else comes to its address, and when. */
Test(e2e_counted, libraries_that_come_and_go)
{
    for (int i = 0; i < 6; i++) {
        const char *how = i < 3 ? "" : "fork";
        counted_compare_libraries(counted_modes[i % 3], "--level 'counted=inner_*'", how, 6);
        counted_compare_libraries(counted_modes[i % 3], "--level counted=inner_a", how, 6);
        counted_compare_libraries(counted_modes[i % 3], "--level counted=inner_a --level out=inner_b", how, 5);
    }
}

/* A library that goes makes the runtime look at all modules anew. Neither the program's new name nor its working
 * directory makes other modules of them. */
Test(e2e_counted, a_program_that_is_renamed_and_leaves_its_folder)
{
    for (int i = 0; i < 3; i++) {
        free(run_well("cp $PROGRAMS/loading/moved $PROGRAMS/loading/libloading-b.so ."));
        char *out = run_well("$DWELL record -q --mode %s --level 'counted=hot*' --level 'counted=inner_*' ./moved 1000 "
                             "$PROGRAMS/loading/libloading-a.so",
                             counted_modes[i]);
        free(run_well("mv elsewhere moved"));
        struct report *r = report_of("");
        static const char *const all[] = { "hot", "hot_at_last", "inner_b" };
        for (int j = 0; j < 3; j++) {
            cr_assert(eq(u64, report_sum(r, "function", all[j], "calls"), truth(out, all[j])), "%s %s",
                      counted_modes[i], all[j]);
            cr_assert(eq(u64, report_sum(r, "function", all[j], "elapsed_inclusive_ns"), 0), "%s %s", counted_modes[i],
                      all[j]);
        }
        report_drop(r);
        free(out);
    }
}

Test(e2e_counted, functions_of_constructors_and_static_programs)
{
    static const char *const programs[] = { "early", "early-no-pie", "early-static-pie" };
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q $PROGRAMS/loading/%s", programs[i]));
        struct report *timed = report_of("");
        free(run_well("$DWELL record -q --level 'counted=Object::*' --level counted=first_constructor "
                      "$PROGRAMS/loading/%s",
                      programs[i]));
        struct report *r = report_of("");
        static const char *const all[] = { "Object::Object()", "Object::touch()", "first_constructor", "main" };
        for (int j = 0; j < 4; j++)
            cr_assert(
                eq(u64, report_sum(r, "function", all[j], "calls"), report_sum(timed, "function", all[j], "calls")),
                "%s %s", programs[i], all[j]);
        report_drop(timed);
        report_drop(r);
    }
}

/* Of two levels the later one is valid. Hidden calls are not counted. */
Test(e2e_counted, together_with_filters)
{
    static const struct {
        const char *options;
        uint64_t work, worker;
    } cases[] = {
        { "--level out=work --level counted=work", 2000, 2 },
        { "--level counted='w*' --level out=work", 0, 2 },
        { "--level counted=work --suppress work", 0, 2 },
        { "--level counted=work --only worker", 0, 2 },
        { "--level counted=work --only worker --only work", 2000, 2 },
        { "--level counted=work --ignore worker", 0, 0 },
        { "--level counted=work --call-sites", 2000, 2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int mode = 0; mode < 3; mode++) {
            free(run_well("$DWELL record -q --mode %s %s $SAMPLES/threads 2 1000", counted_modes[mode],
                          cases[i].options));
            struct report *r = report_of("");
            cr_assert(eq(u64, report_sum(r, "function", "work", "calls"), cases[i].work), "%s %s", counted_modes[mode],
                      cases[i].options);
            cr_assert(eq(u64, report_sum(r, "function", "worker", "calls"), cases[i].worker), "%s %s",
                      counted_modes[mode], cases[i].options);
            report_drop(r);
        }
}

/* A kill may lose a call in flight, and nothing else. The program counts a call after it has ended. */
Test(e2e_counted, killed)
{
    for (int i = 0; i < 20; i++) {
        free(run_well(
            "rm -f counters dwell.data; $DWELL record -q --level counted=leaf $PROGRAMS/killed counters 3 &\n"
            "calls() { od -An -v -t u8 -j $1 -N 8 counters 2>/dev/null | tr -d ' '; }\n"
            "for at in 0 64 128 192; do while [ \"$(calls $at)\" -eq 0 ] 2>/dev/null || [ -z \"$(calls $at)\" ]; "
            "do sleep 0.01; done; done\n"
            "sleep 0.0%d; kill -KILL $(calls 0); wait $! || true",
            i % 10));
        char *counters = run_well("od -An -v -t u8 -w8 -j 64 -N 256 counters | tr -d ' ' | awk 'NR %% 8 == 1 {s += $1} "
                                  "END {print s}'");
        const uint64_t counted = strtoull(counters, NULL, 10);
        struct report *report = report_of("");
        const uint64_t recorded = report_sum(report, "function", "leaf", "calls");
        cr_assert(gt(u64, counted, 0));
        cr_assert(ge(u64, recorded, counted));
        cr_assert(le(u64, recorded, counted + 3));
        report_drop(report);
        free(counters);
    }
}

Test(e2e_counted, paused_threads)
{
    static const char *const programs[] = { "control levels", "pauser 3000" };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            char *out = run_well("$DWELL record -q --mode %s --level counted=leaf --level counted=handler_leaf "
                                 "$PROGRAMS/control/%s",
                                 counted_modes[i], programs[j]);
            struct report *r = report_of("");
            cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), truth(out, "leaf")), "%s", programs[j]);
            cr_assert(eq(u64, report_sum(r, "function", "middle", "calls"), truth(out, "middle")));
            report_drop(r);
            free(out);
        }
}

/* Threads that find no space for their counters lose calls, and the session says how many. */
Test(e2e_counted, a_session_of_maximum_size)
{
    char *out = run_well("timeout 300 $DWELL record -q --max-size 1M,ring --level 'counted=hot_*' "
                         "$PROGRAMS/levels/counted 400 2000 1000 2>&1");
    static const char *const all[] = { "hot_leaf", "hot_inlined", "hot_jump", "hot_handler", "hot_late" };
    struct report *r = report_of("");
    uint64_t calls = 0, reported = report_session(r, "lost_events");
    cr_assert(gt(u64, reported, 0));
    for (int i = 0; i < 5; i++) {
        calls += truth(out, all[i]);
        reported += report_sum(r, "function", all[i], "calls");
        cr_assert(le(u64, report_sum(r, "function", all[i], "calls"), truth(out, all[i])), "%s", all[i]);
    }
    cr_assert(ge(u64, reported, calls), "%s", out); /* events of timed calls may be lost, too */
    report_drop(r);
    free(out);
    free(run_well(
        "timeout 300 $DWELL record -q --max-size 1M --level 'counted=hot_*' $PROGRAMS/levels/counted 400 2000 1000"));
}

Test(e2e_counted, views_without_times_or_paths)
{
    need_features("vsperf");
    free(run_well("$DWELL record -q -o timed.data $SAMPLES/threads 2 1000"));
    free(run_well("$DWELL record -q --level counted=work $SAMPLES/threads 2 1000"));
    char *text = run_well("$DWELL report --by function --columns calls,elapsed_inclusive,elapsed_exclusive");
    cr_assert(has(text, "\n1 function only counted: - unknown\n"), "%s", text);
    free(text);
    text = run_well("$DWELL tree; $DWELL callers worker");
    cr_assert(not(has(text, " work\n")), "%s", text);
    free(text);
    text = run_well("$DWELL info");
    cr_assert(has(text, "\ncounted         2000 calls of 1 function: work\n"), "%s", text);
    free(text);
    text = run_well("$DWELL diff --format csv timed.data dwell.data | grep ',both,work,' | cut -d, -f5-15");
    cr_assert(has(text, "2000,2000,0,0.0000,,,,,,,"), "%s", text);
    free(text);
    /* Its time is unknown, so it is no change. */
    free(run_well("$DWELL diff --fail-if 'all_elapsed_inclusive > +1000000000%%' dwell.data timed.data"));
    struct ran r = run("$DWELL histogram work");
    cr_assert(ne(int, r.status, 0));
    cr_assert(has(r.err, "calls of work were only counted"), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL replay");
    cr_assert(eq(int, r.status, 0));
    cr_assert(has(r.err,
                  "calls that were only counted (dwell info lists them) are left out. To time those of F, record "
                  "with --level timed=F\n"),
              "%s", r.err);
    ran_drop(&r);
    static const char *const without[] = { "callgrind", "collapsed", "pprof", "speedscope", "chrome" };
    for (int i = 0; i < 5; i++) {
        r = run("$DWELL export -o out %s", without[i]);
        cr_assert(eq(int, r.status, 0));
        cr_assert(has(r.err, "calls that were only counted (dwell info lists them) are left out"), "%s", r.err);
        ran_drop(&r);
    }
    r = run("$DWELL export -o out.db sqlite && python3 -B " DWELL_CONSUMERS "/sqlite.py $DWELL dwell.data out.db && "
            "sqlite3 out.db \"SELECT calls, timing, timed_calls, elapsed_inclusive_ns IS NULL FROM report_function "
            "WHERE function = 'work'\"; $DWELL export -o out vsperf && grep '^\"work\"' out_FunctionSummary.csv");
    cr_assert(eq(int, r.status, 0));
    cr_assert(not(has(r.err, "left out")), "%s", r.err);
    cr_assert(has(r.out, "\n2000|counted|0|1\n"), "%s", r.out);
    cr_assert(has(r.out, "\n\"work\",,,,,,,,,0,0,,,,,,,,,,,,,2000,"), "%s", r.out);
    ran_drop(&r);
    text = run_well("$DWELL report --from 1us");
    cr_assert(has(text, "they are in no range of time"), "%s", text);
    free(text);
    text = run_well("$DWELL merge -o both.data timed.data dwell.data");
    free(text);
    text = run_well("$DWELL report -s name --format csv --columns calls,timed_calls both.data >merged && "
                    "$DWELL report -s name --format csv --columns calls,timed_calls timed.data dwell.data >several && "
                    "cmp merged several && grep -c '^work.*,4000,2000' merged; "
                    "$DWELL report --by function timed.data dwell.data | grep -cw TIMED");
    cr_assert(eq(str, text, "1\n1\n"));
    free(text);
    struct report *both = report_of("both.data");
    cr_assert(eq(u64, report_sum(both, "function", "work", "calls"), 4000));
    report_drop(both);
    struct report *only = report_of("--only work");
    cr_assert(eq(u64, report_sum(only, "function", "work", "calls"), 2000));
    report_drop(only);
    only = report_of("--suppress work");
    cr_assert(eq(u64, report_sum(only, "function", "work", "calls"), 0));
    cr_assert(eq(u64, report_sum(only, "function", "worker", "calls"), 2));
    report_drop(only);
}

/* No call is lost or counted twice while functions change between the two levels. */
/* Returns whether `dwell control` changed levels before the program ended. */
static bool counted_with_changes(const char *mode, long rounds)
{
    char *out = run_well("rm -f pid; $DWELL record -q --mode %s --level 'counted=hot_*' sh -c "
                         "'echo $$ >pid; exec $PROGRAMS/levels/counted 8 %ld 200' >out & recorder=$!\n"
                         "while [ ! -s pid ]; do sleep 0.01; done; pid=$(cat pid)\n"
                         "while kill -0 $recorder 2>/dev/null; do\n"
                         "for level in timed counted; do $DWELL control $pid level $level='hot_*' 2>/dev/null; done\n"
                         "done >/dev/null; wait $recorder; cat out",
                         mode, rounds);
    static const char *const all[] = { "hot_leaf", "hot_inlined", "hot_jump", "hot_handler", "hot_late", "timed" };
    struct report *r = report_of("");
    for (int i = 0; i < 6; i++)
        cr_assert(eq(u64, report_sum(r, "function", all[i], "calls"), truth(out, all[i])), "%s: %s", mode, all[i]);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(out);
    char *info = run_well("$DWELL info");
    const bool changed = has(info, "level           timed   since") && has(info, "level           counted since");
    free(info);
    return changed;
}

/* On a busy machine, a short program may end before the first change. */
Test(e2e_counted, levels_that_change)
{
    for (int i = 0; i < 3; i++) {
        long rounds = 200000;
        while (!counted_with_changes(counted_modes[i], rounds))
            cr_assert(lt(long, rounds *= 2, 10000000), "%s", counted_modes[i]);
    }
}

/* A recording without any event is one if calls were counted. */
Test(e2e_counted, nothing_but_counts)
{
    struct ran r = run("$DWELL record --level 'counted=*' $SAMPLES/threads 2 1000");
    cr_assert(eq(int, r.status, 0));
    cr_assert(has(r.err, "dwell: 0 events, 2.0 k counted calls, "), "%s", r.err);
    ran_drop(&r);
    struct report *report = report_of("");
    cr_assert(eq(u64, report_sum(report, "function", "work", "calls"), 2000));
    cr_assert(eq(u64, report_sum(report, "function", "main", "calls"), 1));
    report_drop(report);
}

static char *counted_calls(const char *options, const char *program, int status)
{
    struct ran r = run("$DWELL record -q %s $PROGRAMS/frames/%s", options, program);
    cr_assert(eq(int, r.status, status), "%s", program);
    ran_drop(&r);
    return run_well("$DWELL report --by function --columns calls --format csv | LC_ALL=C sort");
}

/* Functions have the same calls, whichever of them are counted, and however their frames end. */
static void counted_check_frames(const char *program, int status)
{
    char *list = run_well("cd $PROGRAMS/frames; for i in %s-*; do test -f $i && test -x $i && echo $i; done", program);
    for (char *name = strtok(list, "\n"); name; name = strtok(NULL, "\n")) {
        char *timed = counted_calls("", name, status);
        char *some = counted_calls("--level 'counted=re:[lrg]'", name, status);
        char *all = counted_calls("--level 'counted=*'", name, status);
        cr_assert(eq(str, some, timed), "%s", name);
        cr_assert(eq(str, all, timed), "%s", name);
        free(timed);
        free(some);
        free(all);
    }
    free(list);
}

Test(e2e_counted, exceptions)
{
    counted_check_frames("exceptions", 0);
}

Test(e2e_counted, threads_that_are_cancelled_and_other_ends)
{
    counted_check_frames("leaving", 7);
}

/* It is unknown where counted calls came from, but the lines' calls add up to those of the functions. */
Test(e2e_counted, lines)
{
    free(run_well("$DWELL record -q --call-sites --level counted=work $SAMPLES/threads 2 1000"));
    char *calls =
        run_well("for by in line function; do $DWELL report --by $by --format json | python3 -c 'import json, "
                 "sys; print(sum(row[\"calls\"] for row in json.load(sys.stdin)[\"rows\"]))'; done");
    cr_assert(has(calls, "2"), "%s", calls);
    cr_assert(eq(ulong, strtoul(calls, NULL, 10), strtoul(strchr(calls, '\n'), NULL, 10)), "%s", calls);
    free(calls);
    calls = run_well("$DWELL report --by line");
    cr_assert(has(calls, "(unknown)"), "%s", calls);
    free(calls);
}

/* As other views show them. */
Test(e2e_counted, info_shows_short_names)
{
    free(run_well("printf '#include <string>\n__attribute__((noinline)) unsigned long size_of(std::string const &s)\n"
                  "{ return s.size() + 1; }\nint main() { std::string s; unsigned long n = 0;\n"
                  "for (int i = 0; i < 2000; i++) n += size_of(s); return n != 2000; }\n' >made.cc && "
                  "$DWELL c++ -O1 -g -o made made.cc && $DWELL record -q --level 'counted=size_of*' ./made"));
    char *info = run_well("COLUMNS=200 $DWELL info | grep -E '^(counted|level) ' | sed 's/^.*: size/size/'");
    cr_assert(eq(str, info, "size_of(std::string const&)\nsize_of(std::string const&)\n"));
    free(info);
}
