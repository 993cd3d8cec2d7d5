/* The time model on real recordings: its identities hold to the tick, and waits are distinguished from work. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"
#include "trace/scan.h"

TestSuite(e2e_times, .timeout = 300);

/* The counts that the writer stored in its chunks, a quick scan of them, and the complete decoding agree. */
static void check_counts_of_chunks(const struct session_file *file, const struct profile_counts *counts)
{
    struct scan said = scan_counts(file), seen = scan_session(file, 2);
    cr_assert(eq(u64, said.enters, counts->enters));
    cr_assert(eq(u64, said.exits, counts->exits));
    cr_assert(eq(u64, seen.enters, counts->enters));
    cr_assert(eq(u64, seen.exits, counts->exits));
    scan_free(&seen);
}

static void times_check_file(const char *name)
{
    const char *error = NULL;
    struct outcome o;
    o.file = session_file_open(test_path(name), &error);
    cr_assert(o.file != NULL, "%s", error ? error : "");
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        o.profile = collect_profile(o.file, jobs);
        o.rollup = rollup_new(o.profile);
        cr_assert(gt(u64, o.profile->counts.enters, 0));
        check_identities(&o);
        check_counts_of_chunks(o.file, &o.profile->counts);
        profile_free(o.profile);
        rollup_free(o.rollup);
    }
    session_file_close(o.file);
}

Test(e2e_times, identities)
{
    static const char *const programs[] = {
        "$SAMPLES/fib 22",
        "$SAMPLES/threads 16 5000",
        "$SAMPLES/processes 8",
        "$SAMPLES/cplusplus",
        "$SAMPLES/sleeper 5 100 5",
        "$SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 500 3",
        "$PROGRAMS/jumps-O2",
        "$PROGRAMS/timer 200000",
        "$PROGRAMS/deep 100000",
        "$SAMPLES/crash kill 5000; true",
        "$PROGRAMS/oscalls/odd many",
        "--depth 9 $PROGRAMS/oscalls/odd many",
        "--min 1us $PROGRAMS/oscalls/odd many",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        free(run_well("$DWELL record -q %s", programs[i]));
        times_check_file("dwell.data");
    }
}

/* Each event takes the slow path, so preemptions often come between its look at the OS events and its time. */
Test(e2e_times, time_off_the_cpu_is_flagged)
{
    static const char *const modes[] = { "trace", "profile" };
    for (int i = 0; i < 2; i++) {
        free(run_well("DWELL_CLOCK=monotonic $DWELL record -q --mode %s $SAMPLES/threads 8 60000", modes[i]));
        const char *error = NULL;
        struct session_file *file = session_file_open(test_path("dwell.data"), &error);
        cr_assert(file != NULL, "%s", error ? error : "");
        struct profile *p = collect_profile(file, 2);
        for (size_t j = 0; j < p->node_count; j++) {
            const struct profile_node *node = &p->nodes[j];
            cr_assert(le(u64, node->blocked + node->preempted, node->flagged), "%s", modes[i]);
            cr_assert(le(u64, node->flagged, node->elapsed), "%s", modes[i]);
        }
        profile_free(p);
        session_file_close(file);
    }
}

Test(e2e_times, one_recording_gives_one_report_however_many_read_it)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 8 20000"));
    char *one = run_well("$DWELL report --jobs 1 --format csv && $DWELL report --jobs 1 --by thread -n 0");
    for (int jobs = 2; jobs < 6; jobs++) {
        char *more =
            run_well("$DWELL report --jobs %d --format csv && $DWELL report --jobs %d --by thread -n 0", jobs, jobs);
        cr_assert(eq(str, more, one));
        free(more);
    }
    free(one);
}

/* Between its last event and its end a thread may be preempted, but it does not wait. rseq also reports some other
 * interruptions. The nouns are not compared, as one preemption has no plural. */
static void check_switches(unsigned long least, bool exact)
{
    unsigned long recorded, all, waits, preemptions, threads;
    char *info = run_well("$DWELL info | grep ^switches");
    cr_assert(eq(int,
                 sscanf(info, "switches %lu recorded; by the kernel's own count %lu (%lu %*s %lu %*s in %lu thread",
                        &recorded, &all, &waits, &preemptions, &threads),
                 5),
              "%s", info);
    cr_assert(eq(ulong, waits + preemptions, all));
    cr_assert(ge(ulong, waits, least), "%s", info);
    if (exact)
        cr_assert(recorded <= all && recorded >= waits, "%s", info);
    free(info);
}

/* doze sleeps, busy (by churn) computes. Other work on the machine may flag some of churn's intervals. */
static void check_sleeper(const char *source)
{
    free(run_well("$DWELL record -q --os-events %s $SAMPLES/sleeper 20 1000 10", source));
    char *info = run_well("$DWELL info | grep -A 1 'EVENTS FROM'");
    cr_assert(has(info, source), "this machine does not offer %s: %s", source, info);
    free(info);
    struct report *r = report_of("");
    uint64_t slept = report_sum(r, "function", "doze", "elapsed_inclusive_ns");
    cr_assert(ge(u64, slept, 200000000));
    cr_assert(lt(u64, report_sum(r, "function", "doze", "application_inclusive_ns"), slept / 20));
    cr_assert(gt(u64, report_sum(r, "function", "busy", "elapsed_inclusive_ns"), 10000000));
    cr_assert(gt(u64, report_sum(r, "function", "churn", "application_exclusive_ns"), 0));
    cr_assert(gt(u64, report_session(r, "os_events"), 19));
    report_drop(r);
    check_switches(20, strcmp(source, "perf") == 0);
}

Test(e2e_times, a_sleeper_by_perf)
{
    check_sleeper("perf");
}

Test(e2e_times, a_sleeper_by_rseq)
{
    check_sleeper("rseq");
}

/* The first screen separates the function that computes from the wait, and names who waits. */
Test(e2e_times, work_comes_before_waits)
{
    free(run_well("$DWELL record -q $SAMPLES/sleeper 20 100 20"));
    char *text = run_well("$DWELL report");
    const char *work = strstr(text, "\nWork, by exclusive CPU time: "), *busy = strstr(text, " churn\n"),
               *waits = strstr(text, "\nWaits, by blocked time: "),
               *wait = strstr(waits ? waits : text, " nanosleep\n");
    cr_assert(work && busy && waits && wait, "%s", text);
    cr_assert(work < busy && busy < strstr(work, " main\n") && busy < waits, "%s", text);
    cr_assert(has(waits, " doze "), "%s", text);
    free(text);
    text = run_well("$DWELL tree | grep '\\*' | grep -o '[a-z]*$' | tr '\\n' ' '");
    cr_assert(eq(str, text, "main busy churn "));
    free(text);
}

Test(e2e_times, application_times_are_not_invented)
{
    free(run_well("$DWELL record -q --os-events none $SAMPLES/sleeper 2 10 1"));
    struct report *r = report_of("");
    cr_assert(report_null(r, "function", "doze", "application_inclusive_ns"));
    cr_assert(report_null(r, "function", "busy", "application_exclusive_percent"));
    cr_assert(not(report_null(r, "function", "busy", "elapsed_exclusive_ns")));
    report_drop(r);
    char *text = run_well("$DWELL report");
    cr_assert(has(text, "application unknown"));
    free(text);
}

Test(e2e_times, the_interval_before_exit)
{
    /* The program's last probe is main's enter. It then sleeps 50 ms, and ends by _exit. */
    free(run_well("$DWELL record -q $PROGRAMS/lastsleep"));
    struct report *r = report_of("");
    cr_assert(ge(u64, report_sum(r, "function", "main", "elapsed_inclusive_ns"), 50000000));
    cr_assert(lt(u64, report_sum(r, "function", "main", "application_inclusive_ns"), 25000000));
    report_drop(r);
}

/* Threads that still wait when the process ends are not counted as working, although no record ends their wait. They
 * may be preempted before it. */
static void check_waiting(const char *mode)
{
    struct report *r = report_of("");
    static const char *const names[] = { "waits", "polls" };
    for (int j = 0; j < 2; j++) {
        const uint64_t elapsed = report_sum(r, "function", names[j], "elapsed_inclusive_ns"),
                       blocked = report_sum(r, "function", names[j], "blocked_inclusive_ns");
        cr_assert(ge(u64, blocked, 45000000), "%s %s", mode, names[j]);
        cr_assert(gt(u64, blocked + report_sum(r, "function", names[j], "preempted_inclusive_ns"), elapsed / 10 * 9),
                  "%s %s", mode, names[j]);
        cr_assert(lt(u64, report_sum(r, "function", names[j], "cpu_inclusive_ns"), elapsed / 10), "%s %s", mode,
                  names[j]);
    }
    report_drop(r);
}

Test(e2e_times, waits_that_do_not_end)
{
    static const char *const modes[] = { "trace", "profile", "ring" }, *const calls[] = { "", "--no-os-calls" };
    for (int i = 0; i < 6; i++) {
        free(run_well("$DWELL record -q --os-events perf --mode %s %s $PROGRAMS/lastwait", modes[i / 2], calls[i % 2]));
        check_waiting(modes[i / 2]);
    }
}

/* No record says that they waited, but they were in rows of libc. */
Test(e2e_times, waits_that_a_kill_ends)
{
    static const char *const modes[] = { "trace", "profile", "ring" };
    for (int i = 0; i < 3; i++) {
        struct ran r = run("$DWELL record -q --os-events perf --mode %s $PROGRAMS/lastwait killed", modes[i]);
        cr_assert(eq(int, r.status, 128 + 9));
        ran_drop(&r);
        check_waiting(modes[i]);
    }
}

static uint64_t function_value(const struct report *r, const char *function, const char *key)
{
    return report_sum(r, "function", function, key);
}

/* Records a program by that command until the function's CPU time is within one percent of the kernel's. If the host
 * of a virtual machine takes a processor away in the middle of a switch, the kernel and the switch's record have it at
 * different times. So one of three runs must agree. The caller drops the report. */
static struct report *record_near(const char *command, const char *mode, const char *function, const char *key)
{
    for (int try = 1;; try++) {
        char *out = run_well(command, mode);
        struct report *r = report_of("");
        const uint64_t found = function_value(r, function, key), wanted = truth(out, "cpu"),
                       whole = function_value(r, function, "elapsed_inclusive_ns"),
                       difference = found > wanted ? found - wanted : wanted - found;
        free(out);
        if (difference <= whole / 100)
            return r;
        cr_assert(lt(int, try, MOST_TRIES), "%s, mode %s: %ju instead of %ju", function, mode, (uintmax_t)found,
                  (uintmax_t)wanted);
        report_drop(r);
    }
}

static void check_waits(const char *mode)
{
    /* The rest of measured's elapsed time is blocked and preempted. */
    struct report *r = record_near("$DWELL record -q --mode %s --os-events perf --no-follow $PROGRAMS/waits", mode,
                                   "measured", "cpu_inclusive_ns");
    cr_assert(ge(u64, function_value(r, "sleeps", "blocked_inclusive_ns"), 30000000));
    cr_assert(ge(u64, function_value(r, "locks", "blocked_inclusive_ns"), 30000000));
    cr_assert(ge(u64, function_value(r, "reads", "blocked_inclusive_ns"), 30000000));
    cr_assert(eq(u64, function_value(r, "works", "blocked_inclusive_ns"), 0));
    cr_assert(gt(u64, function_value(r, "works", "preempted_exclusive_ns"), 0));
    static const char *const names[] = { "main", "measured", "sleeps", "locks", "reads", "works" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const uint64_t sum = function_value(r, names[i], "cpu_exclusive_ns") +
                             function_value(r, names[i], "blocked_exclusive_ns") +
                             function_value(r, names[i], "preempted_exclusive_ns"),
                       whole = function_value(r, names[i], "elapsed_exclusive_ns");
        cr_assert(le(u64, sum > whole ? sum - whole : whole - sum, 2), "%s", names[i]); /* each is rounded */
    }
    report_drop(r);
    char *hot = run_well("$DWELL report --hot --format csv | tr -d '\\r' | cut -d, -f 1,6- | head -n 2");
    cr_assert(has(hot, "function,cpu_exclusive_ns,cpu_inclusive_ns,elapsed_exclusive_ns,waiting_percent\nworks,"), "%s",
              hot);
    free(hot);
    check_switches(3, true);
}

Test(e2e_times, blocked_and_preempted_as_the_kernel_counts_them)
{
    check_waits("trace");
    check_waits("profile");
}

/* More waits than fit into the ring. Their times are lost, but not their number or their length. */
Test(e2e_times, more_waits_than_the_ring_has_room_for)
{
    static const char *const modes[] = { "trace", "profile", "ring" };
    for (int i = 0; i < 3; i++) {
        report_drop(record_near("$DWELL record -q --mode %s --os-events perf --no-os-calls $PROGRAMS/storm", modes[i],
                                "storm", "cpu_exclusive_ns"));
        check_switches(1000, true); /* some sleeps are over before they begin */
        char *info = run_well("$DWELL info | grep ^note");
        cr_assert(
            has(info, "intervals with hundreds of OS events: how long these took is known, but not when each was"),
            "%s", info);
        free(info);
    }
}

Test(e2e_times, columns)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 10"));
    char *csv = run_well("$DWELL report --columns page_faults,calls,max_ns --format csv | head -n 1");
    cr_assert(eq(str, csv, "function,module,file,line,page_faults,calls,max_ns\r\n"));
    free(csv);
    /* the unit is that of the largest time, which is longer on a busy machine */
    char *text = run_well("$DWELL tree --columns cpu_inclusive | sed '/^$/,$d; s/ ms / us /'");
    cr_assert(has(text, "CPU.INCL us HOT CALL PATH\n"), "%s", text);
    free(text);
    char *callers = run_well("$DWELL callers --columns calls,blocked_exclusive fib | head -1 | sed 's/ ms / us /'");
    cr_assert(has(callers, "SHARE % CALLS BL.EXCL us"), "%s", callers);
    free(callers);
    char *help = run_well("$DWELL report --columns help");
    cr_assert(has(help, "preempted_exclusive "), "%s", help);
    free(help);
    struct ran r = run("$DWELL report --columns calls,colour");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: --columns: no column 'colour'; --columns help lists them\n"));
    ran_drop(&r);
}

#define SHIFTED(seconds) "unshare -T -f --monotonic " seconds " "

static void times_need_namespaces(void)
{
    struct ran r = run(SHIFTED("-5") "true");
    const bool can = r.status == 0;
    ran_drop(&r);
    if (!can)
        cr_skip_test("no time namespaces here");
}

/* In a time namespace, the process' clocks are shifted, and those of perf events are not. */
Test(e2e_times, time_namespaces)
{
    static const char *const commands[] = {
        "$DWELL record -q " SHIFTED("-5"),
        "$DWELL record -q " SHIFTED("100000"),
        "$DWELL record -q --mode profile " SHIFTED("-5"),
        "DWELL_CLOCK=monotonic " SHIFTED("-5") "$DWELL record -q ",
        "DWELL_CLOCK=monotonic " SHIFTED("100000") "$DWELL record -q ",
    };
    times_need_namespaces();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        free(run_well("%s$SAMPLES/sleeper 10 20 20", commands[i]));
        struct report *r = report_of("");
        const uint64_t blocked = report_sum(r, "function", "doze", "blocked_inclusive_ns");
        cr_expect(ge(u64, blocked, 10 * 19000000), "%s", commands[i]);
        cr_expect(le(u64, blocked, report_sum(r, "function", "doze", "elapsed_inclusive_ns")), "%s", commands[i]);
        report_drop(r);
    }
}

/* The recorder, which takes the samples, may be in the namespace. */
Test(e2e_times, samples_in_time_namespaces)
{
    static const char *const shifts[] = { SHIFTED("-5"), SHIFTED("100000") };
    times_need_namespaces();
    for (int i = 0; i < 2; i++) {
        free(run_well("%s $DWELL record -q --sample 1000 --level counted=churn $SAMPLES/sleeper 1 10000 0", shifts[i]));
        char *report = run_well("$DWELL report"); /* the number of samples that belong to a call */
        cr_expect(has(report, " samples\n"), "%s%s", shifts[i], report);
        free(report);
    }
}
