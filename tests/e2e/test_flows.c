/* Flows of exports from the acts that ended waits to the ends of these waits, as the readers of the formats see them.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"
#include "support/wakes.h"

TestSuite(e2e_flows, .timeout = 300);

static const char *const flows_formats[] = { "chrome", "perfetto" };

/* Checks "BEGIN TID END TID" of all flows in dwell.data, in the order of their ends. */
static void flows_check(const char *options, const char *wanted)
{
    free(run_well("$DWELL report --raw %s --format csv > report.csv", options));
    for (size_t i = 0; i < 2; i++) {
        free(run_well("$DWELL export %s %s -o out && python3 -B " DWELL_CONSUMERS "/%s.py report.csv exact out",
                      flows_formats[i], options, flows_formats[i]));
        char *text =
            run_well("python3 -B " DWELL_CONSUMERS "/%s.py print out | sed -n 's/^flow //p'", flows_formats[i]);
        cr_assert(eq(str, text, (char *)wanted), "%s %s", flows_formats[i], options);
        free(text);
    }
}

static void flows_save(struct writer *w)
{
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
}

/* Two threads wait for the third one, for a mutex that it holds and for a condition variable. The first one waits
 * again, for nobody that is known. */
static void flows_write_acts(void)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    wakes_call(w, 110, 200, OBJECT_CONDITION, 0x5000, 0);
    wakes_call(w, 210, 240, OBJECT_CONDITION, 0x7000, 0);
    wakes_thread_ends(w, 1, 300);
    wakes_thread_begins(w, 2, 10, WAKES_MAIN);
    wakes_call(w, 20, 100, OBJECT_MUTEX, 0x6000, 102);
    wakes_thread_ends(w, 2, 300);
    wakes_thread_begins(w, 3, 10, WAKES_WORK);
    wakes_act(w, 70, 80, OBJECT_MUTEX, 0x6000);
    wakes_act(w, 170, 180, OBJECT_CONDITION, 0x5000);
    wakes_thread_ends(w, 3, 250);
    flows_save(w);
}

/* A flow begins before its slice ends, so that readers find the slice. */
Test(e2e_flows, acts)
{
    flows_write_acts();
    flows_check("", "79 102 95 101\n179 102 195 100\n");
}

/* A flow needs both of its ends. */
Test(e2e_flows, parts)
{
    flows_write_acts();
    flows_check("--thread 101 --thread 102", "79 102 95 101\n");
    flows_check("--thread 100 --thread 101", "");
    flows_check("--from 100ns", "179 102 195 100\n");
    flows_check("--from 90ns --to 190ns", "");
    flows_check("--to 150ns", "79 102 95 101\n");
    flows_check("--suppress work", "79 102 95 101\n179 102 195 100\n");
}

/* The thread has no slice when it ends: Chrome's flow begins in its last one. */
Test(e2e_flows, end_of_a_thread)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    wakes_call(w, 110, 200, OBJECT_THREAD, 101, 0);
    wakes_thread_ends(w, 1, 300);
    wakes_thread_begins(w, 2, 10, WAKES_WORK);
    write_exit(w, 150);
    end_events(w, true);
    write_thread_end(w, 1, 2, false, 160);
    flows_save(w);
    free(run_well("$DWELL report --raw --format csv > report.csv"));
    char *text = run_well("$DWELL export chrome -o out && python3 -B " DWELL_CONSUMERS
                          "/chrome.py report.csv exact out >&2 && python3 -B " DWELL_CONSUMERS
                          "/chrome.py print out | sed -n 's/^flow //p'");
    cr_assert(eq(str, text, "149 101 195 100\n"));
    free(text);
    text = run_well("$DWELL export perfetto -o out && python3 -B " DWELL_CONSUMERS
                    "/perfetto.py report.csv exact out >&2 && python3 -B " DWELL_CONSUMERS
                    "/perfetto.py print out | sed -n 's/^flow //p; s/^instant //p'");
    cr_assert(eq(str, text, "'wakes main#1' {}\n'woken by work#2' {}\n160 101 195 100\n"));
    free(text);
}

/* A thread's end is recorded before its end in the kernel, which ends the wait. The wait may begin between both. */
Test(e2e_flows, end_of_a_thread_before_the_wait)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    wakes_call(w, 110, 200, OBJECT_THREAD, 101, 0);
    wakes_thread_ends(w, 1, 300);
    wakes_thread_begins(w, 2, 10, WAKES_WORK);
    wakes_thread_ends(w, 2, 112);
    flows_save(w);
    free(run_well("$DWELL report --raw --format csv > report.csv"));
    for (size_t i = 0; i < 2; i++) {
        char *text = run_well("$DWELL export %s -o out && python3 -B " DWELL_CONSUMERS
                              "/%s.py report.csv exact out >&2 && python3 -B " DWELL_CONSUMERS
                              "/%s.py print out | sed -n 's/^flow //p'",
                              flows_formats[i], flows_formats[i], flows_formats[i]);
        cr_assert(eq(str, text, i == 0 ? "111 101 195 100\n" : "112 101 195 100\n"), "%s", flows_formats[i]);
        free(text);
    }
}

/* A holder's unlock is not recorded, and a waker is unknown: nothing is guessed. */
Test(e2e_flows, no_moment)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    wakes_call(w, 110, 200, OBJECT_MUTEX, 0x5000, 101);
    wakes_thread_ends(w, 1, 300);
    wakes_thread_begins(w, 2, 10, WAKES_WORK);
    wakes_thread_ends(w, 2, 250);
    flows_save(w);
    flows_check("", "");
}

/* A program whose threads wait three times for an act; its main thread may also wait for the end of the other one. */
Test(e2e_flows, of_a_program)
{
    static const char *const recorded[] = { "mutex", "condition", "semaphore", "futex" };
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        free(run_well("DWELL_CLOCK=monotonic $DWELL record -q $PROGRAMS/causes %s && "
                      "$DWELL report --raw --format csv > report.csv",
                      recorded[i]));
        char *wanted = run_well("$DWELL waits --columns cause,waits --format csv | tr -d '\r' | "
                                "awk -F, '$1 == \"holder\" || $1 == \"waker\" { s += $2 } END { print s }'");
        cr_assert(wanted[0] == '3' || wanted[0] == '4', "%s: %s", recorded[i], wanted);
        for (size_t j = 0; j < 2; j++) {
            free(run_well("$DWELL export %s -o out && python3 -B " DWELL_CONSUMERS "/%s.py report.csv exact out",
                          flows_formats[j], flows_formats[j]));
            char *text =
                run_well("python3 -B " DWELL_CONSUMERS "/%s.py print out | grep -c '^flow '", flows_formats[j]);
            cr_assert(eq(int, atoi(text), atoi(wanted)), "%s %s", recorded[i], flows_formats[j]);
            free(text);
        }
        free(wanted);
    }
}
