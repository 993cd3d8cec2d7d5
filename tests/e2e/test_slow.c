/* Programs whose runtime is slow, as on a machine with slow system calls (tests/slow). */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

static void slow_machine(void)
{
    setenv("DWELL_SLOW", "5us", 1);
}

TestSuite(e2e_slow, .init = slow_machine, .timeout = 300);

/* The number that `dwell info` prints on a line. */
static uint64_t slow_info(const char *line, const char *what)
{
    char *info = run_well("$DWELL info");
    char *at = strstr(info, line);
    cr_assert(ne(ptr, at, NULL), "%s: no '%s' in %s", what, line, info);
    const uint64_t number = strtoull(at + strlen(line), NULL, 10);
    free(info);
    return number;
}

/* No record of the slow path looks like one that was not stored. */
Test(e2e_slow, no_chunk_is_searched)
{
    static const char *const programs[] = {
        "$SAMPLES/fib 25",                                /* its chunks' last events take the slow path */
        "$SAMPLES/threads 4 2000",                        /* waits for locks */
        "$PROGRAMS/oscalls/every $PWD/every-XXXXXX",      /* numbers of descriptors */
        "$PROGRAMS/waits > /dev/null",                    /* waits of all kinds */
        "$PROGRAMS/storm > /dev/null",                    /* many short ones */
        "$PROGRAMS/static-dwell 20",                      /* functions at low addresses */
        "$PROGRAMS/frames/exceptions-gcc-O1 > /dev/null", /* frames that are left */
    };
    static const char *const options[] = { "", "--mode ring=1G", "--call-sites", "--suppress none" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t j = 0; j < sizeof options / sizeof *options; j++) {
            char *what = NULL;
            cr_assert(gt(int, asprintf(&what, "%s %s", options[j], programs[i]), 0));
            free(run_well("$DWELL record -q %s", what));
            cr_assert(eq(u64, slow_info("\nsearches ", what), 0), "%s", what);
            free(what);
        }
}

static void slow_check_search(const char *what)
{
    free(run_well("$DWELL record -q %s >out", what));
    cr_assert(eq(u64, slow_info("\nsearches ", what), 0), "%s", what);
}

/* Nor does any other record: of values, of library functions, of kept calls, and of levels that change. */
Test(e2e_slow, no_chunk_is_searched_for_other_records)
{
    slow_check_search("--overhead 10% $SAMPLES/threads 4 60000");
    slow_check_search("--level counted=work $SAMPLES/threads 4 2000");
    slow_check_search("--level 'counted=hot_*' $PROGRAMS/levels/counted 2 20000 0");
    slow_check_search("--values fib $SAMPLES/fib 20");
    slow_check_search("--calls-to 'libc*!*' $SAMPLES/cplusplus");
    slow_check_search("--keep 'work>1us' $SAMPLES/threads 4 2000");
    slow_check_search("--mode ring=1M $SAMPLES/processes 3 200");
    slow_check_search("$PROGRAMS/stacks/stacks ucontext");
    slow_check_search("$PROGRAMS/control/control marks");
}

/* However slow the slow path is: its own time has other words then. */
Test(e2e_slow, no_chunk_is_searched_at_any_speed)
{
    static const char *const delays[] = { "1us", "2us", "17us", "30us", "100us", "400us" };
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        setenv("DWELL_SLOW", delays[i], 1);
        slow_check_search("$SAMPLES/fib 20");
        slow_check_search("$SAMPLES/threads 2 300");
        slow_check_search("$SAMPLES/processes 2 20");
    }
}

/* Time in which a thread sleeps while its stack changes, or while it makes a mark, is not CPU time. */
Test(e2e_slow, asleep_in_the_middle_of_an_event)
{
    static const char *const programs[][2] = {
        { "2ms", "stacks/stacks ucontext" },
        { "2ms", "stacks/stacks hand" },
        { "2ms", "stacks/stacks place" },
        { "50ms", "control/control marks" },
    };
    static const char *const options[] = { "", "--mode ring=1G", "--mode profile", "--suppress none",
                                           "--mode profile --suppress none" };
    setenv("DWELL_SLOW", "0us", 1);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t j = 0; j < sizeof options / sizeof *options; j++) {
            setenv("DWELL_NAP", programs[i][0], 1);
            free(run_well("$DWELL record -q %s $PROGRAMS/%s", options[j], programs[i][1]));
            char *info = run_well(INFO_WITHOUT_CPU_REMARKS);
            cr_assert(not(has(info, "remark")), "%s %s: %s", programs[i][1], options[j], info);
            free(info);
        }
}
