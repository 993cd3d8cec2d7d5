/* Where the objects of waits were made: the functions that the program calls by construction. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_made, .timeout = 300);

/* On a busy machine, a call may also wait inside the kernel, for what has no cause. Timers have none either, and most
 * waits in mode profile. */
static const char *made_others(const char *mode, const char *kind)
{
    return strcmp(kind, "timerfd") == 0 ? ",waker$" : strstr(mode, "profile") ? "^give," : ",none$";
}

static void made_check(const char *what, const char *mode, const char *kind, const char *rows)
{
    free(run_well("$DWELL record -q %s $PROGRAMS/made %s", mode, what));
    char *out =
        run_well("$DWELL waits --format csv --columns function,object.made.function,object.made.module,waits,cause "
                 "--filter object.kind=%s | tail -n +2 | tr -d '\r' | grep -v '%s' | sed 's/,[^,]*$//' | sort",
                 kind, made_others(mode, kind));
    char *wanted = run_well("printf '%s\n'", rows);
    cr_assert(eq(str, out, wanted), "%s %s", what, mode);
    free(out);
    free(wanted);
}

Test(e2e_made, objects)
{
    static const struct {
        const char *what, *kind, *rows;
    } parts[] = {
        { "mutex", "mutex", "want_mutex,make_mutex,made,1" },
        { "plain", "mutex", "want_plain,make_all,made,1" },
        { "rwlock", "rwlock", "want_rwlock,make_all,made,1" },
        { "condition", "condition", "await_signal,make_all,made,1" },
        { "semaphore", "semaphore", "await_post,make_all,made,1" },
        { "barrier", "barrier", "await_others,make_all,made,1" },
        { "again", "mutex", "want_mutex,make_again,made,1\nwant_mutex,make_mutex,made,1" },
        { "silent", "mutex", "want_mutex,,,1\nwant_mutex,make_mutex,made,1" },
        { "many", "mutex", "want_mutex,,,1" },
        { "fork", "mutex", "want_mutex,make_mutex,made,1" },
        { "pipe", "pipe", "take,make_pipe,made,1" },
        { "pair", "socket", "take,make_pair,made,1" },
        { "eventfd", "eventfd", "take,make_eventfd,made,1" },
        { "timer", "timerfd", "take,make_timer,made,1" },
        { "duplicate", "pipe", "take,make_pipe,made,1" },
        { "numbers", "pipe", "take,make_other_pipe,made,1\ntake,make_pipe,made,1" },
        { "child", "pipe", "take,make_pipe,made,1" },
    };
    static const char *const modes[] = { "", "--mode profile" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            made_check(parts[i].what, modes[m], parts[i].kind, parts[i].rows);
}

/* The function that a filter hides has not made it: its caller has. */
Test(e2e_made, in_other_modes)
{
    made_check("again", "--mode ring", "mutex", "want_mutex,make_again,made,1\nwant_mutex,make_mutex,made,1");
    made_check("numbers", "--min 0ns", "pipe", "take,make_other_pipe,made,1\ntake,make_pipe,made,1");
    made_check("mutex", "--suppress make_mutex", "mutex", "want_mutex,make_all,made,1");
}

Test(e2e_made, formats)
{
    free(run_well("$DWELL record -q $PROGRAMS/made semaphore"));
    char *json = run_well("$DWELL waits --format json | grep -o '\"made\":{[^}]*}' | sort -u | grep -v null");
    char *text = run_well("$DWELL waits --columns waits,waits_for | grep -o 'made in .*' | tr -s ' '");
    char *locks = run_well("$DWELL waits --by lock --format csv --columns waits_for | grep -o 'made in .*' | "
                           "tr -d '\r'");
    cr_assert(eq(str, json, "\"made\":{\"function\":\"make_all\",\"module\":\"made\"}\n"));
    cr_assert(eq(str, text, "made in make_all\n"));
    cr_assert(eq(str, locks, "made in make_all\n"));
    free(json);
    free(text);
    free(locks);
}
