/* Waits of real programs: their number, objects and causes are those that the program has by construction, and their
 * sums are those of the report. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/wait_sums.h"

TestSuite(e2e_causes, .timeout = 300);

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
        { "futex", "futex", "await_word,futex,waker,wake,other,3" },
    };
    static const char *const modes[] = { "", "--mode ring", "--min 0ns", "--call-sites" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            free(run_well("$DWELL record -q %s $PROGRAMS/causes %s", modes[m], parts[i].what));
            char *out = run_well("$DWELL waits --format csv --filter object.kind=%s | tr -d '\\r' | tail -n +2 | "
                                 "cut -d, -f1,7,9,10,12,15 | grep -v %s",
                                 parts[i].kind, wait_sums_others(parts[i].row));
            char *wanted = run_well("echo '%s'", parts[i].row);
            cr_assert(eq(str, out, wanted), "%s %s", parts[i].what, modes[m]);
            free(out);
            free(wanted);
            wait_sums_check("dwell.data");
        }
}

/* A lock in a variable has the variable's name, and the distance from its start. */
Test(e2e_causes, objects_in_variables)
{
    static const char *const parts[][3] = {
        { "causes mutex", "mutex", "mutex" },
        { "causes rwlock", "rwlock", "rwlock" },
        { "causes barrier", "barrier", "barrier" },
        { "causes semaphore", "semaphore", "ready" },
        { "causes condition", "condition", "condition" },
        { "paths producer", "condition", "queues+40" },
    };
    static const char *const modes[] = { "trace", "profile" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            free(run_well("$DWELL record -q --mode %s $PROGRAMS/%s", modes[m], parts[i][0]));
            char *out = run_well("$DWELL waits --format csv --columns object.name --filter object.kind=%s | "
                                 "tail -n +2 | tr -d '\r' | sort -u",
                                 parts[i][1]);
            char *wanted = run_well("echo '%s'", parts[i][2]);
            cr_assert(eq(str, out, wanted), "%s %s", parts[i][0], modes[m]);
            free(out);
            free(wanted);
        }
}

/* The holder is exact for each kind of mutex, and each kind of call that waits for it. */
Test(e2e_causes, kinds_of_mutexes)
{
    static const struct {
        const char *what, *row;
    } parts[] = {
        { "recursive", "want_lock,mutex,holder,hold_lock,other,3" },
        { "twice", "want_lock,mutex,holder,hold_lock,other,3" },
        { "checking", "want_lock,mutex,holder,hold_lock,other,3" },
        { "adaptive", "want_lock,mutex,holder,hold_lock,other,3" },
        { "robust", "want_lock,mutex,holder,hold_lock,other,3" },
        { "inheriting", "want_lock,mutex,holder,hold_lock,other,3" },
        { "clock", "want_lock_in_time,mutex,holder,hold_lock,other,3" },
        { "shared", "want_shared_lock,mutex,holder,hold_shared_lock,causes,1" },
        { "vain", "await_in_vain,condition,none,,,3" },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        free(run_well("$DWELL record -q $PROGRAMS/causes %s", parts[i].what));
        char *out = run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function,"
                             "cause_thread,waits | grep -E ',(mutex|condition),' | tr -d '\r' | grep -v %s",
                             wait_sums_others(parts[i].row));
        char *wanted = run_well("echo '%s'", parts[i].row);
        cr_assert(eq(str, out, wanted), "%s", parts[i].what);
        free(out);
        free(wanted);
    }
}

/* A wait that was given up, and the one after it. */
Test(e2e_causes, waits_until_a_time)
{
    free(run_well("$DWELL record -q $PROGRAMS/causes timed"));
    char *out = run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function,cause_thread,"
                         "waits,path | grep ,mutex, | grep -v ,none, | sed 's/,[^,]*;/,/' | tr -d '\r' | sort");
    cr_assert(eq(str, out,
                 "give_up,mutex,holder,hold_lock,other,3,pthread_mutex_lock\n"
                 "give_up,mutex,holder,hold_lock,other,3,pthread_mutex_timedlock\n"));
    free(out);
}

/* Waits of the C++ library, which calls the functions for locks, or futexes itself. */
Test(e2e_causes, standard_library)
{
    static const struct {
        const char *what, *kind, *row;
    } parts[] = {
        { "atomic", "futex", "await_value(),futex,waker,give_value(),other,3" },
        { "latch", "futex", "await_latch(),futex,waker,count_down(),other,1" },
        { "timed_mutex", "mutex", "want_timed_mutex(),mutex,holder,hold_lock(),other,3" },
        { "recursive_mutex", "mutex", "want_recursive_mutex(),mutex,holder,hold_lock(),other,3" },
        { "shared_mutex", "rwlock", "want_shared_mutex(),rwlock,holder,hold_lock(),other,3" },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        free(run_well("$DWELL record -q $PROGRAMS/standard_waits %s", parts[i].what));
        char *out = run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function,"
                             "cause_thread,waits --filter object.kind=%s | tail -n +2 | tr -d '\r' | grep -v %s",
                             parts[i].kind, wait_sums_others(parts[i].row));
        char *wanted = run_well("echo '%s'", parts[i].row);
        cr_assert(eq(str, out, wanted), "%s", parts[i].what);
        free(out);
        free(wanted);
    }
}

/* The consumer could go on after the first act, but got the processor only after the second one. */
Test(e2e_causes, the_first_act_that_satisfies)
{
    static const char *const kinds[] = { "eventfd", "pipe", "semaphore" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct ran r = run("$DWELL record -q $PROGRAMS/first_act %s", kinds[i]);
        if (r.status == 77)
            cr_skip_test("real-time priorities are not allowed here");
        cr_assert(zero(int, r.status), "%s", r.err);
        ran_drop(&r);
        char *out = run_well("$DWELL waits --format csv --columns object.kind,cause,cause_function --filter "
                             "function=consume | tail -n +2 | tr -d '\r' | grep -v ,none,");
        char *wanted = run_well("echo %s,waker,act_first", kinds[i]);
        cr_assert(eq(str, out, wanted));
        free(out);
        free(wanted);
        out = run_well("$DWELL critical --format csv --columns function --filter function=act_second | tail -n +2");
        cr_assert(eq(str, out, ""));
        free(out);
    }
}
