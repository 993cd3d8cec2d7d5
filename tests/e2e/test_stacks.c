/* Several stacks on one thread: calls and paths as the program itself counts them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_stacks, .timeout = 300);

static void stacks_check(const char *how, const char *mode, const char *options, const char *top)
{
    char *out = run_well("$DWELL record -q --mode %s %s $PROGRAMS/stacks/stacks %s", mode, options, how);
    struct report *r = report_of("");
    check_counts(out, r, 5);
    report_drop(r);
    char wanted[512];
    snprintf(wanted, sizeof wanted,
             "body 15\nbody/outer 3030\nbody/outer/inner 3030\nbody/outer/inner/leaf 6060\n"
             "%s\n%s/schedule 2547\n%s/schedule/leaf 2547\n",
             top, strtok(strdup(top), " "), strtok(strdup(top), " "));
    char *paths = report_paths("");
    cr_assert(eq(str, paths, wanted), "%s %s", how, mode);
    free(paths);
    char *info = run_well(INFO_WITHOUT_CPU_REMARKS);
    cr_assert(not(has(info, "remark")), "%s %s: %s", how, mode, info);
    free(info);
    free(out);
}

Test(e2e_stacks, switched_by_ucontext)
{
    stacks_check("ucontext", "trace", "", "run_all 3");
    stacks_check("ucontext", "ring=1G", "", "run_all 3");
    stacks_check("ucontext", "profile", "", "run_all 3");
}

Test(e2e_stacks, switched_by_hand_with_dwell_fiber_switch)
{
    stacks_check("hand", "trace", "", "run_all 3");
    stacks_check("hand", "profile", "", "run_all 3");
}

Test(e2e_stacks, switched_by_hand_with_known_places)
{
    stacks_check("place", "trace", "", "run_all 3");
    stacks_check("place", "profile", "", "run_all 3");
}

Test(e2e_stacks, with_filters)
{
    stacks_check("ucontext", "trace", "--suppress make_context", "run_all 3");
    stacks_check("ucontext", "profile", "--suppress make_context", "run_all 3");
}

/* Calls are open on each stack when the program forks. Both processes go on with them. */
Test(e2e_stacks, in_a_forked_child)
{
    static const char *const mode[] = { "trace", "ring=1G", "profile" }, *const how[] = { "ucontext", "hand", "place" };
    for (int i = 0; i < 9; i++) {
        char *out = run_well("$DWELL record -q --mode %s $PROGRAMS/stacks/stacks %s fork", mode[i / 3], how[i % 3]);
        struct report *r = report_of("");
        check_counts(out, r, 5);
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        char *paths = report_paths("");
        cr_assert(has(paths, "body/outer/inner/leaf"), "%s", paths);
        cr_assert(not(has(paths, "schedule/body")), "%s", paths);
        free(paths);
        free(out);
    }
}

/* 516 threads, one turn each. The calls that are open on a stack continue on the next thread. */
Test(e2e_stacks, stacks_that_move_between_threads)
{
    static const char *const mode[] = { "trace", "profile" };
    for (int i = 0; i < 2; i++) {
        char *out = run_well("$DWELL record -q --mode %s $PROGRAMS/stacks/stacks migrate", mode[i]);
        struct report *r = report_of("");
        check_counts(out, r, 5);
        report_drop(r);
        char *paths = run_well("$DWELL tree --min 0 --format csv | tr -d '\\r' | "
                               "awk -F, 'NR > 1 { p[$1] = $1 > 1 ? p[$1 - 1] \"/\" $3 : $3; n[p[$1]] += $5 } "
                               "END { for (i in n) print i, n[i] }' | LC_ALL=C sort");
        cr_assert(eq(str, paths,
                     "body 15\nbody/outer 3030\nbody/outer/inner 3030\nbody/outer/inner/leaf 6060\n"
                     "one_turn 516\none_turn/schedule 2547\none_turn/schedule/leaf 2547\nrun_on_threads 3\n"
                     "run_on_threads/pthread_create 516\nrun_on_threads/pthread_join 516\n"));
        free(paths);
        free(out);
    }
}

/* A context ends without an event, and another one begins in its memory. */
Test(e2e_stacks, left_unnoticed_and_made_again)
{
    static const char *const mode[] = { "trace", "profile", "ring=1G" };
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --mode %s $PROGRAMS/stacks/stacks again", mode[i]));
        char *paths = report_paths("");
        cr_assert(eq(str, paths, "body 3\n"), "%s", mode[i]);
        free(paths);
        free(run_well("$DWELL record -q --no-os-calls --mode %s $PROGRAMS/stacks/stacks reused", mode[i]));
        paths = report_paths("");
        cr_assert(eq(str, paths,
                     "body 2\nbody/outer 1\nbody/outer/inner 1\nbody/outer/inner/leaf 2\n"
                     "notice 1\nschedule 2\nschedule/leaf 2\n"),
                  "%s", mode[i]);
        free(paths);
    }
}
