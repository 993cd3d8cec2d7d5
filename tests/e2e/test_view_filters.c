/* --only, --suppress, --ignore, --min-duration and --depth of recorded sessions: the same calls and paths as in a
 * recording with these filters, in every view and export. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_view_filters, .timeout = 300, .init = without_os_calls);

static const char *const modes[] = { "trace", "ring=1G", "profile" };

/* Calls and paths of the usual session with filters, as lines. report_paths has a --depth of tree's own. */
static char *view_filters_paths(const char *filters)
{
    return run_well("$DWELL export collapsed --value calls %s > stacks && < stacks sed 's/^[^;]*;//' | LC_ALL=C sort | "
                    "awk '{ n = $NF; sub(/ [0-9]+$/, \"\"); sum[$0] += n } END { for (p in sum) print p, sum[p] }' | "
                    "LC_ALL=C sort",
                    filters);
}

/* Records the program in each mode, whole and with each of the filters, and compares. */
static void view_filters_compare(const char *program, const char *const *filters, size_t count)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        free(run_well("$DWELL record -q -o whole.data --mode %s %s", modes[i], program));
        for (size_t j = 0; j < count; j++) {
            free(run_well("$DWELL record -q --mode %s %s %s", modes[i], filters[j], program));
            char *recorded = view_filters_paths(""), *arguments = NULL;
            cr_assert(gt(int, asprintf(&arguments, "%s whole.data", filters[j]), 0));
            char *viewed = view_filters_paths(arguments);
            cr_assert(eq(str, viewed, recorded), "%s %s", modes[i], filters[j]);
            free(arguments);
            free(recorded);
            free(viewed);
        }
    }
}

#define COMPARE(program, ...)                                                                                          \
    view_filters_compare(program, (const char *const[]){ __VA_ARGS__ },                                                \
                         sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

Test(e2e_view_filters, threads)
{
    COMPARE("$SAMPLES/threads 2 1000", "--suppress worker", "--suppress run_wave --suppress work", "--suppress 're:^w'",
            "--suppress 'w*r'", "--suppress 'threads!w*'", "--only work", "--only work --only main",
            "--only file:threads.c", "--only module:threads --suppress main", "--ignore worker", "--ignore work",
            "--ignore main", "--depth 1", "--depth 2 --suppress run_wave", "--ignore work --suppress worker",
            "--depth 9");
}

Test(e2e_view_filters, recursion)
{
    COMPARE("$SAMPLES/fib 15", "--depth 3", "--depth 10", "--suppress main", "--ignore fib", "--only main");
}

Test(e2e_view_filters, frames_that_are_left)
{
    COMPARE("$PROGRAMS/jumps-O2", "--suppress middle", "--suppress inner --suppress outer",
            "--ignore outer --ignore recurse", "--depth 2", "--only after --only main", "--suppress recurse");
}

Test(e2e_view_filters, several_processes)
{
    COMPARE("$SAMPLES/processes 5", "--only child_work", "--suppress main", "--ignore child_work", "--depth 1");
}

Test(e2e_view_filters, templates)
{
    COMPARE("$PROGRAMS/filters/templates", "--ignore 'ns::*'", "--suppress 'ns::twice<int>'",
            "--suppress 're:^ns::(twice|choose)<'", "--suppress 'templates!ns::choose*'", "--only 'ns::twice<*>'");
}

/* Calls of the operating system are rows that filters can name. */
Test(e2e_view_filters, calls_of_the_operating_system)
{
    unsetenv("DWELL_OS_CALLS");
    COMPARE("$PROGRAMS/filters/short", "--suppress nanosleep", "--suppress 'sleep_*'", "--ignore 'sleep_*'",
            "--only '*sleep*'");
}

Test(e2e_view_filters, calls_that_are_too_short)
{
    static const char *const filters[] = { "--min-duration 10ms", "--min-duration 10ms --suppress outer",
                                           "--min-duration 9ms --suppress main" };
    for (int i = 0; i < 2; i++) {
        free(run_well("$DWELL record -q --os-events none -o whole.data --mode %s $PROGRAMS/filters/short", modes[i]));
        for (int j = 0; j < 3; j++) {
            free(run_well("$DWELL record -q --os-events none --mode %s %s $PROGRAMS/filters/short", modes[i],
                          filters[j]));
            char *recorded = report_paths(""), *arguments = NULL;
            cr_assert(gt(int, asprintf(&arguments, "%s whole.data", filters[j]), 0));
            char *viewed = report_paths(arguments);
            cr_assert(eq(str, viewed, recorded), "%s %s", modes[i], filters[j]);
            free(arguments);
            free(recorded);
            free(viewed);
        }
    }
}

/* All sums of a view with filters agree, with and without the probes. */
Test(e2e_view_filters, sums)
{
    static const char *const filters[] = { "--suppress worker",  "--only work",
                                           "--ignore work",      "--depth 1",
                                           "--min-duration 2us", "--min-duration 50us --ignore run_wave" };
    static const char *const kinds[] = { "function", "module", "thread", "process" };
    free(run_well("$DWELL record -q $SAMPLES/threads 3 3000"));
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        for (size_t j = 0; j < 4; j++)
            for (int raw = 0; raw < 2; raw++) {
                char *arguments = NULL;
                cr_assert(gt(int, asprintf(&arguments, "--by %s %s %s", kinds[j], filters[i], raw ? "--raw" : ""), 0));
                struct report *r = report_of(arguments);
                check_sums(r, kinds[j]);
                report_drop(r);
                free(arguments);
            }
}

/* The time of suppressed calls belongs to their callers; that of ignored calls is left out. */
Test(e2e_view_filters, times)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 2 20000"));
    struct report *whole = report_of("--raw"), *without = report_of("--raw --suppress work"),
                  *ignoring = report_of("--raw --ignore work");
    const uint64_t all = report_sum(whole, "function", "worker", "elapsed_inclusive_ns");
    const uint64_t work = report_sum(whole, "function", "work", "elapsed_inclusive_ns");
    cr_assert(le(u64, report_sum(without, "function", "worker", "elapsed_inclusive_ns"), all + 2));
    cr_assert(ge(u64, report_sum(without, "function", "worker", "elapsed_inclusive_ns") + 2, all));
    cr_assert(eq(u64, report_sum(without, "function", "worker", "elapsed_exclusive_ns"),
                 report_sum(without, "function", "worker", "elapsed_inclusive_ns")));
    cr_assert(ge(u64, report_sum(ignoring, "function", "worker", "elapsed_inclusive_ns") + work + 4, all));
    cr_assert(le(u64, report_sum(ignoring, "function", "worker", "elapsed_inclusive_ns") + work, all + 4));
    report_drop(whole);
    report_drop(without);
    report_drop(ignoring);
}

/* Every format adds up to the report with the same filters, which recordings were compared with above. */
Test(e2e_view_filters, exports)
{
    need_features("perflog");
    static const char *const filters[] = { "--suppress worker", "--only work --only main", "--ignore work",
                                           "--min-duration 300us --depth 3", "--from 1us --suppress run_wave" };
    static const char *const formats[] = {
        "chrome $PART --raw -o out.json && python3 -B $CONSUMERS/chrome.py report.csv exact out.json",
        "perfetto $PART --raw -o out.pftrace && python3 -B $CONSUMERS/perfetto.py report.csv exact out.pftrace",
        "ctf $PART --raw -o ctf && python3 -B $CONSUMERS/ctf.py report.csv ctf && rm -r ctf",
        "firefox $PART --raw -o out.json && python3 -B $CONSUMERS/firefox.py report.csv exact out.json",
        "callgrind $PART --raw -o out && python3 -B $CONSUMERS/callgrind.py report.csv out",
        "collapsed $PART --raw -o out && python3 -B $CONSUMERS/collapsed.py report.csv elapsed_exclusive out exact",
        "speedscope $PART --raw -o out && python3 -B $CONSUMERS/speedscope.py report.csv elapsed_exclusive out exact",
        "pprof $PART --raw -o out && python3 -B $CONSUMERS/pprof.py compare report.csv out",
        "perflog $PART --raw -o out && cut -d, -f1,2 report.csv >/dev/null && ! grep -c GONE out",
        "perflog --aggregate $PART --raw -o out && ! grep -c GONE out",
        "vsperf $PART --raw -o v && cat v_*.csv >out && ! grep -c GONE out",
        "sqlite $PART --raw -o out.db && python3 -c 'import sqlite3; c = sqlite3.connect(\"out.db\"); "
        "print(sum(r[0] for r in c.execute(\"select sum(calls) from report_function\")))' > sum && "
        "awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"calls\") c = i } NR > 1 { s += $c } END { print s }' "
        "report.csv | cmp - sum",
    };
    free(run_well("DWELL_CLOCK=monotonic $DWELL record -q $SAMPLES/threads 3 1000"));
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        free(run_well("$DWELL report %s --raw --format csv | tr -d '\\r' > report.csv", filters[i]));
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            free(run_well("PART='%s' CONSUMERS=" DWELL_CONSUMERS "; $DWELL export %s", filters[i], formats[j]));
    }
}

Test(e2e_view_filters, replay_and_pages)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 2 100"));
    char *out = run_well("$DWELL replay --suppress worker --format csv | tail -n +2 | grep -c worker; "
                         "$DWELL replay --suppress worker --format csv | grep -cE ',(call|begin),work,'; "
                         "$DWELL replay --ignore worker --depth 1 --format csv | grep -cE ',(call|begin),main,'; "
                         "$DWELL view --no-open -o page.html --suppress worker; "
                         "$DWELL view --no-open -o both.html --depth 1 dwell.data dwell.data; true");
    cr_assert(has(out, "0\n200\n1\n"), "%s", out);
    free(out);
}

Test(e2e_view_filters, histogram_slowest_callers_lines)
{
    free(run_well("$DWELL record -q --call-sites $SAMPLES/threads 2 100"));
    char *out = run_well("$DWELL histogram work --suppress worker | head -1; "
                         "$DWELL slowest work --suppress worker -n 1 --format csv | grep -c 'start of thread'; "
                         "$DWELL callers work --suppress worker --format csv | grep -c 'start of thread'; "
                         "$DWELL report --by line --suppress run_wave --format csv | grep -c 'threads.c'");
    cr_assert(has(out, "work, without worker: 200 completed calls"), "%s", out);
    cr_assert(has(out, "\n1\n1\n"), "%s", out);
    free(out);
}

/* A pattern needs to match in one of several sessions. */
Test(e2e_view_filters, several_sessions)
{
    free(run_well("$DWELL record -q -o a.data $SAMPLES/threads 2 100 && $DWELL record -q -o b.data $SAMPLES/fib 5"));
    char *out = run_well("$DWELL report --suppress worker --ignore fib --format csv a.data b.data | cut -d, -f1 | "
                         "LC_ALL=C sort | tr '\\n\\r' '  '; $DWELL diff --suppress fib a.data b.data >/dev/null");
    cr_assert(has(out, "main") && has(out, "work") && !strstr(out, "worker") && !strstr(out, "fib"), "%s", out);
    free(out);
    static const char *const commands[] = { "report a.data b.data", "diff a.data b.data",
                                            "view --no-open a.data b.data", "report a.data" };
    for (int i = 0; i < 4; i++) {
        struct ran r = run("$DWELL %s --suppress fbi", commands[i]);
        cr_assert(eq(int, r.status, 2), "%s", commands[i]);
        cr_assert(has(r.err, "--suppress: pattern 'fbi' matches no function that was recorded; "), "%s", r.err);
        ran_drop(&r);
    }
}

/* Each is one line. */
Test(e2e_view_filters, mistakes)
{
    need_features("vsperf");
    static const char *const cases[][2] = {
        { "report --suppress 're:('", "--suppress: 're:(': " },
        { "report --only ''", "--only: '' names no function" },
        { "report --only work --suppress work", "--only and --suppress both name 'work'; leave one of them out" },
        { "report --min-duration 5", "--min-duration: '5' is not a time such as 500ns, 10us, 2.5ms or 1s" },
        { "report --depth 0", "--depth: must be 1 or more" },
        { "report --ignore wrok", "dwell.data: --ignore: pattern 'wrok' matches no function that was recorded; did you "
                                  "mean 'work'?" },
        { "replay --ignore wrok", "dwell.data: --ignore: pattern 'wrok' matches no function that was recorded; did you "
                                  "mean 'work'?" },
        { "export chrome --ignore wrok", "--ignore: pattern 'wrok' matches no function that was recorded; did you" },
        { "tree --root worker --suppress worker", "without worker: no function 'worker' was recorded" },
        { "report --min-duration 1ms profile.data", "profile.data: --min-duration: recorded in mode profile, which " },
        { "top --once --only work", "top shows all calls as they are recorded; give --only, --suppress, --ignore, " },
        { "report --only work imported.data", "imported.data: imported from a report, so --only, " },
        { "export collapsed --depth 2 imported.data", "imported.data: imported from a report, so --only, " },
    };
    free(run_well("$DWELL record -q $SAMPLES/threads 2 100 && "
                  "$DWELL record -q -o profile.data --mode profile $SAMPLES/threads 2 100 && "
                  "$DWELL export vsperf -o v && $DWELL import -o imported.data vsperf v_*Summary.csv"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ran r = run("$DWELL %s", cases[i][0]);
        cr_assert(eq(int, r.status, 2), "%s", cases[i][0]);
        cr_assert(has(r.err, cases[i][1]), "%s: %s", cases[i][0], r.err);
        cr_assert(eq(ptr, strchr(r.err, '\n'), strrchr(r.err, '\n')), "%s", r.err);
        ran_drop(&r);
    }
}

/* A filter that leaves no call is no error. */
Test(e2e_view_filters, nothing_left)
{
    need_features("perflog");
    free(run_well("$DWELL record -q $SAMPLES/threads 2 100"));
    static const char *const commands[] = { "report",        "tree",           "replay",           "view --no-open",
                                            "export chrome", "export firefox", "export collapsed", "export perfetto",
                                            "export perflog" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran r = run("$DWELL %s --suppress '*'", commands[i]);
        cr_assert(eq(int, r.status, 0), "%s: %s", commands[i], r.err);
        ran_drop(&r);
    }
}

/* The temporary file is in TMPDIR. A full disk is an error. */
Test(e2e_view_filters, temporary_file)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 2 100"));
    struct ran r = run("ulimit -f 1; trap '' XFSZ; $DWELL report --suppress worker");
    cr_assert(eq(int, r.status, 2), "%s", r.err);
    cr_assert(has(r.err, "dwell.data: the filtered events need a temporary file: File too large; set TMPDIR"), "%s",
              r.err);
    ran_drop(&r);
}

/* Activities begin and end in the middle of calls. Each format cuts these there, as the report does. */
Test(e2e_view_filters, exports_within_activities)
{
    need_features("perflog");
    static const char source[] =
        "#include \"dwell/perflog.h\"\n"
        "#define FUNCTION static void __attribute__((noinline))\n"
        "FUNCTION deep(void) { for (volatile int i = 0; i < 300; i++) ; }\n"
        "FUNCTION inside(void) { deep(); deep(); }\n"
        "FUNCTION outside(void) { deep(); }\n"
        "FUNCTION begins(void) { Perf_MarkBegin(1); deep(); }\n"
        "FUNCTION ends(void) { deep(); Perf_MarkEnd(1); deep(); }\n"
        "int main(int count, char **names) { (void)names; Perf_SetTestName(\"timed\"); Perf_RegisterMark(1, \"Test=Write\");\n"
        "for (int i = 0; i < 49 + count; i++) { outside(); begins(); inside(); ends(); } }\n";
    static const char *const formats[] = {
        "chrome $PART -o out.json && python3 -B $CONSUMERS/chrome.py report.csv exact out.json",
        "perfetto $PART -o out.pftrace && python3 -B $CONSUMERS/perfetto.py report.csv exact out.pftrace",
        "ctf $PART -o ctf && python3 -B $CONSUMERS/ctf.py report.csv ctf",
        "firefox $PART -o out.json && python3 -B $CONSUMERS/firefox.py report.csv exact out.json",
        "collapsed $PART -o out && $DWELL export sqlite $PART -o paths.db && "
        "python3 -B $CONSUMERS/collapsed.py report.csv elapsed_exclusive out paths.db",
        "pprof $PART -o out && python3 -B $CONSUMERS/pprof.py compare report.csv out",
        "chrome $PART | grep -c outside | grep -qx 0",
        "perflog $PART | grep -c outside | grep -qx 0",
    };
    FILE *file = fopen(test_path("timed.c"), "w");
    fputs(source, file);
    fclose(file);
    free(run_well("cc -O1 -finstrument-functions timed.c -I" DWELL_GOLDEN "/../../include -o timed " DWELL_RUNTIME
                  " -Wl,-rpath,$(dirname " DWELL_RUNTIME ") && "
                  "DWELL_CLOCK=monotonic DWELL_PERFLOG=log $DWELL record -q ./timed && "
                  "$DWELL report --within marker:Test=Write --raw --format csv > report.csv"));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        free(run_well("PART='--raw --within marker:Test=Write' CONSUMERS=" DWELL_CONSUMERS "; $DWELL export %s",
                      formats[i]));
    /* The same part of two sessions can be compared. */
    char *rows = run_well("DWELL_PERFLOG=log $DWELL record -q -o more.data ./timed more && "
                          "$DWELL diff --within marker:1 dwell.data more.data --sort name --format csv |"
                          " tr -d '\\r' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }"
                          " { print $at[\"function\"], $at[\"calls_before\"], $at[\"calls_after\"] }'");
    cr_assert(eq(str, rows, "begins 0 0\ndeep 200 204\nends 50 51\ninside 50 51\nmain 0 0\n"), "%s", rows);
    free(rows);
    char *sides =
        run_well("$DWELL diff --within marker:1 dwell.data more.data | head -5 | grep -o 'before .*\\|after .*'");
    cr_assert(eq(str, sides, "before dwell.data within marker:1\nafter  more.data  within marker:1\n"), "%s", sides);
    free(sides);
}

/* A filter that leaves nothing out changes nothing: not the times, the sites, the stacks, the marks or the pauses. */
Test(e2e_view_filters, everything_stays)
{
    need_features("perflog");
    static const char *const programs[] = { "$PROGRAMS/stacks/stacks ucontext",
                                            "$PROGRAMS/control/control marks",
                                            "$PROGRAMS/control/control stacks",
                                            "$PROGRAMS/jumps-O0",
                                            "$SAMPLES/cplusplus",
                                            "$SAMPLES/processes 3 100" };
    static const char *const views[] = { "report --jobs 1 --by line --format csv", "report --format csv",
                                         "export chrome", "export perflog", "replay --format csv" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (int j = 0; j < 2; j++) {
            free(run_well("$DWELL record -q --call-sites --mode %s %s", j ? "ring=64K" : "trace", programs[i]));
            for (size_t k = 0; k < sizeof views / sizeof *views; k++)
                free(run_well("$DWELL %s > whole; $DWELL %s --only '*' > filtered; cmp whole filtered", views[k],
                              views[k]));
        }
}
