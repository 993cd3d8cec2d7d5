/* The names of sessions: an older session becomes FILE.old when something was recorded, and stays FILE otherwise. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_rotation, .timeout = 300, .init = without_os_calls);

/* Two recordings, the newer one dwell.data; copies of both are `newer` and `older`. */
static void make_two_sessions(void)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5 && cp dwell.data older && $DWELL record -q $SAMPLES/fib 6 && "
                  "cp dwell.data newer && cmp older dwell.data.old"));
}

static void check_nothing_changed(const char *after)
{
    free(run_well("cmp newer dwell.data && cmp older dwell.data.old && test ! -e dwell.data.earlier || "
                  "{ echo '%s'; ls -l; false; }",
                  after));
}

static void check_rotated(const char *after)
{
    free(run_well("cmp newer dwell.data.old && ! cmp -s newer dwell.data && test ! -e dwell.data.earlier || "
                  "{ echo '%s'; ls -l; false; }",
                  after));
}

Test(e2e_rotation, nothing_recorded)
{
    static const char *const commands[] = {
        "$DWELL record sh -c 'exit 3'; test $? = 3",
        "$DWELL record --mode profile sh -c 'exit 3'; test $? = 3",
        "$DWELL record --mode ring sh -c 'kill -9 $$'; test $? = 137",
        "$DWELL record --paused $SAMPLES/fib 10",
        "$DWELL record --depth 1 sh -c 'sleep 0.01; sleep 0.01'",
        "$DWELL record ./nothing; test $? = 127",
        "printf '#!/no/such/interpreter\\n' > script; chmod +x script; $DWELL record ./script; test $? = 127",
        "printf '\\177ELF\\2\\1\\1' > broken; chmod +x broken; $DWELL record ./broken; test $? != 0",
        "(ulimit -v 200000; $DWELL record --only nothing_of_that_name $SAMPLES/fib 5); true",
    };
    make_two_sessions();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        for (int j = 0; j < 2; j++) {
            free(run_well("%s", commands[i]));
            check_nothing_changed(commands[i]);
        }
    }
}

/* From each of the last allocations on, there is no more memory: also when the program has ended. */
Test(e2e_rotation, no_memory_while_nothing_is_recorded)
{
    make_two_sessions();
    free(run_well("export LD_PRELOAD=$PROGRAMS/scarcity/libnomemory.so; FAIL_LOG=log $DWELL record sh -c 'exit 3'\n"
                  "n=$(cat log); for number in $(seq $((n - 60)) 3 $n); do\n"
                  "FAIL_ALLOCATION=$number+ $DWELL record sh -c 'exit 3'; status=$?\n"
                  "case $status in 2|3|125) ;; *) echo \"$number: status $status\"; exit 1 ;; esac\n"
                  "cmp newer dwell.data && cmp older dwell.data.old && test ! -e dwell.data.earlier ||\n"
                  "{ echo \"allocation $number\"; ls -l; exit 1; }\n"
                  "done"));
}

Test(e2e_rotation, the_earlier_session_is_announced)
{
    make_two_sessions();
    struct ran r = run("$DWELL record -q sh -c true");
    cr_assert(has(r.err, "dwell: dwell.data: nothing was recorded, so it is still the earlier session\n"), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_rotation, something_recorded)
{
    static const char *const commands[] = {
        "$DWELL record -q $SAMPLES/fib 7",
        "$DWELL record -q --mode profile $SAMPLES/fib 7",
        "$DWELL record -q --monitor 10ms sh -c 'sleep 0.05'",
        "$DWELL record -q sh -c '$SAMPLES/fib 7; kill -9 $$'; test $? = 137",
        "setsid sh -c 'trap : INT; $DWELL record -q sh -c \"$SAMPLES/fib 7; kill -INT 0; sleep 5\"'; true",
        "env DWELL_OUTPUT=dwell.data LD_PRELOAD=$RUNTIME $SAMPLES/fib 7",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        make_two_sessions();
        free(run_well("%s", commands[i]));
        check_rotated(commands[i]);
    }
}

/* While a program is recorded, its session has the final name, and the two sessions before it exist. */
Test(e2e_rotation, names_while_recording)
{
    make_two_sessions();
    free(run_well("$DWELL record -q sh -c 'cmp newer dwell.data.earlier && cmp older dwell.data.old && "
                  "! cmp -s newer dwell.data && $DWELL info dwell.data | grep recording && $SAMPLES/fib 5'"));
    check_rotated("recording");
}

/* A shell that kills the recorder has written its PID, and lives on for a moment. */
#define NOBODY_IS_LEFT "{ while test -s left && test -e /proc/$(cat left); do sleep 0.02; done; rm -f left; }"

/* Whatever the recorder had reached when it died, the next recording finds the earlier sessions. */
Test(e2e_rotation, the_recorder_is_killed)
{
    static const char *const before[] = {
        "$DWELL record -q sh -c 'echo $$ >left; kill -9 $PPID'; test $? = 137",
        "mv dwell.data dwell.data.earlier",
        "mv dwell.data dwell.data.earlier; rm -f dwell.data; $DWELL record -q sh -c 'echo $$ >left; kill -9 $PPID'; "
        "test $? = 137",
    };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        make_two_sessions();
        free(run_well("{ %s; } && " NOBODY_IS_LEFT " && cmp newer dwell.data.earlier && cmp older dwell.data.old",
                      before[i]));
        free(run_well("$DWELL record sh -c true"));
        check_nothing_changed(before[i]);
        free(run_well("{ %s; } && " NOBODY_IS_LEFT " && $DWELL record -q $SAMPLES/fib 8", before[i]));
        check_rotated(before[i]);
    }
}

Test(e2e_rotation, the_recorder_is_killed_after_something_was_recorded)
{
    make_two_sessions();
    free(run_well("$DWELL record -q sh -c 'echo $$ >left; $SAMPLES/fib 9; kill -9 $PPID'; " NOBODY_IS_LEFT
                  "; cp dwell.data killed; cmp newer dwell.data.earlier && cmp older dwell.data.old"));
    free(run_well("$DWELL record sh -c true; cmp killed dwell.data && cmp newer dwell.data.old"));
    free(run_well("$DWELL record -q $SAMPLES/fib 5; cmp killed dwell.data.old; test ! -e dwell.data.earlier"));
}

/* Without `dwell record`, the next session of that name gives the earlier one its name. */
Test(e2e_rotation, preloaded_programs_that_record_nothing)
{
    make_two_sessions();
    free(
        run_well("for i in 1 2; do env DWELL_OUTPUT=$PWD/dwell.data LD_PRELOAD=$RUNTIME sh -c true; "
                 "cmp newer dwell.data.earlier && cmp older dwell.data.old || exit 1; done; $DWELL record sh -c true"));
    check_nothing_changed("preloaded");
}

/* Its session is not replaced while it may still record. */
Test(e2e_rotation, a_process_that_outlives_the_program)
{
    make_two_sessions();
    free(
        run_well("mkfifo held; $DWELL record sh -c '{ cat held; $SAMPLES/fib 9; echo >ended; } >/dev/null 2>&1 & sleep "
                 "0.1'; cmp newer dwell.data.earlier; before=$?; echo >held; while ! test -e ended; do sleep 0.02; "
                 "done; exit $before"));
    check_rotated("outlived");
    struct report *r = report_of("dwell.data");
    cr_assert(gt(u64, report_sum(r, "function", "fib", "calls"), 0));
    report_drop(r);
}

Test(e2e_rotation, a_disk_that_is_full_at_once)
{
    struct ran r =
        run("mkdir small; unshare -m sh -c 'mount -t tmpfs -o size=1m none small && $DWELL record -q -o small/x "
            "$SAMPLES/fib 5 && cp small/x first && { dd if=/dev/zero of=small/full bs=4k 2>/dev/null; $DWELL record -o "
            "small/x $SAMPLES/fib 5; test $? = 125 && cmp first small/x && test $(ls small | wc -l) = 2; }'");
    if (r.status != 0 && has(r.err, "unshare"))
        cr_skip_test("no mount namespaces here");
    cr_assert(eq(int, r.status, 0), "%s%s", r.out, r.err);
    ran_drop(&r);
}

Test(e2e_rotation, a_symbolic_link)
{
    free(run_well(
        "$DWELL record -q -o real $SAMPLES/fib 5 && ln -s real dwell.data && $DWELL record -q $SAMPLES/fib 6 && "
        "test -h dwell.data.old && test ! -h dwell.data && $DWELL record sh -c true && test ! -h dwell.data && "
        "test -h dwell.data.old"));
}

/* ---- chains of programs that execute one another: no process is a writer for a moment ---- */

#define CHAIN "$PROGRAMS/processes/processes-chain "

static void check_chain(const char *session, uint64_t programs, uint64_t steps)
{
    struct report *r = report_of(session);
    cr_expect(eq(u64, report_sum(r, "function", "main", "calls"), programs));
    cr_expect(eq(u64, report_sum(r, "function", "step", "calls"), steps));
    report_drop(r);
}

/* The pipe ends with the last program. */
Test(e2e_rotation, programs_that_execute_others_after_the_recorder_was_killed)
{
    make_two_sessions();
    free(run_well("$DWELL record -q " CHAIN "3 orphan 4 5 6 | cat; cmp newer dwell.data.earlier && "
                  "cmp older dwell.data.old"));
    check_chain("dwell.data", 5, 18);
    free(run_well("cp dwell.data chain; $DWELL record -q $SAMPLES/fib 5; cmp chain dwell.data.old"));
}

Test(e2e_rotation, programs_that_execute_others_by_hand)
{
    make_two_sessions();
    free(run_well("mkdir other; env DWELL_OUTPUT=dwell.data LD_PRELOAD=$RUNTIME " CHAIN "3 4 'cd other' 5; "
                  "test ! -e other/dwell.data"));
    check_rotated("by hand");
    check_chain("dwell.data", 4, 12);
}

/* libdwell.a interposes no exec. */
Test(e2e_rotation, static_programs_that_execute_others_by_hand)
{
    make_two_sessions();
    free(run_well("env DWELL_OUTPUT=$PWD/dwell.data $PROGRAMS/processes/processes-chain-static 3 4 5"));
    check_rotated("static");
    check_chain("dwell.data", 3, 12);
}

Test(e2e_rotation, programs_of_an_earlier_session_leave_a_later_one)
{
    make_two_sessions();
    free(run_well("env DWELL_OUTPUT=$PWD/dwell.data LD_PRELOAD=$RUNTIME " CHAIN
                  "3 'mv dwell.data chain; $DWELL record -q $SAMPLES/fib 9; cp dwell.data later' 4 5; "
                  "cmp later dwell.data"));
    check_chain("chain", 2, 3);
}

/* A program that names a session of its own does not belong to that of its caller. */
Test(e2e_rotation, programs_with_a_session_of_their_own)
{
    free(run_well("$DWELL record -q -o outer " CHAIN "3 'DWELL_OUTPUT=$PWD/inner " CHAIN "4 5' 6"));
    check_chain("outer", 3, 9);
    check_chain("inner", 2, 9);
}
