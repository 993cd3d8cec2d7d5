/* Waits in mode profile: their numbers are those of a trace of the same program, their sums those of the report. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/wait_sums.h"

TestSuite(e2e_profile_waits, .timeout = 300);

/* The rows of the last recording for objects of that kind. */
static char *profile_waits_rows(const char *kind)
{
    return run_well("$DWELL waits --format csv --columns function,path,object.kind,waits --sort path "
                    "--filter object.kind=%s | tail -n +2 | cut -d, -f1-4 | sort | tr -d '\\r'",
                    kind);
}

Test(e2e_profile_waits, as_many_as_in_a_trace)
{
    static const char *const parts[][2] = {
        { "mutex", "mutex" },     { "rwlock", "rwlock" }, { "condition", "condition" }, { "semaphore", "semaphore" },
        { "barrier", "barrier" }, { "join", "thread" },   { "child", "child" },         { "sleep", "sleep" },
        { "futex", "futex" },     { "twice", "mutex" },   { "timed", "mutex" },         { "vain", "condition" },
        { "robust", "mutex" }
    };
    static const char *const modes[] = { "", "--call-sites" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        free(run_well("$DWELL record -q $PROGRAMS/causes %s", parts[i][0]));
        char *trace = profile_waits_rows(parts[i][1]);
        cr_assert(ne(str, trace, ""), "%s", parts[i][0]);
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            free(run_well("$DWELL record -q --mode profile %s $PROGRAMS/causes %s", modes[m], parts[i][0]));
            char *sums = profile_waits_rows(parts[i][1]);
            cr_assert(eq(str, sums, trace), "%s %s", parts[i][0], modes[m]);
            free(sums);
            wait_sums_check("dwell.data");
        }
        free(trace);
    }
}

/* Holders of locks are known with their calls, wakers are not. */
Test(e2e_profile_waits, causes)
{
    static const struct {
        const char *what, *kind, *row;
    } parts[] = {
        { "mutex", "mutex", "want_lock,mutex,holder,hold_lock,lock_often;hold_lock,other,3" },
        { "rwlock", "rwlock", "want_to_read,rwlock,holder,hold_lock,write_often;hold_lock,other,3" },
        { "join", "thread", "run_both,thread,waker,(outside functions),,other,1" },
        { "condition", "condition", "await_signal,condition,none,,,,3" },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        free(run_well("$DWELL record -q --mode profile $PROGRAMS/causes %s", parts[i].what));
        char *out = run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function,cause_path,"
                             "cause_thread,waits --filter object.kind=%s | tail -n +2 | tr -d '\\r' | grep -v %s",
                             parts[i].kind, wait_sums_others(parts[i].row));
        char *wanted = run_well("echo '%s'", parts[i].row);
        cr_assert(eq(str, out, wanted), "%s", parts[i].what);
        free(out);
        free(wanted);
    }
}

/* Programs whose waits depend on the schedule, and one with a child that records itself. */
Test(e2e_profile_waits, sums)
{
    static const char *const programs[] = { "paths pipeline", "paths producer", "paths convoy", "paths pool",
                                            "paths child",    "lastwait",       "descriptors" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        free(run_well("$DWELL record -q --mode profile $PROGRAMS/%s || true", programs[i]));
        wait_sums_check("dwell.data");
    }
    free(run_well("$DWELL record -q --mode profile $PROGRAMS/paths convoy"));
    char *out = run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function | tr -d '\\r'");
    cr_assert(has(out, "hold_lock,mutex,holder,work_slow"), "%s", out);
    free(out);
}

Test(e2e_profile_waits, after_a_kill)
{
    free(run_well("$DWELL record -q --mode profile $PROGRAMS/lastwait killed; true"));
    char *out = run_well("$DWELL waits --format csv --columns function,path,object.kind,object.name | tr -d '\\r'");
    cr_assert(has(out, "main;usleep,sleep,50.000 ms"), "%s", out);
    free(out);
    wait_sums_check("dwell.data");
}

Test(e2e_profile_waits, merged_and_filtered)
{
    free(run_well("$DWELL record -q --mode profile -o one.data $PROGRAMS/causes mutex"));
    free(run_well("$DWELL record -q --mode profile -o two.data $PROGRAMS/causes rwlock"));
    free(run_well("$DWELL merge -o both.data one.data two.data"));
    char *out =
        run_well("$DWELL waits --format csv --columns function,object.kind,cause,cause_function,waits both.data "
                 "| tr -d '\\r'");
    cr_assert(has(out, "want_lock,mutex,holder,hold_lock,3"), "%s", out);
    cr_assert(has(out, "want_to_read,rwlock,holder,hold_lock,3"), "%s", out);
    free(out);
    out =
        run_well("$DWELL waits --suppress pthread_mutex_lock --format csv --columns path,object.kind,waits,cause_path "
                 "one.data | tr -d '\\r'");
    cr_assert(has(out, "main;run_both;want_lock,mutex,3,lock_often;hold_lock"), "%s", out);
    free(out);
    out = run_well("$DWELL waits --root want_lock --by lock --format csv --columns object.kind,waits one.data "
                   "| tail -n +2 | grep -vE '^(other|fault|recording),' | tr -d '\\r'"); /* these may wait anywhere */
    cr_assert(eq(str, out, "mutex,3\n"), "%s", out);
    free(out);
    free(run_well("$DWELL info one.data"));
}

/* Neither the critical path nor a replay can be made of sums. */
Test(e2e_profile_waits, what_needs_the_order_says_so)
{
    free(run_well("$DWELL record -q --mode profile $PROGRAMS/causes mutex"));
    const char *const commands[] = { "critical", "whatif hold_lock=0.5" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran r = run("$DWELL %s", commands[i]);
        cr_assert(ne(int, r.status, 0));
        cr_assert(has(r.err, "mode profile, which keeps no order of events"), "%s", r.err);
        ran_drop(&r);
    }
}
