/* The whole outputs of dwell perflog for the logs in tests/golden/perflog, and its messages about bad logs. For
 * intended changes see test_golden.c. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/run.h"

static void copy_logs(void)
{
    free(run_well("cp " DWELL_GOLDEN "/perflog/*.log ."));
}

TestSuite(golden_perflog, .init = copy_logs, .timeout = 300);

static void check_perflog(const char *arguments, const char *name)
{
    char command[512], path[512];
    snprintf(command, sizeof command, "perflog %s", arguments);
    snprintf(path, sizeof path, "perflog/%s", name);
    check_golden(command, path);
}

static void perflog_check_formats(const char *arguments, const char *name)
{
    static const char *const formats[][2] = { { "text", "txt" }, { "csv", "csv" }, { "json", "json" } };
    for (int i = 0; i < 3; i++) {
        char command[256], file[256];
        snprintf(command, sizeof command, "%s --format %s", arguments, formats[i][0]);
        snprintf(file, sizeof file, "%s.%s", name, formats[i][1]);
        check_perflog(command, file);
    }
}

Test(golden_perflog, markers)
{
    perflog_check_formats("one-after-the-other.log", "markers");
}

Test(golden_perflog, monitors)
{
    perflog_check_formats("monitors.log", "monitors");
    check_perflog("monitors.log --monitors --format csv", "monitors-only.csv");
    check_perflog("monitors.log --monitors", "monitors-only.txt");
}

Test(golden_perflog, bars_where_the_terminal_has_no_blocks)
{
    char *plain = run_well("LC_ALL=C $DWELL perflog --monitors monitors.log");
    cr_assert(has(plain, " #_\n"), "%s", plain);
    free(plain);
}

Test(golden_perflog, too_many_keys)
{
    struct ran r = run("head -n 5 seed.log >keys; for i in $(seq 1001); do "
                       "echo \"## PERF ## REGISTERED MARKER [key $i=1] AS [1] BY APP [myperfapp]\"; done >>keys; "
                       "$DWELL perflog --format csv keys | head -n 1 | tr , '\\n' | grep -c '^key '");
    cr_assert(eq(str, r.out, "1000\n"));
    cr_assert(
        eq(str, r.err, "dwell: 1001 different keys in markers' strings; only the first 1000 are shown as columns\n"));
    ran_drop(&r);
}

Test(golden_perflog, errors_and_attributes)
{
    perflog_check_formats("attributes.log", "attributes");
}

Test(golden_perflog, iterations_merged_and_separate)
{
    perflog_check_formats("iterations.log", "iterations");
    perflog_check_formats("iterations.log --instances --sort order", "instances");
}

Test(golden_perflog, sorted_and_limited)
{
    check_perflog("one-after-the-other.log --sort name --limit 1", "limited.txt");
}

Test(golden_perflog, several_logs)
{
    perflog_check_formats("one-after-the-other.log monitors.log pairs.log", "several");
}

Test(golden_perflog, two_logs_compared)
{
    perflog_check_formats("--diff one-after-the-other.log slower.log", "diff");
    check_perflog("--diff --sort name --limit 2 one-after-the-other.log slower.log", "diff-by-name.txt");
}

/* With two logs on both sides, changes are tested. A condition that is met gives the exit status 1. */
Test(golden_perflog, several_logs_compared)
{
    static const char compared[] = "--diff one-after-the-other.log one-after-the-other.log -- slower.log slower.log";
    char arguments[256];
    check_perflog(compared, "diff-several.txt");
    snprintf(arguments, sizeof arguments, "%s --format csv", compared);
    check_perflog(arguments, "diff-several.csv");
    struct ran r = run("$DWELL perflog %s --fail-if 'mean > +10%%' --format csv", compared);
    cr_assert(eq(int, r.status, 1));
    cr_assert(eq(str, r.err,
                 (char *)"dwell: --fail-if 'mean > +10%': 1 marker\n"
                         "  WriteFile: 94436296 ns -> 118045056 ns (+25.00 %)\n"));
    ran_drop(&r);
    r = run("$DWELL perflog %s --fail-if 'mean > +30%%'", compared);
    cr_assert(eq(int, r.status, 0));
    ran_drop(&r);
}

Test(golden_perflog, from_standard_input)
{
    char *read = run_well("cat monitors.log | $DWELL perflog --format json - | grep -v file");
    char *named = run_well("$DWELL perflog --format json monitors.log | grep -v file");
    cr_assert(eq(str, read, named));
    free(read);
    free(named);
}

/* ---- bad logs ---- */

static void expect_perflog(const char *command, int status, const char *said)
{
    struct ran r = run("%s", command);
    cr_assert(eq(int, r.status, status), "%s\n%s", command, r.err);
    cr_assert(eq(str, r.err, (char *)said));
    if (status)
        cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
}

Test(golden_perflog, files_that_are_not_logs)
{
    expect_perflog("$DWELL perflog missing.log", 2, "dwell: missing.log: No such file or directory\n");
    struct ran r = run("$DWELL perflog missing.log --format json");
    cr_assert(has(r.out, "{\"code\": \"no-session\", "), "%s", r.out);
    ran_drop(&r);
    expect_perflog("$DWELL perflog .", 2, "dwell: .: Is a directory\n");
    expect_perflog(": >empty; $DWELL perflog empty", 2, "dwell: empty: no PerfLog: no line has \"## PERF ##\"\n");
    expect_perflog("echo hello | $DWELL perflog -", 2, "dwell: -: no PerfLog: no line has \"## PERF ##\"\n");
    expect_perflog("$DWELL perflog monitors.log /dev/null", 2,
                   "dwell: /dev/null: no PerfLog: no line has \"## PERF ##\"\n");
}

/* A log without a measurement is shown, and is an error. */
Test(golden_perflog, only_a_header)
{
    static const char *const logs[] = { "OSVERSION=[6.0] BUILD=[1234]\\n", "REGISTERED APP [a] PROCCESSID [0x1]\\n",
                                        "REGISTERED MARKER [m] AS [1] BY APP [a]\\n" };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct ran r = run("printf '## PERF ## %s' >header.log; $DWELL perflog header.log", logs[i]);
        cr_assert(eq(int, r.status, 2));
        cr_assert(
            eq(str, r.err, (char *)"dwell: no measurement: no line has DUR, CPU, MEM or another event of a marker\n"));
        ran_drop(&r);
    }
}

/* A device without a name has its platform's, also if brackets without a name say so. */
Test(golden_perflog, device_without_a_name)
{
    static const char *const lines[] = { "", "## PERF ## DEVNAME=[]\\n", "## PERF ## DEVNAME=[CEPC]\\n" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *names =
            run_well("printf '## PERF ## OSVERSION=[6.0] BUILD=[1]\\n## PERF ## PLATFORM=[CEPC] CPU=[x86]\\n%s"
                     "## PERF ## REGISTERED APP [a] PROCCESSID [0x1]\\n## PERF ## APP [a] EVT [1] DUR [5]\\n' |"
                     " $DWELL perflog --format json - 2>/dev/null | grep -o '\"devname\":[^,}]*' || true",
                     lines[i]);
        cr_assert(eq(str, names, (char *)"\"devname\":\"CEPC\"\n"), "%s", lines[i]);
        free(names);
    }
}

Test(golden_perflog, mistakes)
{
    expect_perflog("$DWELL perflog", 2, "dwell: perflog: which FILE? - is standard input\n");
    expect_perflog("$DWELL perflog --diff monitors.log", 2,
                   "dwell: --diff: compares two files, not 1; write -- between those of before and those of after\n");
    expect_perflog("$DWELL perflog --diff --instances monitors.log pairs.log", 2,
                   "dwell: --instances: not with --diff\n");
    expect_perflog("$DWELL perflog --fail-if 'mean > +1%' monitors.log", 2, "dwell: --fail-if: only with --diff\n");
    expect_perflog("$DWELL perflog monitors.log -- pairs.log", 2, "dwell: --: only with --diff\n");
    expect_perflog("$DWELL perflog --diff monitors.log --", 2,
                   "dwell: --diff: give a log of before and one of after\n");
    expect_perflog("$DWELL perflog --diff --fail-if 'mean > 5' monitors.log pairs.log", 2,
                   "dwell: --fail-if 'mean > 5': a time needs a unit: %, ns, us, ms or s\n");
    expect_perflog(
        "$DWELL perflog --sort size monitors.log", 2,
        "dwell: --sort: no column 'size'; there are total, count, min, mean, max, median, p90, p99, stddev, errors, name, order\n");
    expect_perflog("$DWELL perflog --diff --sort order monitors.log pairs.log", 2,
                   "dwell: --sort: no column 'order'; with --diff there are total, mean, name\n");
    expect_perflog("$DWELL perflog --resolution 0 monitors.log", 2, "dwell: --resolution: must be at least 1\n");
}

Test(golden_perflog, the_translated_page)
{
    struct ran r = run("$DWELL perflog scrambled.log");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.out, ""));
    check_text(r.err, "perflog/scrambled.txt");
    ran_drop(&r);
}

/* Its header is complete. The log is read, but has no measurements. */
Test(golden_perflog, the_translated_page_with_its_header)
{
    struct ran r = run("head -n 5 seed.log | cat - scrambled.log | $DWELL perflog --format json -");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.out, "\"bad_lines\": 12"));
    cr_assert(has(r.err, "dwell: no line with a measurement could be understood\n"));
    ran_drop(&r);
}

Test(golden_perflog, bad_lines_are_reported_counted_and_skipped)
{
    struct ran r = run("$DWELL perflog --format json damaged.log");
    cr_assert(eq(int, r.status, 0));
    check_text(r.err, "perflog/damaged.txt");
    check_text(r.out, "perflog/damaged.json");
    ran_drop(&r);
}

Test(golden_perflog, the_number_of_reported_lines_is_limited)
{
    struct ran r =
        run("cp monitors.log many; for i in $(seq 100); do echo '## PERF ## bad'; done >>many; $DWELL perflog many");
    cr_assert(eq(int, r.status, 0));
    cr_assert(has(r.err, "dwell: many:54: neither a header, a marker nor an event: 'bad'\n"), "%s", r.err);
    cr_assert(not(has(r.err, "dwell: many:55:")));
    cr_assert(has(r.err, "dwell: many: 80 more like these\n"));
    cr_assert(has(r.out, "! 100 lines were not understood\n"));
    ran_drop(&r);
}

Test(golden_perflog, durations_without_a_resolution)
{
    expect_perflog(
        "echo '## PERF ## APP [a] EVT [1] DUR [5]' >bare.log; $DWELL perflog --resolution 5 bare.log >/dev/null", 0,
        "");
    struct ran r = run("$DWELL perflog --format json bare.log monitors.log");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(
        str, r.err,
        "dwell: bare.log:1: application 'a' has no RESOLUTION; durations shown in ticks: 1 (set the ticks per second "
        "with --resolution)\n"));
    cr_assert(has(r.out, "\"bad_lines\": 0,"));
    cr_assert(has(r.out, "\"count\":1,\"total_ns\":null"), "%s", r.out);
    cr_assert(has(r.out, "\"total_ticks\":5"), "%s", r.out);
    ran_drop(&r);
    r = run("$DWELL perflog bare.log");
    cr_assert(eq(int, r.status, 0));
    check_text(r.out, "perflog/bare.txt");
    ran_drop(&r);
}

Test(golden_perflog, values_of_macros_and_attributes_in_every_format)
{
    perflog_check_formats("pairs.log", "pairs");
}

Test(golden_perflog, unknown_events_are_reported_once)
{
    struct ran r =
        run("cat seed.log >other.log; for i in 1 2 3; do echo '## PERF ## APP [myperfapp] EVT [1] NOTE [x]'; done "
            ">>other.log; $DWELL perflog other.log");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(str, r.err, "dwell: other.log:12: events of the unknown kind 'NOTE' are only counted\n"));
    cr_assert(has(r.out, "\n! 3 events of the unknown kind NOTE\n"));
    ran_drop(&r);
}
