/* Unwinders of static programs, those that a program contains, and LLVM's. Exceptions, backtraces and cancelled threads
 * pass recorded calls by them, too. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_calls_unwound, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/calls_to/"
#define ARCHIVE "${RUNTIME%%%%.so.0}.a"

static void unwound_expect(const char *how, const char *expected, const char *command)
{
    char *found = run_well("%s", command);
    cr_assert(eq(str, found, (char *)expected), "%s", how);
    free(found);
}

static void unwound_record(const char *how, const char *program)
{
    free(run_well("./%s > without", program));
    for (int counted = 0; counted < 2; counted++) {
        free(run_well("$DWELL record -q --overhead none %s --calls-to 'callee_*' ./%s > with",
                      counted ? "--level 'counted=callee_*'" : "", program));
        unwound_expect(how, "", "diff without with");
    }
}

/* ---- exceptions ---- */

/* callee_back is called once more where a thread is cancelled. */
static void unwound_check_thrown(const char *how, const char *link, const char *calls)
{
    free(run_well("g++ -O2 -w -c " SOURCES "thrower.cc && gcc -O1 -w -c " SOURCES
                  "callee.c && g++ -O2 -w -finstrument-functions " SOURCES
                  "thrown.cc thrower.o callee.o -o thrown -pthread %s",
                  link));
    unwound_record(how, "thrown");
    unwound_expect(how, calls,
                   "$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | select(.calls and (.function | "
                   "test(\"^callee_(throw|catch|back)\"))) | .calls] | sort'");
}

Test(e2e_calls_unwound, exceptions_in_static_programs)
{
    char *archive = run_well("echo " ARCHIVE);
    archive[strcspn(archive, "\n")] = '\0';
    static const char *const links[] = { "-static -Wl,--eh-frame-hdr", "-static-pie" };
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char link[4200];
        snprintf(link, sizeof link, "%s %s", links[i], archive);
        unwound_check_thrown(links[i], link, "[4000,4000,4001]\n");
    }
    free(archive);
}

Test(e2e_calls_unwound, exceptions_in_programs_with_an_unwinder)
{
    unwound_check_thrown("-static-libgcc", "-static-libgcc -static-libstdc++", "[4000,4000,4001]\n");
}

/* With it, libc's pthread_cancel fails without dwell, too: it loads libgcc's. */
Test(e2e_calls_unwound, exceptions_by_llvm)
{
    char *library = run_well("ls /usr/lib/llvm-*/lib/libunwind.so.1 2>/dev/null | head -1");
    library[strcspn(library, "\n")] = '\0';
    if (!*library)
        cr_skip("LLVM's libunwind is missing");
    char link[4200];
    snprintf(link, sizeof link, "-DWITHOUT_CANCEL %s", library);
    unwound_check_thrown("LLVM", link, "[4000,4000,4000]\n");
    free(library);
}

/* ---- signal handlers ---- */

/* One signal at each instruction: of the code near the module, and of the stub. Both kinds of cancellation run all
 * destructors, and a backtrace leads to main. */
static void unwound_check_stepped(const char *link)
{
    free(run_well("gcc -O1 -D_GNU_SOURCE -w -fexceptions -finstrument-functions " SOURCES
                  "cancelled.c -o cancelled -pthread %s && gcc -O1 -D_GNU_SOURCE -w -finstrument-functions " SOURCES
                  "stepped.c -o stepped -pthread %s",
                  link, link));
    unwound_record(link, "cancelled");
    unwound_expect(link, "48 cancelled, 48 destroyed\n", "cat with");
    for (int counted = 0; counted < 2; counted++) {
        free(run_well("$DWELL record -q --overhead none %s --calls-to 'callee_*' ./stepped > with",
                      counted ? "--level 'counted=callee_*'" : ""));
        unwound_expect(link, "0 lost\n", "sed 's/.*, //' with");
        unwound_expect(link, "100\n",
                       "$DWELL report --by function -n 0 --format json | jq '[.rows[] | select(.function == "
                       "\"callee_stepped\") | .calls] | add'");
    }
}

Test(e2e_calls_unwound, in_signal_handlers)
{
    unwound_check_stepped("");
}

Test(e2e_calls_unwound, in_signal_handlers_of_programs_that_contain_the_runtime)
{
    char *archive = run_well("echo " ARCHIVE);
    archive[strcspn(archive, "\n")] = '\0';
    static const char *const links[] = { "-static -Wl,--eh-frame-hdr", "-static-pie", "" };
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char link[4200];
        snprintf(link, sizeof link, "%s %s", links[i], archive);
        unwound_check_stepped(link);
    }
    free(archive);
}

/* An exception, too. With an unwinder of its own, a program ends where the handler has interrupted code near it, which
 * no file describes: at one instruction if calls are timed, and at those that count. */
static void unwound_check_signalled(const char *link, int most_timed, int most_counted)
{
    free(run_well("g++ -O1 -w -fnon-call-exceptions -finstrument-functions " SOURCES "signalled.cc -o signalled %s",
                  link));
    for (int counted = 0; counted < 2; counted++) {
        char *ended = run_well("$DWELL record -q --overhead none %s --calls-to callee_stepped ./signalled | tee with | "
                               "awk '$1 + $3 == 24 { print $3 }'",
                               counted ? "--level counted=callee_stepped" : "");
        cr_assert(ne(int, *ended, 0), "%s", link);
        const int most = counted ? most_counted : most_timed, number = atoi(ended);
        cr_assert(le(int, number, most), "%s", link);
        cr_assert(eq(int, number > 0, most > 0), "%s", link);
        free(ended);
    }
}

Test(e2e_calls_unwound, exceptions_in_signal_handlers)
{
    char *archive = run_well("echo " ARCHIVE);
    archive[strcspn(archive, "\n")] = '\0';
    char link[4200];
    snprintf(link, sizeof link, "-static -Wl,--eh-frame-hdr %s", archive);
    unwound_check_signalled("", 0, 0);
    unwound_check_signalled(link, 0, 0);
    unwound_check_signalled("-static-libgcc -static-libstdc++", 1, 12);
    free(archive);
}

/* ---- other unwinders ---- */

Test(e2e_calls_unwound, by_libunwind_and_frame_pointers)
{
    static const char *const compile[] = { "gcc -O1 -g", "gcc -O2", "clang -O2 -w -g" };
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++) {
        free(run_well("%s -fno-omit-frame-pointer -finstrument-functions " SOURCES "walked.c -o walked -lunwind",
                      compile[i]));
        free(run_well("$DWELL record -q --overhead none --calls-to qsort --calls-to callee_calls ./walked > with"));
        unwound_expect(compile[i], "walked, 0 lost, 0 by frame pointers\n", "cat with");
        unwound_expect(
            compile[i], "[\"callee_calls 100\",\"qsort 100\"]\n",
            "$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | select(.function == \"qsort\" "
            "or .function == \"callee_calls\") | \"\\(.function) \\(.calls)\"] | sort'");
    }
}

/* gdb reads the code where it has no description. */
Test(e2e_calls_unwound, by_gdb)
{
    char *gdb = run_well("command -v gdb || true");
    if (!*gdb)
        cr_skip("gdb is missing");
    free(gdb);
    free(run_well("gcc -O1 -g -fno-omit-frame-pointer -finstrument-functions " SOURCES "walked.c -o walked -lunwind"));
    free(run_well(
        "$DWELL record -q --overhead none --calls-to qsort --calls-to callee_calls gdb -q -batch -x " DWELL_CONSUMERS
        "/gdb_frames.py ./walked > with 2>errors"));
    unwound_expect("gdb", "0 lost; in a stub in near code\n", "grep lost with");
}

#define RECORD_INSIDE "$DWELL record -q --overhead none --sample 0 --calls-to qsort --calls-to callee_calls"
#define INSIDE "spin|innermost|callee_calls|compare|work|main"

static bool unwound_has(const char *program)
{
    struct ran has_it = run("command -v %s", program);
    const bool there = has_it.status == 0;
    ran_drop(&has_it);
    return there;
}

/* elfutils reads another process' registers and memory, and the tables of its files. */
Test(e2e_calls_unwound, by_elfutils)
{
    static const char *const compile[] = { "gcc -O1", "gcc -O2 -fno-plt", "clang -O2 -w" };
    if (!unwound_has("eu-stack"))
        cr_skip("eu-stack is missing");
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++) {
        free(run_well("%s -finstrument-functions " SOURCES "inside.c -o inside", compile[i]));
        unwound_expect(compile[i], "innermost callee_calls compare work main\n",
                       "mkfifo in out; " RECORD_INSIDE " ./inside < in > out & exec 3> in 4< out; read pid <&4; "
                       "eu-stack -1 -p $pid 2>&1 | grep -owE '" INSIDE "' | xargs; echo >&3; exec 3>&- 4<&-; wait; "
                       "rm in out");
    }
}

/* The kernel copies the stack, and perf unwinds the copy. Below perf, dwell would be a process that executes the
 * program, whose own addresses perf does not forget. */
Test(e2e_calls_unwound, by_perf)
{
    static const char *const compile[] = { "gcc -O1", "clang -O2 -w -fno-plt" };
    struct ran works = run("perf record -q -e cpu-clock --call-graph dwarf -o none.data true");
    const bool works_here = works.status == 0;
    ran_drop(&works);
    if (!works_here)
        cr_skip("perf is missing, or may not sample");
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++) {
        free(run_well("%s -finstrument-functions " SOURCES "inside.c -o inside", compile[i]));
        free(run_well(RECORD_INSIDE " perf record -q -e cpu-clock:u -F 1000 --call-graph dwarf,16384 -o perf.data "
                                    "./inside 100000000 2>errors"));
        free(
            run_well("perf script -i perf.data --comm inside -F ip,sym 2>errors | awk 'BEGIN { RS = \"\"; FS = \"\\n\" "
                     "} / spin\\n/ { stack = \"\"; for (i = 1; i <= NF; i++) { split($i, word, \" \"); if (word[2] ~ "
                     "/^(" INSIDE ")$/) stack = stack \" \" word[2] } print stack }' | sort | uniq -c > stacks"));
        unwound_expect(compile[i], "many spin innermost callee_calls compare work main\n",
                       "awk '$1 >= 10 { $1 = \"many\" } { $1 = $1; print }' stacks");
    }
}
