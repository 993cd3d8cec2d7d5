/* dwell why names the causes that were planted in real programs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_why, .timeout = 600);

/* The first row that is not the machine's: its path, kind, object and cause. Other programs may preempt any call. */
#define FIRST                                                                                                          \
    "jq -r '[.rows[] | select(.kind != \"runnable\")][0] | [(.path | join(\";\")), .kind, .object.kind // \"-\", "     \
    ".object.name // \"-\", .cause // \"-\", .cause_function // \"-\"] | join(\" \")'"

/* The rows add up to both sets, and to the difference. */
#define SUMS                                                                                                           \
    "jq -e '([.rows[].slow_ns] | add) == .slow.mean_ns and ([.rows[].usual_ns] | add) == .usual.mean_ns and "          \
    "([.rows[].difference_ns] | add) == .difference_ns'"

/* With the usual budget, and with all calls timed. In a run, 5 % of the calls have the cause. */
static void why_expect(const char *cause, const char *first)
{
    static const char *const options[] = { "--overhead 10%", "--overhead none" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        free(run_well("$DWELL record %s $PROGRAMS/slow_calls %s", options[i], cause));
        free(run_well("$DWELL why --slow 4%% --format json handle >why.json; " SUMS " why.json"));
        char *text = run_well(FIRST " why.json");
        cr_assert(eq(str, text, (char *)first), "%s %s", cause, options[i]);
        free(text);
    }
}

Test(e2e_why, lock_that_another_thread_holds)
{
    why_expect("lock", "handle;look_up;pthread_mutex_lock blocked mutex cache_lock holder nap\n");
}

Test(e2e_why, answer_that_comes_late)
{
    why_expect("late", "handle;ask;pthread_cond_wait blocked condition answered waker answer\n");
}

Test(e2e_why, full_pipe)
{
    char *text = run_well("$DWELL record --overhead none $PROGRAMS/slow_calls pipe; "
                          "$DWELL why --slow 4%% --format json handle | " FIRST " | sed 's/pipe:[^ ]*/PIPE/'");
    cr_assert(eq(str, text, "handle;report;write blocked pipe PIPE waker drain\n"));
    free(text);
}

Test(e2e_why, more_calls)
{
    why_expect("items", "handle;parse_items;parse_item;compute cpu - - - -\n");
    char *text = run_well("$DWELL why --slow 4%% handle | grep -c ', called [0-9.]* times as often'");
    cr_assert(eq(str, text, "1\n"));
    free(text);
}

Test(e2e_why, long_input)
{
    why_expect("long", "handle;parse_text;compute cpu - - - -\n");
}

Test(e2e_why, sleep)
{
    why_expect("sleep", "handle;doze;nap;nanosleep blocked sleep 40.000 ms none -\n");
}

Test(e2e_why, page_faults)
{
    why_expect("pages", "handle;touch;touch_block fault - - - -\n");
}

Test(e2e_why, mode_profile)
{
    free(run_well("$DWELL record --mode profile $PROGRAMS/slow_calls sleep"));
    struct ran r = run("$DWELL why handle");
    cr_assert(eq(int, r.status, 2));
    cr_assert(
        eq(str, r.err,
           "dwell: dwell.data: recorded in mode profile, which keeps no single calls; record in mode trace or ring\n"));
    ran_drop(&r);
}

/* What is left in a ring. */
Test(e2e_why, mode_ring)
{
    free(run_well("$DWELL record --mode ring=16M --overhead none $PROGRAMS/slow_calls sleep"));
    char *text = run_well("$DWELL why --slow 4%% --format json handle | " FIRST);
    cr_assert(eq(str, text, "handle;doze;nap;nanosleep blocked sleep 40.000 ms none -\n"));
    free(text);
}
