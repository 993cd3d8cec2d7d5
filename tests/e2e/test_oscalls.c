/* OS calls as rows, each with its calls, its callers and its own time. Programs see no difference from a run without
 * dwell. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_oscalls, .timeout = 300);

#define PARTS "$PROGRAMS/oscalls/"

static const char *const settings[] = {
    "", "--mode profile", "--mode ring=1G", "--os-events rseq", "--os-events none", "--min 0ns",
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* The report's rows of libc contain only calls that the program counted. */
static void check_rows_of_libc(const char *out)
{
    char *rows = run_well(
        "$DWELL report -n 0 --format csv | tr -d '\\r' | awk -F, '$2 ~ /^libc.so/ { print \"calls\", $1, $5 }' "
        "| LC_ALL=C sort");
    const char *counts = strstr(out, "\ncalls ");
    cr_assert(counts != NULL, "%s", out);
    cr_assert(eq(str, rows, (char *)counts + 1));
    free(rows);
}

/* All functions that the runtime wraps: their results, errno and data. */
Test(e2e_oscalls, every_function)
{
    char *alone = run_well("timeout 300 " PARTS "every $PWD/every-XXXXXX");
    cr_assert(not(has(alone, "failed")), "%s", alone);
    for (int i = 0; i < SETTINGS; i++) {
        char *out = run_well("timeout 300 $DWELL record -q %s " PARTS "every $PWD/every-XXXXXX", settings[i]);
        cr_assert(eq(str, out, alone), "%s", settings[i]);
        check_rows_of_libc(out);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        check_sums(r, "function");
        report_drop(r);
        free(out);
    }
    free(alone);
}

Test(e2e_oscalls, callers_and_times)
{
    free(run_well("$DWELL record -q " PARTS "every $PWD/every-XXXXXX"));
    char *paths = report_paths("");
    static const char *const wanted[] = {
        "main/on_files/opening/open 9\n",
        "main/on_files/reading/read 12\n",
        "main/on_streams/fgets 6\n",
        "main/on_sockets/descriptors/poll 3\n",
        "main/with_threads/waiting/pthread_cond_wait 3\n",
        "other_thread/pthread_mutex_lock 3\n",
        "main/with_processes/posix_spawn 9\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_assert(has(paths, wanted[i]), "%s: %s", wanted[i], paths);
    free(paths);
    struct report *r = report_of("");
    static const char *const flagged[] = { "read", "write", "poll", "mmap", "nanosleep", "waitpid", "pthread_cond_wait",
                                           "fgets" };
    for (size_t i = 0; i < sizeof flagged / sizeof *flagged; i++) {
        cr_assert(gt(u64, report_sum(r, "function", flagged[i], "elapsed_exclusive_ns"), 0), "%s", flagged[i]);
        cr_assert(eq(u64, report_sum(r, "function", flagged[i], "application_inclusive_ns"), 0), "%s", flagged[i]);
    }
    report_drop(r);
}

/* doze sleeps 20 times 10 ms. */
Test(e2e_oscalls, sleeping_is_not_the_callers_own_time)
{
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q %s $SAMPLES/sleeper 20 100 10", settings[i]));
        struct report *r = report_of("");
        const uint64_t slept = report_sum(r, "function", "nanosleep", "elapsed_exclusive_ns");
        cr_assert(eq(u64, report_sum(r, "function", "nanosleep", "calls"), 20));
        cr_assert(ge(u64, slept, 200000000));
        cr_assert(eq(u64, report_sum(r, "function", "nanosleep", "application_inclusive_ns"), 0));
        cr_assert(lt(u64, report_sum(r, "function", "doze", "elapsed_exclusive_ns"), slept));
        cr_assert(ge(u64, report_sum(r, "function", "doze", "elapsed_inclusive_ns"), slept));
        report_drop(r);
    }
}

/* A call is a row if it writes to the file, and none if it only copies into the buffer. A formatted text is also a row
 * if less than 256 bytes of the buffer are left, but its interval is flagged only if it is written. */
Test(e2e_oscalls, output_is_a_row_where_it_leaves_the_buffer)
{
    static const char wanted[] =
        "main 1\nmain/blocks 1\nmain/blocks/fwrite 2\nmain/bytes 1\nmain/bytes/fputc 2\n"
        "main/faults 1\nmain/faults/fprintf 1\nmain/fopen 8\nmain/full 1\nmain/full/fputc 1\nmain/in_memory 1\n"
        "main/in_memory/fflush 1\nmain/large 1\nmain/large/fwrite 1\nmain/line_by_line 1\n"
        "main/line_by_line/fprintf 2\nmain/line_by_line/fputc 1\n"
        "main/line_by_line/fputs 1\nmain/line_by_line/fwrite 1\nmain/mmap 1\nmain/texts 1\n"
        "main/texts/fputs 12\nmain/to_stdout 1\nmain/to_stdout/puts 7\nmain/unbuffered 1\n"
        "main/unbuffered/fprintf 2\nmain/unbuffered/fputc 1\nmain/unbuffered/fputs 1\n";
    char *alone = run_well(PARTS "output | cksum");
    for (int i = 0; i < SETTINGS; i++) {
        char *out = run_well("$DWELL record -q %s " PARTS "output | cksum", settings[i]);
        char *paths = report_paths("");
        cr_assert(eq(str, out, alone), "%s", settings[i]);
        cr_assert(eq(str, paths, (char *)wanted), "%s", settings[i]);
        free(paths);
        free(out);
    }
    free(alone);
}

/* 50 MB are written by one call. Its time is the OS's, and its caller has almost no time of its own. */
Test(e2e_oscalls, writing_inside_of_a_stream_is_not_the_callers_own_time)
{
    free(run_well("$DWELL record -q " PARTS "output"));
    struct report *r = report_of("");
    const uint64_t all = report_sum(r, "function", "large", "elapsed_inclusive_ns");
    cr_assert(gt(u64, report_sum(r, "function", "fwrite", "elapsed_exclusive_ns"), all / 2));
    cr_assert(eq(u64, report_sum(r, "function", "fwrite", "application_inclusive_ns"), 0));
    cr_assert(eq(u64, report_sum(r, "function", "puts", "application_inclusive_ns"), 0));
    cr_assert(lt(u64, report_sum(r, "function", "large", "application_inclusive_ns"), all / 10));
    report_drop(r);
}

Test(e2e_oscalls, switched_off)
{
    static const char *const ways[] = { "$DWELL record -q --no-os-calls", "DWELL_OS_CALLS=off $DWELL record -q",
                                        "DWELL_OS_CALLS=off DWELL_OUTPUT=dwell.data LD_PRELOAD=$RUNTIME" };
    for (int i = 0; i < 3; i++) {
        free(run_well("rm -f dwell.data; %s $SAMPLES/sleeper 2 10 1", ways[i]));
        char *paths = report_paths("");
        cr_assert(eq(str, paths, "main 1\nmain/busy 2\nmain/busy/churn 20\nmain/doze 2\n"), "%s", ways[i]);
        free(paths);
    }
}

/* ---- filters ---- */

static void check_filter(const char *filters, const char *wanted)
{
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q %s %s $SAMPLES/sleeper 2 1 1", settings[i], filters));
        char *paths = report_paths("");
        cr_assert(eq(str, paths, (char *)wanted), "%s %s", settings[i], filters);
        free(paths);
    }
}

Test(e2e_oscalls, os_calls_with_filters)
{
    check_filter("--suppress churn", "main 1\nmain/busy 2\nmain/doze 2\nmain/doze/nanosleep 2\n");
    check_filter("--suppress nanosleep", "main 1\nmain/busy 2\nmain/busy/churn 2\nmain/doze 2\n");
    check_filter("--suppress module:libc.so.6", "main 1\nmain/busy 2\nmain/busy/churn 2\nmain/doze 2\n");
    check_filter("--ignore doze", "main 1\nmain/busy 2\nmain/busy/churn 2\n");
    check_filter("--ignore nanosleep --suppress busy", "main 1\nmain/churn 2\nmain/doze 2\n");
    check_filter("--only nanosleep --only main", "main 1\nmain/nanosleep 2\n");
    check_filter("--only file:sleeper.c", "main 1\nmain/busy 2\nmain/busy/churn 2\nmain/doze 2\n");
    check_filter("--depth 2", "main 1\nmain/busy 2\nmain/doze 2\n");
    check_filter("--start-on nanosleep",
                 "main 0\nmain/busy 1\nmain/busy/churn 1\nmain/doze 1\nmain/doze/nanosleep 2\n");
    struct ran r = run("$DWELL record -q --no-os-calls --strict-filters --only nanosleep $SAMPLES/sleeper 2 1 1");
    cr_assert(ne(int, r.status, 0));
    cr_assert(has(r.err, "--only: pattern 'nanosleep' matches no instrumented function of"), "%s", r.err);
    ran_drop(&r);
}

/* ---- unusual moments ---- */

static void check_odd(const char *way, const char *wanted)
{
    for (int i = 0; i < SETTINGS; i++) {
        free(run_well("timeout 300 $DWELL record -q %s " PARTS "odd %s", settings[i], way));
        char *paths = report_paths("");
        cr_assert(eq(str, paths, (char *)wanted), "%s %s", settings[i], way);
        free(paths);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
    }
}

Test(e2e_oscalls, cancelled_threads)
{
    check_odd("cancelled",
              "in_read 5\nin_read/cleanup 5\nin_read/read 5\n"
              "in_sleep 5\nin_sleep/cleanup 5\nin_sleep/sleep 5\n"
              "in_wait 5\nin_wait/cleanup 5\nin_wait/cleanup/pthread_mutex_unlock 5\nin_wait/pthread_cond_wait 5\n"
              "main 1\nmain/cancelled 1\nmain/cancelled/pthread_create 15\nmain/cancelled/pthread_join 15\n");
}

Test(e2e_oscalls, os_calls_in_handlers)
{
    check_odd("jumped", "main 1\nmain/jumped 1\nmain/jumped/interrupt_by 4\nmain/jumped/interrupt_by/pthread_create 4\n"
                        "main/jumped/wait_for_byte 5\nmain/jumped/wait_for_byte/read 5\n"
                        "main/jumped/wait_for_byte/read/leave 4\nmain/jumped/write 1\n");
    check_odd("handled",
              "main 1\nmain/handled 1\nmain/handled/interrupt_by 4\nmain/handled/interrupt_by/pthread_create 4\n"
              "main/handled/wait_for_byte 4\nmain/handled/wait_for_byte/read 4\n"
              "main/handled/wait_for_byte/read/answer 4\nmain/handled/wait_for_byte/read/answer/write 4\n");
}

Test(e2e_oscalls, os_calls_outside_instrumented_functions)
{
    check_odd("root", "main 1\nmain/at_root 1\nmain/at_root/pthread_create 1\nmain/at_root/pthread_join 1\n"
                      "main/at_root/read 1\n");
}

Test(e2e_oscalls, os_calls_in_children)
{
    check_odd("forked", "main 1\nmain/forked 1\nmain/forked/child_work 1\nmain/forked/child_work/write 1\n"
                        "main/forked/wait_for_byte 2\nmain/forked/wait_for_byte/read 2\nmain/forked/waitpid 1\n");
    check_odd("vfork", "main 1\nmain/by_vfork 1\nmain/by_vfork/wait_for_byte 1\nmain/by_vfork/wait_for_byte/read 1\n"
                       "main/by_vfork/waitpid 1\nmain/by_vfork/write 1\n");
    check_odd("shell", "main 1\nmain/from_shell 1\nmain/from_shell/system 1\n");
}

/* The calls fill several chunks. */
Test(e2e_oscalls, many_os_calls)
{
    check_odd("many", "main 1\nmain/many 1\nmain/many/close 1\nmain/many/open 1\nmain/many/write 100000\n");
}

Test(e2e_oscalls, errors_and_errno)
{
    check_odd("errors", "main 1\nmain/errors 1\nmain/errors/mmap 1\nmain/errors/read 2\nmain/errors/write 1\n");
}

/* A function that the program defines itself is called as without dwell. It has a row because it is instrumented. */
Test(e2e_oscalls, functions_that_the_program_has_itself)
{
    char *alone = run_well(PARTS "own"), *out = run_well("$DWELL record -q " PARTS "own");
    cr_assert(eq(str, out, alone));
    char *paths = run_well("$DWELL report -n 0 --format csv | tr -d '\\r' | awk -F, '$1 == \"read\" || $1 == \"write\" "
                           "{ print $1, $2, $5 }' | LC_ALL=C sort");
    cr_assert(eq(str, paths, "read own 10\nwrite libc.so.6 10\nwrite own 10\n"));
    free(paths);
    free(alone);
    free(out);
}

/* A sanitizer's library has the same functions, before or after ours. Each call is one row, that of libc. The program's
 * first call may create the library's own threads. */
Test(e2e_oscalls, programs_with_sanitizers)
{
    static const char *const variants[] = { "gcc-address", "gcc-thread", "clang-address", "clang-thread",
                                            "gcc-undefined" };
    for (int i = 0; i < 5; i++) {
        free(run_well("$DWELL record -q $PROGRAMS/sanitized/threads-%s 8 200", variants[i]));
        char *rows =
            run_well("$DWELL report -n 0 --format csv | tr -d '\\r' | awk -F, '$1 ~ /^pthread_/ { print $1, $2, $5 }' "
                     "| LC_ALL=C sort");
        cr_assert(has(rows, "pthread_barrier_wait libc.so.6 8\n"), "%s: %s", variants[i], rows);
        cr_assert(has(rows, "pthread_join libc.so.6 8\n"), "%s: %s", variants[i], rows);
        const bool others = has(rows, "pthread_create libc.so.6 9\n");
        cr_assert(others || has(rows, "pthread_create libc.so.6 8\n"), "%s: %s", variants[i], rows);
        free(rows);
    }
}

/* The session has the names, so it can be read on a machine with another libc, or none. */
Test(e2e_oscalls, names_come_with_the_session)
{
    free(run_well("$DWELL record -q $SAMPLES/sleeper 2 1 1"));
    char *named = run_well("grep -a -c -F -e pthread_cond_clockwait dwell.data");
    cr_assert(eq(str, named, (char *)"1\n"));
    free(named);
    /* Without the names, as after a kill, libc's own symbols are used. */
    free(run_well("DWELL_OUTPUT=bare.data LD_PRELOAD=$RUNTIME $SAMPLES/sleeper 2 1 1"));
    char *paths = report_paths("bare.data");
    cr_assert(eq(str, paths, "main 1\nmain/busy 2\nmain/busy/churn 2\nmain/doze 2\nmain/doze/nanosleep 2\n"));
    free(paths);
}

/* ---- every system call ---- */

Test(e2e_oscalls, every_system_call)
{
    static const char *const modes[] = { "trace", "profile", "ring=1G", "trace --depth 9" };
    for (int i = 0; i < 4; i++) {
        free(run_well("$DWELL record -q --os-events syscalls --mode %s " PARTS "asks", modes[i]));
        char *info = run_well("$DWELL info");
        const bool refused = has(info, "this user may not watch system calls");
        cr_assert(ne(int, refused, has(info, "perf, system calls")), "%s", info);
        free(info);
        if (refused)
            cr_skip_test("this user may not watch system calls (root, with tracefs mounted, may)");
        struct report *r = report_of("");
        cr_assert(ge(u64, report_session(r, "os_events"), 1000));
        cr_assert(eq(u64, report_sum(r, "function", "ask", "calls"), 1000));
        cr_assert(eq(u64, report_sum(r, "function", "ask", "application_inclusive_ns"), 0));
        cr_assert(gt(u64, report_sum(r, "function", "compute", "application_inclusive_ns"), 0));
        report_drop(r);
        free(run_well("$DWELL record -q --mode %s " PARTS "asks", modes[i]));
        r = report_of("");
        cr_assert(gt(u64, report_sum(r, "function", "ask", "application_inclusive_ns"), 0));
        report_drop(r);
    }
}

/* Where system calls cannot be watched, `record`, the report and `doctor` say so, and what is missing. */
Test(e2e_oscalls, every_system_call_or_a_word_about_it)
{
    struct ran r = run("$DWELL record -q --os-events syscalls " PARTS "asks");
    char *report = run_well("$DWELL report"), *doctor = run_well("$DWELL doctor | grep '^ok *system calls'");
    const bool refused = strlen(r.err) > 0;
    cr_assert(eq(int, r.status, 0));
    cr_assert(
        eq(int, refused, has(r.err, "dwell: --os-events=syscalls: system calls cannot be watched, so it is perf: ")));
    cr_assert(eq(int, refused, has(r.err, "raw_syscalls")), "%s", r.err);
    cr_assert(eq(int, refused, has(report, "\n! system calls were not watched: ")), "%s", report);
    cr_assert(eq(int, refused, has(doctor, "not watched with --os-events=syscalls, which then is perf: ")), "%s",
              doctor);
    cr_assert(eq(int, refused, has(doctor, "raw_syscalls")), "%s", doctor);
    ran_drop(&r);
    free(report);
    free(doctor);
}

/* Each thread has a descriptor in the helper's table as long as it lives. */
Test(e2e_oscalls, every_system_call_of_threads_that_come_and_go)
{
    char *out = run_well("$DWELL record -q --os-events syscalls $SAMPLES/threads --waves 300 4 10");
    struct report *r = report_of("");
    check_counts(out, r, 4);
    report_drop(r);
    free(out);
    char *kinds = run_well("$DWELL info | grep -a -o -e 'perf, system calls' -e 'rseq$' -e 'may not watch' | sort -u");
    cr_assert(has(kinds, "may not watch") || strcmp(kinds, "perf, system calls\n") == 0, "%s", kinds);
    free(kinds);
}

Test(e2e_oscalls, every_function_and_every_system_call)
{
    char *out = run_well("timeout 300 $DWELL record -q --os-events syscalls " PARTS "every $PWD/every-XXXXXX");
    check_rows_of_libc(out);
    free(out);
}
