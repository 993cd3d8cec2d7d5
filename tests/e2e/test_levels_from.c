/* record --levels-from: a recording begins with the levels that an earlier one ended with. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_levels_from, .timeout = 600, .init = without_os_calls);

static const char *const modes[] = { "trace", "profile", "ring=1G" };

/* The functions that the session counted. The caller frees the list. */
static char *levels_from_counted(const char *session)
{
    return run_well("$DWELL info %s | sed -n 's/^level *counted .*: //p' | sort", session);
}

static void levels_from_check(const char *options, const char *functions)
{
    char *out = run_well("$DWELL record -q --levels-from old.data %s $PROGRAMS/levels/counted 2 200000 0", options);
    struct report *r = report_of("");
    check_counts(out, r, 4);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0), "%s", options);
    cr_assert(lt(u64, report_session(r, "events"), 100), "%s: from the first call on", options);
    report_drop(r);
    free(out);
    char *counted = levels_from_counted("dwell.data");
    cr_assert(eq(str, counted, (char *)functions), "%s", options);
    free(counted);
}

/* What the budget has counted is counted from the first call on, with and without a budget. */
Test(e2e_levels_from, decisions_of_a_budget)
{
    free(run_well("$DWELL record -q --overhead 1%% -o old.data $PROGRAMS/levels/counted 2 3000000 0"));
    char *functions = levels_from_counted("old.data");
    cr_assert(has(functions, "hot_inlined\n") && has(functions, "hot_leaf\n") && has(functions, "timed\n"), "%s",
              functions);
    for (int i = 0; i < 3; i++) {
        char options[100];
        snprintf(options, sizeof options, "--mode %s", modes[i]);
        levels_from_check(options, functions);
        snprintf(options, sizeof options, "--mode %s --overhead 10%%", modes[i]);
        levels_from_check(options, functions);
    }
    free(functions);
}

/* Levels by hand are taken over, too. The next recording can take them from the last one, which has the same name. */
Test(e2e_levels_from, levels_by_hand)
{
    free(run_well("$DWELL record -q --level 'counted=hot_*' --level out=timed $PROGRAMS/levels/counted 2 1000 0"));
    for (int i = 0; i < 2; i++) {
        char *out = run_well("$DWELL record --levels-from dwell.data $PROGRAMS/levels/counted 2 1000 0 2>&1");
        cr_assert(not(has(out, "levels-from")), "%s", out);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "hot_leaf", "calls"), truth(out, "hot_leaf")));
        cr_assert(eq(u64, report_sum(r, "function", "hot_inlined", "calls"), truth(out, "hot_inlined")));
        cr_assert(eq(u64, report_sum(r, "function", "timed", "calls"), 0));
        cr_assert(eq(u64, report_session(r, "events"), 0), "%s", out);
        report_drop(r);
        free(out);
    }
}

Test(e2e_levels_from, other_options_have_the_last_word)
{
    free(run_well("$DWELL record -q --level 'counted=*' -o old.data $PROGRAMS/levels/counted 2 1000 0"));
    char *out =
        run_well("$DWELL record -q --level timed=timed --levels-from old.data --level 'out=hot_i*' --suppress hot_jump "
                 "$PROGRAMS/levels/counted 2 1000 0");
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "timed", "calls"), truth(out, "timed")));
    cr_assert(eq(u64, report_session(r, "events"), 2 * truth(out, "timed")));
    cr_assert(eq(u64, report_sum(r, "function", "hot_leaf", "calls"), truth(out, "hot_leaf")));
    cr_assert(eq(u64, report_sum(r, "function", "hot_inlined", "calls"), 0));
    cr_assert(eq(u64, report_sum(r, "function", "hot_jump", "calls"), 0));
    report_drop(r);
    free(out);
}

/* The budget knows that the function is counted, so it times it again. */
Test(e2e_levels_from, rare_functions_are_timed_again)
{
    free(run_well("$DWELL record -q --level counted=rare -o old.data $PROGRAMS/levels/rare 10"));
    char *out = run_well("$DWELL record -q --levels-from old.data --overhead 10%% $PROGRAMS/levels/rare 4000");
    struct report *r = report_of("");
    check_counts(out, r, 2);
    report_drop(r);
    free(out);
    char *timed = run_well("$DWELL info | grep -c '^level *timed *since .*: rare$'");
    cr_assert(eq(int, atoi(timed), 1));
    free(timed);
    free(run_well("$DWELL record -q --level counted=rare --overhead 10%% $PROGRAMS/levels/rare 1000"));
    char *counted = levels_from_counted("dwell.data");
    cr_assert(eq(str, counted, "rare\n"), "a level by hand stays");
    free(counted);
}

Test(e2e_levels_from, libraries_that_are_loaded_later)
{
    free(run_well("$DWELL record -q --level 'counted=inner_*' -o old.data $PROGRAMS/loading/same "
                  "$PROGRAMS/loading/libloading-a.so $PROGRAMS/loading/libloading-b.so 5"));
    struct ran r = run("$DWELL record --levels-from old.data $PROGRAMS/loading/same "
                       "$PROGRAMS/loading/libloading-a.so $PROGRAMS/loading/libloading-b.so 5");
    cr_assert(not(has(r.err, "levels-from")), "%s", r.err);
    ran_drop(&r);
    char *old = levels_from_counted("old.data"), *now = levels_from_counted("dwell.data");
    cr_assert(has(now, "inner_"), "%s", now);
    cr_assert(eq(str, now, old));
    free(old);
    free(now);
}

/* In the other build, rare() has another name. */
Test(e2e_levels_from, another_build)
{
    free(run_well("$DWELL record -q --level counted=rare --level counted=step -o old.data $PROGRAMS/levels/rare 5"));
    free(run_well("cp $PROGRAMS/levels/rare-changed rare"));
    struct ran r = run("$DWELL record --levels-from old.data ./rare 5");
    cr_assert(has(r.err, "--levels-from: 1 of 2 functions that were not timed was not found\n"), "%s", r.err);
    ran_drop(&r);
    char *counted = levels_from_counted("dwell.data");
    cr_assert(eq(str, counted, "step\n"));
    free(counted);
    r = run("$DWELL record --levels-from old.data $SAMPLES/fib 5");
    cr_assert(has(r.err, "--levels-from: 2 of 2 functions that were not timed were not found\n"), "%s", r.err);
    ran_drop(&r);
}

/* The build-id and the offsets identify the functions of a program without symbols. */
Test(e2e_levels_from, a_program_without_symbols)
{
    free(run_well("$DWELL record -q --level counted=rare -o old.data $PROGRAMS/levels/rare 5"));
    struct ran r = run("strip -o rare $PROGRAMS/levels/rare && $DWELL record --levels-from old.data ./rare 5");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(not(has(r.err, "levels-from")), "%s", r.err);
    ran_drop(&r);
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "\ncounted         5 calls of 1 function: rare+0x"), "%s", info);
    free(info);
}

Test(e2e_levels_from, sessions_without_levels)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5"));
    char *out = run_well("$DWELL record -q --levels-from dwell.data $SAMPLES/fib 5 2>&1 >/dev/null");
    cr_assert(eq(str, out, "dwell: --levels-from: dwell.data: all functions were timed at its end\n"));
    free(out);
    struct report *r = report_of("");
    cr_assert(gt(u64, report_session(r, "events"), 0));
    report_drop(r);
}
