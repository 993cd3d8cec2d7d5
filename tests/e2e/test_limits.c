/* Limits on the size of a session: --max-size, --keep-free, and the warning of a large one. The program goes on, and
 * each of its calls is recorded or counted. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_limits, .timeout = 300, .init = without_os_calls);

#define SIZE_REASON "events were lost: the session had its maximum size (--max-size)\n"
#define FREE_REASON "events were lost: too little of the disk was free (--keep-free)\n"

static uint64_t limits_sum_of_calls(const char *out)
{
    uint64_t sum = 0;
    for (const char *line = out; (line = strstr(line, "calls ")) != NULL; line++) {
        const char *end = strchrnul(line, '\n'), *number = end;
        while (number > line && number[-1] != ' ')
            number--;
        sum += strtoull(number, NULL, 10);
    }
    return sum;
}

/* Recorded and lost events are all enters and exits of the calls that the program counts. */
static void limits_check_account(const char *out, const char *file, uint64_t replaced)
{
    struct report *r = report_of(file);
    const uint64_t recorded = report_session(r, "events"), lost = report_session(r, "lost_events");
    cr_assert(gt(u64, recorded, 0));
    cr_assert(eq(u64, recorded + lost + replaced, 2 * limits_sum_of_calls(out)), "%s", out);
    report_drop(r);
}

static uint64_t limits_replaced(void)
{
    char *text = run_well("$DWELL info | grep -o '[0-9]* older events were replaced' || true");
    const uint64_t number = strtoull(text, NULL, 10);
    free(text);
    return number;
}

static uint64_t limits_file_size(const char *name)
{
    struct stat status;
    cr_assert(eq(int, stat(test_path(name), &status), 0));
    return (uint64_t)status.st_size;
}

/* The recorder adds the symbols and ends behind the limit. */
enum { LIMITS_MAX_ADDED = 600 << 10 };

static void limits_check_stop(const char *options, const char *command)
{
    struct ran r = run("timeout 300 $DWELL record -q --max-size 1M %s %s", options, command);
    cr_assert(eq(int, r.status, 0), "%s: %s", command, r.err);
    cr_assert(has(r.err, SIZE_REASON), "%s %s: %s", options, command, r.err);
    limits_check_account(r.out, "", 0);
    cr_assert(le(u64, limits_file_size("dwell.data"), (1 << 20) + LIMITS_MAX_ADDED), "%s", command);
    char *info = run_well("$DWELL info"), *report = run_well("$DWELL report");
    cr_assert(has(info, "recording ended after ") && has(info, "--max-size"), "%s", info);
    cr_assert(has(report, "recording ended after ") && has(report, "--max-size"), "%s", report);
    free(info);
    free(report);
    ran_drop(&r);
}

Test(e2e_limits, recording_stops_at_the_size)
{
    limits_check_stop("", "$SAMPLES/fib 24");
    limits_check_stop("", "$SAMPLES/threads 4 100000");
    limits_check_stop("", "$SAMPLES/threads --waves 20 4 10000");
    limits_check_stop("--suppress nothing_of_that_name", "env A=b $SAMPLES/fib 24");
    limits_check_stop("--call-sites", "$SAMPLES/fib 24");
    limits_check_stop("", "$PROGRAMS/static-dwell 24");
    limits_check_stop("--mode ring=1G", "$SAMPLES/threads 4 100000");
    limits_check_stop("", "sh -c 'for i in 1 2 3 4; do $SAMPLES/fib 22 & done; wait'");
    limits_check_stop("", "sh -c 'for i in 1 2 3 4; do $SAMPLES/fib 22; done; exit 0'");
}

Test(e2e_limits, the_helper_is_not_needed)
{
    setenv("DWELL_HELPER", "off", 1);
    limits_check_stop("", "$SAMPLES/fib 24");
    limits_check_stop("", "$SAMPLES/threads 4 100000");
}

/* Sums by call path need little space: the limit is not reached. */
Test(e2e_limits, mode_profile_stays_below)
{
    char *out = run_well("$DWELL record -q --mode profile --max-size 1M $SAMPLES/threads 4 100000");
    struct report *r = report_of("");
    check_counts(out, r, 3);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(out);
    /* Each thread has a tree: a thousand threads at once reach it. */
    struct ran many = run("$DWELL record -q --mode profile --max-size 1M $PROGRAMS/scarcity/crowd 300 65536 100");
    cr_assert(eq(int, many.status, 0), "%s", many.err);
    limits_check_account(many.out, "", 0);
    ran_drop(&many);
}

Test(e2e_limits, exit_statuses_and_signals)
{
    struct ran r = run("$DWELL record -q --max-size 1M sh -c '$SAMPLES/fib 24 >/dev/null; exit 3'");
    cr_assert(eq(int, r.status, 3));
    ran_drop(&r);
    r = run("exec $DWELL record -q --max-size 1M sh -c '$SAMPLES/fib 24 >/dev/null; kill -9 $$'");
    cr_assert(eq(int, r.status, -9));
    ran_drop(&r);
}

static void limits_check_ring(const char *command)
{
    struct ran r = run("timeout 300 $DWELL record -q --max-size 2M,ring %s", command);
    cr_assert(eq(int, r.status, 0), "%s: %s", command, r.err);
    const uint64_t replaced = limits_replaced();
    cr_assert(gt(u64, replaced, 0), "%s", command);
    limits_check_account(r.out, "", replaced);
    cr_assert(le(u64, limits_file_size("dwell.data"), (2 << 20) + LIMITS_MAX_ADDED), "%s", command);
    struct report *report = report_of("--by process");
    check_sums(report, "process");
    report_drop(report);
    ran_drop(&r);
}

/* The newest events are kept: nothing is lost, and what the program did last is there. */
Test(e2e_limits, a_ring_in_the_whole_session)
{
    limits_check_ring("$SAMPLES/fib 26");
    limits_check_ring("$SAMPLES/threads 4 200000");
    limits_check_ring("$SAMPLES/threads --waves 40 4 20000");
    limits_check_ring("--call-sites $SAMPLES/fib 26");
    struct ran r = run("$DWELL record -q --max-size 2M,ring sh -c '$SAMPLES/fib 26; exit 4'");
    cr_assert(eq(int, r.status, 4), "%s", r.err);
    cr_assert(eq(str, r.err, ""));
    ran_drop(&r);
    free(run_well("$DWELL replay --format csv | tail -1 | grep -q main"));
}

/* A ring of a few chunks has events in most of them: eight bytes a call. */
Test(e2e_limits, a_small_ring_is_used)
{
    static const char *const commands[] = { "$SAMPLES/fib 26", "$SAMPLES/threads 1 200000" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        free(run_well("$DWELL record -q --max-size 1M,ring %s", commands[i]));
        struct report *r = report_of("");
        cr_expect(ge(u64, 4 * report_session(r, "events"), 1 << 19), "%s", commands[i]);
        report_drop(r);
    }
}

Test(e2e_limits, a_ring_that_is_large_enough_keeps_all)
{
    char *out = run_well("$DWELL record -q --max-size 1G,ring $SAMPLES/threads 4 10000");
    struct report *r = report_of("");
    check_counts(out, r, 3);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(out);
}

Test(e2e_limits, free_space_of_the_disk)
{
    struct ran r = run(
        "mkdir small; unshare -m sh -c 'mount -t tmpfs -o size=16m none small; timeout 300 $DWELL record -q %s -o small/x "
        "$SAMPLES/threads 4 1000000; s=$?; df --output=avail -k small | tail -1 > free; cp small/x x; exit $s'",
        "--keep-free 12M");
    if (r.status != 0 && has(r.err, "unshare"))
        cr_skip_test("no mount namespaces here");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, FREE_REASON), "%s", r.err);
    limits_check_account(r.out, "x", 0);
    free(run_well("test $(cat free) -gt 11000"));
    char *info = run_well("$DWELL info x");
    cr_assert(has(info, "too little of the disk was free (--keep-free)"), "%s", info);
    free(info);
    ran_drop(&r);
}

/* More than any disk has, without the recorder: nothing fits. */
Test(e2e_limits, free_space_that_no_disk_has)
{
    free(run_well(
        "env DWELL_OUTPUT=dwell.data DWELL_KEEP_FREE=18446744073709551615 LD_PRELOAD=$RUNTIME $SAMPLES/fib 5"));
    char *info = run_well("$DWELL info; $DWELL report");
    cr_assert(has(info, "too little of the disk was free (--keep-free)"), "%s", info);
    cr_assert(has(info, "\n! recording ended after "), "%s", info);
    cr_assert(has(info, "(--keep-free); make room, or choose another place with -o\n"), "%s", info);
    free(info);
}

/* By default, 5 % of a small disk stay free: 800 of 16,384 KiB. */
Test(e2e_limits, free_space_by_default)
{
    struct ran r = run(
        "mkdir small; unshare -m sh -c 'mount -t tmpfs -o size=16m none small; timeout 300 $DWELL record -q -o small/x "
        "$SAMPLES/threads 4 2000000; s=$?; df --output=avail -k small | tail -1 > free; cp small/x x; exit $s'");
    if (r.status != 0 && has(r.err, "unshare"))
        cr_skip_test("no mount namespaces here");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, FREE_REASON), "%s", r.err);
    limits_check_account(r.out, "x", 0);
    free(run_well("test $(cat free) -gt 300"));
    ran_drop(&r);
}

Test(e2e_limits, without_a_recorder)
{
    char *out = run_well("env DWELL_OUTPUT=dwell.data DWELL_MAX_SIZE=1048576 LD_PRELOAD=$RUNTIME $SAMPLES/fib 24");
    limits_check_account(out, "", 0);
    cr_assert(le(u64, limits_file_size("dwell.data"), 1 << 20));
    free(out);
}

/* One line, while the program runs. */
Test(e2e_limits, a_warning_of_a_large_session)
{
    struct ran r = run("DWELL_WARN_SIZE=1000000 $DWELL record -q sh -c '$SAMPLES/threads 4 100000; "
                       "until grep -q GiB .err; do sleep 0.05; done; $SAMPLES/threads 4 100000'");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, "dwell: dwell.data has 0.0 GiB and grows; --max-size, "), "%s", r.err);
    cr_assert(eq(ptr, strchr(r.err, '\n'), strrchr(r.err, '\n')), "more than one line: %s", r.err);
    ran_drop(&r);
    r = run("DWELL_WARN_SIZE=0 $DWELL record -q $SAMPLES/threads 4 100000; $DWELL record -q $SAMPLES/fib 5");
    cr_assert(eq(str, r.err, ""));
    ran_drop(&r);
}

Test(e2e_limits, merged_sessions)
{
    free(run_well("$DWELL record -q --max-size 1M -o a $SAMPLES/fib 24 2>/dev/null; "
                  "$DWELL record -q --max-size 1M -o b $SAMPLES/fib 24 2>/dev/null; $DWELL merge -o dwell.data a b"));
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "recording ended after ") && has(info, "--max-size"), "%s", info);
    free(info);
    char *out = run_well("$DWELL record -q --max-size 1M,ring -o a $SAMPLES/fib 24; "
                         "$DWELL record -q --max-size 1M,ring -o b $SAMPLES/fib 24; $DWELL merge -o dwell.data a b");
    limits_check_account(out, "", limits_replaced());
    free(out);
}

Test(e2e_limits, mistakes)
{
    static const struct {
        const char *options, *message;
    } cases[] = {
        { "--max-size 1", "--max-size: '1' is not a number of bytes from 1M on" },
        { "--max-size 2G,rung", "--max-size: 'rung' is none of ring" },
        { "--max-size 9G,ring", "--max-size: '9G' is not a number of bytes from 1M to 8G" },
        { "--max-size 2G,ring --mode profile", "--max-size: ring is for --mode trace" },
        { "--keep-free x", "--keep-free: 'x' is not a number of bytes" },
        { "--keep-free 17179869184G", "--keep-free: '17179869184G' is not a number of bytes" }, /* 2^64 */
    };
    static const char *const variables[] = { "DWELL_KEEP_FREE", "DWELL_WARN_SIZE" };
    for (size_t i = 0; i < 2; i++) {
        struct ran r = run("%s=4Q $DWELL record $SAMPLES/fib 5", variables[i]);
        cr_assert(eq(int, r.status, 125), "%s", variables[i]);
        cr_assert(has(r.err, "'4Q' is not a number of bytes"), "%s: %s", variables[i], r.err);
        ran_drop(&r);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ran r = run("$DWELL record %s $SAMPLES/fib 5", cases[i].options);
        cr_assert(eq(int, r.status, 125), "%s", cases[i].options);
        cr_assert(has(r.err, cases[i].message), "%s: %s", cases[i].options, r.err);
        ran_drop(&r);
    }
}
