/* Waits of real programs for descriptors: their objects, numbers and causes are those that the program has by
 * construction. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_descriptors, .timeout = 300);

/* The row of the kind: waiting function, kind, name, cause, its function and thread, number of waits. */
#define ROW_OF_KIND                                                                                                    \
    "$DWELL waits --format csv --columns function,object.kind,object.name,cause,cause_function,cause_thread,waits "    \
    "--filter object.kind=%s | tr -d '\\r' | tail -n +2"

/* `name` is a pattern that the object's name matches as a whole. On a busy machine, a call may also wait inside the
 * kernel for what no thread of the program ends: such a row has no cause. */
static void descriptors_check(const char *part, const char *mode, const char *kind, const char *name, const char *row)
{
    free(run_well("$DWELL record -q %s $PROGRAMS/descriptors %s", mode, part));
    char *out = run_well(ROW_OF_KIND " | grep -v %s | sed -E 's#^([^,]*,%s),%s,#\\1,(name),#'", kind,
                         strstr(row, ",none,") ? ",waker," : ",none,", kind, name);
    char *wanted = run_well("echo '%s'", row);
    cr_assert(eq(str, out, wanted), "%s %s", part, mode);
    free(out);
    free(wanted);
}

Test(e2e_descriptors, objects_and_causes)
{
    static const struct {
        const char *what, *kind, *name, *row;
    } parts[] = {
        { "pipe", "pipe", "pipe:.[0-9]+.", "take,pipe,(name),waker,give,other,3" },
        { "full", "pipe", "pipe:.[0-9]+.", "fill,pipe,(name),waker,drain,other,3" },
        { "end", "pipe", "pipe:.[0-9]+.", "await_end,pipe,(name),waker,hang_up,other,1" },
        { "fifo", "pipe", "/.*/fifo", "take,pipe,(name),waker,give,other,3" },
        { "stream", "pipe", "pipe:.[0-9]+.", "take_line,pipe,(name),waker,give_lines,other,3" },
        { "pair", "socket", "socket:.[0-9]+.", "take,socket,(name),waker,give,other,3" },
        { "accept", "socket", "stream 0.0.0.0:[0-9]+", "answer,socket,(name),waker,call_in,other,3" },
        { "connection", "socket", "stream 127.0.0.1:[0-9]+", "take,socket,(name),waker,give,other,3" },
        { "datagram", "socket", "datagram 0.0.0.0:[0-9]+", "take,socket,(name),waker,send_datagram,other,3" },
        { "poll", "pipe", "pipe:.[0-9]+.", "take_by_poll,pipe,(name),waker,give,other,3" },
        { "select", "pipe", "pipe:.[0-9]+.", "take_by_select,pipe,(name),waker,give,other,3" },
        { "epoll", "pipe", "pipe:.[0-9]+.", "take_by_epoll,pipe,(name),waker,give,other,3" },
        { "child", "pipe", "pipe:.[0-9]+.", "take,pipe,(name),waker,give,descriptors,3" },
        { "eventfd", "eventfd", "descriptor [0-9]+", "take,eventfd,(name),waker,give,other,3" },
        { "timer", "timerfd", "descriptor [0-9]+", "take,timerfd,(name),none,,,3" },
        { "timeout", "descriptors", "", "sleep_in_poll,descriptors,(name),none,,,3" },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        descriptors_check(parts[i].what, "", parts[i].kind, parts[i].name, parts[i].row);
}

/* The numbers are given to other pipes, twice: another function makes those. */
Test(e2e_descriptors, numbers_used_again)
{
    free(run_well("$DWELL record -q $PROGRAMS/descriptors again"));
    char *out = run_well("$DWELL waits --format csv --columns function,cause,cause_function,object.made.function,waits "
                         "--filter object.kind=pipe | tr -d '\r' | tail -n +2 | grep -v ,none, | sort");
    cr_assert(eq(str, out, "take,waker,give,main,1\ntake,waker,give,take_from_new_pipe,2\n"));
    free(out);
}

Test(e2e_descriptors, in_other_modes)
{
    static const char *const modes[] = { "--mode ring", "--min 0ns", "--call-sites" };
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        descriptors_check("full", modes[m], "pipe", "pipe:.[0-9]+.", "fill,pipe,(name),waker,drain,other,3");
        descriptors_check("pair", modes[m], "socket", "socket:.[0-9]+.", "take,socket,(name),waker,give,other,3");
    }
}
