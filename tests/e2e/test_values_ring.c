/* Values in mode ring: those of the calls that the session still has, and no others. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_values_ring, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/values/"

static void ring_build(void)
{
    free(run_well("gcc -O2 -g -finstrument-functions -o ringed " SOURCES "ringed.c -lpthread"));
}

static void ring_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

static void ring_compare(const char *recorded, const char *printed)
{
    char *ours = run_well("%s", recorded), *theirs = run_well("%s", printed);
    cr_assert(eq(str, ours, theirs), "%s: %s", recorded, printed);
    cr_assert(ne(int, *theirs, 0));
    free(ours);
    free(theirs);
}

/* The values, one a line and call. */
#define VALUES(function, what)                                                                                         \
    "$DWELL values --each -n 0 --format json " function ":" what " | jq -r '.rows[] | \"\\(.values." what              \
    ") \\(.calls)\"' | awk '{ for (i = 0; i < $2; i++) print $1 }' | sort -n"

/* Completed calls. */
#define CALLS(function) "$DWELL slowest -n 0 --format json " function " | jq '.rows | length'"

/* What the program has printed of the calls whose `n` the session has. */
#define PRINTED(column)                                                                                                \
    VALUES("step", "n") " | awk -F'|' 'NR == FNR { shown[$1]; next } $1 in shown { print $" column " }' - printed"

/* Begins and ends of the runs of numbers that follow each other. */
#define RUNS                                                                                                           \
    " | awk 'NR > 1 && $1 != last + 1 { print last } NR == 1 || $1 != last + 1 { printf \"%d \", $1 } { last = $1 } "  \
    "END { print last }'"

/* All completed calls of the session have values. */
static void ring_check_whole(const char *function_calls, const char *values, const char *remarks)
{
    char *counted = run_well("%s | wc -l", values);
    char *calls = run_well("%s", function_calls);
    cr_assert(eq(str, calls, counted), "%s", values);
    ring_expect(remarks, "0\n");
    free(counted);
    free(calls);
}

#define CHECK_WHOLE(function, what)                                                                                    \
    ring_check_whole(CALLS(function), VALUES(function, what),                                                          \
                     "$DWELL values --format json " function ":" what                                                  \
                     " | jq '[.remarks[] | select(.code | test(\"values\"))] | length'")

/* The session has the newest of 200,000 calls. It takes less than half of the space that all values would take. */
static void ring_check_newest(void)
{
    CHECK_WHOLE("step", "n");
    ring_compare(VALUES("step", "n"), PRINTED("1"));
    ring_compare(VALUES("step", "return"), PRINTED("2"));
    ring_expect(VALUES("step", "n") " | tail -n 1", "199999\n");
    ring_expect("test $(stat -c %s dwell.data) -lt 4000000 && echo small", "small\n");
}

Test(e2e_values_ring, newest_calls)
{
    const char *const sizes[] = { "64K", "256K", "1M" };
    ring_build();
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --mode ring=%s --values step ./ringed steps 200000 > printed", sizes[i]));
        ring_check_newest();
    }
}

Test(e2e_values_ring, after_a_kill)
{
    ring_build();
    free(run_well("$DWELL record -q --mode ring=64K --values step ./ringed steps 200000 killed > printed; "
                  "test $? -eq 137"));
    ring_check_newest();
}

Test(e2e_values_ring, of_ended_threads)
{
    ring_build();
    free(run_well("$DWELL record -q --mode ring=64K --values step ./ringed threads 50000"));
    CHECK_WHOLE("step", "n");
    CHECK_WHOLE("step", "return");
    ring_expect(VALUES("step", "n") RUNS " | grep -c '49999$'", "1\n"); /* ended threads share a ring */
}

Test(e2e_values_ring, of_a_forked_child)
{
    ring_build();
    free(run_well("$DWELL record -q --mode ring=64K --values step ./ringed fork 50000"));
    CHECK_WHOLE("step", "n");
    ring_expect(VALUES("step", "n") RUNS " | cut -d' ' -f2", "1049999\n2049999\n");
}

/* Handlers' calls come between those that they interrupt. */
Test(e2e_values_ring, in_signal_handlers)
{
    ring_build();
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --mode ring=64K --values step ./ringed signals 1000000"));
        CHECK_WHOLE("step", "n");
        CHECK_WHOLE("step", "return");
    }
}

/* A call takes 11 bytes as events, and 232 bytes as values. So events end their chunks before these are full. */
Test(e2e_values_ring, of_long_texts)
{
    const char *const sizes[] = { "ring=64K", "ring=256K" };
    ring_build();
    for (int i = 0; i < 2; i++) {
        free(run_well("$DWELL record -q --mode %s --values speak --values-text 200 ./ringed texts 20000", sizes[i]));
        CHECK_WHOLE("speak", "n");
        ring_expect(VALUES("speak", "n") RUNS " | tail -n 1 | cut -d' ' -f2", "19999\n");
        ring_expect("test $(" CALLS("speak") ") -gt 64 && echo many", "many\n");
    }
    free(run_well("$DWELL record -q --max-size 2M,ring --values speak --values-text 200 ./ringed texts 20000"));
    CHECK_WHOLE("speak", "n");
}

/* The session has a maximum size, and threads share all of it. */
Test(e2e_values_ring, of_a_whole_session)
{
    ring_build();
    free(run_well("$DWELL record -q --max-size 8M,ring --values step ./ringed steps 300000 > printed"));
    CHECK_WHOLE("step", "n");
    ring_compare(VALUES("step", "n"), PRINTED("1"));
}

/* The enter is written when the call has lasted long enough. Meanwhile, the ring's chunks of values are used again. */
Test(e2e_values_ring, of_calls_that_wait_for_their_time)
{
    ring_build();
    free(run_well(
        "$DWELL record -q --mode ring=64K --min 20ms --values step --values handle:n,kind ./ringed slow 10000"));
    ring_expect(VALUES("handle", "n") " | tail -n 1", "99\n");
}

/* Values take 20 times the space of events, so it is they that find none. */
Test(e2e_values_ring, of_a_session_that_is_full)
{
    ring_build();
    free(run_well("$DWELL record --max-size 1M --values speak --values-text 200 ./ringed texts 200000 >said 2>&1"));
    ring_expect("$DWELL info --format json | jq -c '.values | [.lost_calls > 0, .lost_unstored, .lost_late]'",
                "[true,0,0]\n");
    ring_expect("$DWELL info | grep -c '^lost values  *[0-9]* enters and exits: [0-9]* had no room$'", "1\n");
}

/* ---- kept windows ---- */

/* Calls around the windows, in the same chunks of events, have theirs as well. */
Test(e2e_values_ring, of_kept_calls)
{
    ring_build();
    free(run_well("$DWELL record -q --keep 'handle>20ms' --values step --values handle ./ringed slow 1000"));
    CHECK_WHOLE("step", "n");
    CHECK_WHOLE("handle", "n");
    CHECK_WHOLE("handle", "return");
    ring_expect("$DWELL values --each --format json handle:kind | jq '.rows[] | select(.values.kind == 1) | .calls'",
                "10\n");
    ring_expect("$DWELL why handle --slow '>20ms' --format json | jq -r '.factors[] | select(.name == \"argument\") | "
                ".value' | grep kind",
                "kind=1\n");
}

/* No window is kept, so there are no values, which can be secrets. */
Test(e2e_values_ring, of_no_kept_calls)
{
    ring_build();
    free(run_well("$DWELL record -q --keep 'speak>100s' --values speak --values-text 200 ./ringed texts 2000"));
    ring_expect("$DWELL info --format json | jq -c '.values.functions[].calls'", "0\n");
    ring_expect("grep -ac xxxxxxxxxxxx dwell.data; true", "0\n");
}

/* The window of one call is kept, of the slow one or of one that was preempted. The values of the ring that was there
 * at the end go: they were those of 70,000 calls more. Those of the first and the last chunk of the window begin and
 * end a little apart from its events. */
Test(e2e_values_ring, of_one_kept_call)
{
    ring_build();
    free(run_well(
        "$DWELL record -q --keep 'handle>20ms' --keep-limit 1/day --keep-around 1ms --values step --values handle "
        "./ringed slow 20000"));
    CHECK_WHOLE("step", "n");
    CHECK_WHOLE("handle", "kind");
    ring_expect("$DWELL values --each --format json handle:kind | jq '[.rows[].calls] | add > 0'", "true\n");
    char *recorded = run_well("$DWELL report --format json | jq '.rows[] | select(.function == \"step\") | .calls'");
    char *valued = run_well("$DWELL info --format json | jq '[.values.functions[].calls] | max'");
    cr_assert(le(int, atoi(valued), atoi(recorded) + 20000));
    free(recorded);
    free(valued);
}
