/* Waits of real programs: their number, objects and causes are those that the program has by construction, and their
 * sums are those of the report. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "analysis/wait_causes.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_causes, .timeout = 300);

static void causes_check_sums(const char *name)
{
    struct analysis l;
    struct error error = { NULL };
    cr_assert(analysis_load(&l, test_path(name), &(struct analysis_options){ .jobs = 2 }, &error));
    struct wait_causes c = wait_causes_find(&l);
    uint64_t sum = 0;
    for (size_t i = 0; i < c.count; i++)
        sum += c.list[i].ticks;
    cr_assert(eq(u64, sum, l.rollup->session.blocked_inclusive), "%s", name);
    wait_causes_drop(&c);
    analysis_drop(&l);
}

Test(e2e_causes, objects_and_causes)
{
    static const struct {
        const char *what, *kind, *row;
    } parts[] = {
        { "mutex", "mutex", "want_lock,mutex,holder,hold_lock,other,3" },
        { "rwlock", "rwlock", "want_to_read,rwlock,holder,hold_lock,other,3" },
        { "condition", "condition", "await_signal,condition,waker,give_signal,other,3" },
        { "semaphore", "semaphore", "await_post,semaphore,waker,post_often,other,3" },
        { "barrier", "barrier", "arrive_early,barrier,waker,arrive_late,other,3" },
        { "join", "thread", "run_both,thread,waker,(outside functions),other,1" },
        { "child", "child", "await_child,child,waker,await_child,causes,1" },
        { "sleep", "sleep", "sleep_often,sleep,none,,,3" },
    };
    static const char *const modes[] = { "", "--mode ring", "--min 0ns", "--call-sites" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            free(run_well("$DWELL record -q %s $PROGRAMS/causes %s", modes[m], parts[i].what));
            char *out = run_well("$DWELL waits --format csv --filter object.kind=%s | tr -d '\\r' | tail -n +2 | "
                                 "cut -d, -f1,5,7,8,10,11",
                                 parts[i].kind);
            char *wanted = run_well("echo '%s'", parts[i].row);
            cr_assert(eq(str, out, wanted), "%s %s", parts[i].what, modes[m]);
            free(out);
            free(wanted);
            causes_check_sums("dwell.data");
        }
}

Test(e2e_causes, mode_profile_says_that_it_has_none)
{
    free(run_well("$DWELL record -q --mode profile $PROGRAMS/causes mutex"));
    char *out = run_well("$DWELL waits");
    cr_assert(has(out, "causes of waits were not recorded: they need mode trace or ring"), "%s", out);
    cr_assert(has(out, "pthread_mutex_lock"), "%s", out);
    free(out);
    causes_check_sums("dwell.data");
}
