/* Pauses from outside, which take the probes out of the code: calls and stacks are exact before and after. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rounds.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_pauses, .timeout = 300, .init = without_os_calls);

static const char *const modes[] = { "trace", "ring=1G", "profile" };
enum { MODES = sizeof modes / sizeof *modes };

/* Runs programs/levels/paused. `script` has `act LETTERS`, `pause` and `resume`. A child's process id takes the place
 * of its parent's. */
static void pauses_serve(const char *options, const char *script)
{
    free(run_well(
        "mkfifo in out; $DWELL record -q %s $PROGRAMS/levels/paused $PROGRAMS/loading/libloading-a.so < in > out "
        "& recorder=$!\nexec 3> in 4< out; read pid <&4\n"
        "act() { echo \"$1\" >&3; read answer <&4; case $answer in [0-9]*) pid=$answer; read answer <&4;; esac; }\n"
        "pause() { $DWELL control $pid pause || exit 9; sleep 0.3; }\n"
        "resume() { $DWELL control $pid resume || exit 9; }\n"
        "%s\nexec 3>&-; wait $recorder; rm in out",
        options, script));
}

/* The call paths with numbers of calls, in the order of the alphabet. */
static void pauses_check(const char *options, const char *script, const char *expected)
{
    for (int i = 0; i < MODES; i++) {
        char all[128];
        snprintf(all, sizeof all, "--mode %s %s", modes[i], options);
        pauses_serve(all, script);
        char *paths = report_paths("");
        cr_assert(eq(str, paths, (char *)expected), "%s, %s: %s", all, script, paths);
        free(paths);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        r = report_of("--by thread");
        check_sums(r, "thread");
        report_drop(r);
    }
}

Test(e2e_pauses, calls_are_not_recorded)
{
    pauses_check("", "act al; pause; act lllulalu; resume; act ll; pause; act l; pause; resume; act lal",
                 "main 1\nmain/a 2\nmain/a/leaf 2\nmain/leaf 3\n");
}

Test(e2e_pauses, open_calls_end_while_paused)
{
    pauses_check("", "act abcl; pause; act uul; resume; act lblul",
                 "main 1\nmain/a 1\nmain/a/b 2\nmain/a/b/c 1\nmain/a/b/c/leaf 1\nmain/a/b/leaf 1\nmain/a/leaf 2\n");
}

Test(e2e_pauses, calls_that_begin_while_paused_are_left_out)
{
    pauses_check("", "act a; pause; act bcl; resume; act lulul", "main 1\nmain/a 1\nmain/a/leaf 3\n");
}

Test(e2e_pauses, recursive_calls_of_open_functions)
{
    pauses_check("", "act ab; pause; act alau; resume; act lulul",
                 "main 1\nmain/a 1\nmain/a/b 1\nmain/a/b/a 0\nmain/a/b/a/leaf 1\nmain/a/b/leaf 1\nmain/a/leaf 1\n");
}

Test(e2e_pauses, calls_that_are_left_by_a_jump)
{
    pauses_check("", "act abl; pause; act cclj; act l; resume; act lal; pause; act bcjl; resume; act l",
                 "main 1\nmain/a 2\nmain/a/b 1\nmain/a/b/leaf 1\nmain/a/leaf 1\nmain/leaf 2\n");
}

Test(e2e_pauses, one_after_another_and_while_the_probes_change)
{
    pauses_check(
        "",
        "act al; for i in 1 2 3 4 5 6 7 8; do $DWELL control $pid pause; sleep 0.05$i; act ll; resume; act bluul; "
        "$DWELL control $pid pause; resume; act al; done",
        "main 1\nmain/a 9\nmain/a/b 8\nmain/a/b/leaf 8\nmain/a/leaf 9\nmain/leaf 8\n");
}

Test(e2e_pauses, levels_that_change_meanwhile)
{
    pauses_check(
        "--sample 0 --level out=b",
        "act abl; pause; $DWELL control $pid level timed=b; $DWELL control $pid level out=leaf; act cul; resume; "
        "act lubl; pause; $DWELL control $pid level counted=a; $DWELL control $pid level timed=leaf; act uul; resume; act lal",
        "main 1\nmain/a 1\nmain/a/b 1\nmain/a/leaf 1\nmain/leaf 2\n");
}

Test(e2e_pauses, a_library_that_comes_meanwhile)
{
    pauses_check("", "act al; pause; act ol; sleep 0.3; act ol; resume; act o",
                 "main 1\nmain/a 1\nmain/a/end_a 1\nmain/a/end_a/inner_a 1\nmain/a/leaf 1\nmain/a/work_in_library 1\n"
                 "main/a/work_in_library/inner_a 2\n");
}

Test(e2e_pauses, threads_that_come_meanwhile)
{
    pauses_check("", "act al; pause; act tlb; resume; act lul; act tb; pause; act lual; resume; act luul",
                 "a 1\na/a 0\na/a/leaf 1\na/b 1\nleaf 3\nmain 1\nmain/a 1\nmain/a/leaf 1\n");
}

Test(e2e_pauses, forks_meanwhile)
{
    pauses_check("", "act abl; pause; act fl; act ul; resume; act lal; pause; act ul; resume; act l",
                 "main 1\nmain/a 1\nmain/a/a 1\nmain/a/a/leaf 1\nmain/a/b 1\nmain/a/b/leaf 1\nmain/a/leaf 2\n");
}

/* The thread sleeps through the end of the pause, and for so long afterwards. */
static void pauses_check_sleep(const char *options, const char *how)
{
    enum { MILLISECONDS = 200 };
    free(run_well("$DWELL record -q --os-events perf %s $PROGRAMS/control/asleep %d %s", options, MILLISECONDS, how));
    struct report *r = report_of("--raw --by function");
    cr_assert(ge(u64, report_sum(r, "function", "nap", "blocked_exclusive_ns"), MILLISECONDS * UINT64_C(999000)),
              "%s %s", options, how);
    cr_assert(eq(u64, report_sum(r, "function", "nap", "calls"), 1));
    report_drop(r);
}

Test(e2e_pauses, a_thread_that_sleeps_through_their_end)
{
    static const char *const options[] = { "--mode trace", "--mode ring=16M", "--mode profile", "--depth 9" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        pauses_check_sleep(options[i], "");
        pauses_check_sleep(options[i], "within");
    }
}

/* The program's functions have places in a chain. No call is below one of the same or a later place. */
static void pauses_check_chain(void)
{
    static const char *const chain[] = { "fixed_run", "fixed_step", "fixed_middle", "fixed_leaf" };
    char *paths = report_paths("");
    for (char *line = strtok(paths, "\n"); line; line = strtok(NULL, "\n")) {
        char copy[1024];
        size_t last = 0;
        snprintf(copy, sizeof copy, "%s", line);
        char *handler = strstr(copy, "fixed_handle"); /* a signal's, which begins anew */
        for (char *saved, *name = strtok_r(handler ? handler : copy, "/ ", &saved); name;
             name = strtok_r(NULL, "/ ", &saved))
            for (size_t i = 0; i < sizeof chain / sizeof *chain; i++) {
                if (strncmp(name, chain[i], strlen(chain[i])) != 0)
                    continue;
                cr_assert(gt(sz, i + 1, last), "%s", line);
                last = i + 1;
            }
    }
    free(paths);
}

/* Threads run while their levels change as fast as possible, and the recording is paused again and again. */
static void pauses_shake(const char *program, const char *mode, const char *kinds)
{
    char *out = run_well("$DWELL record -q --mode %s %s 4 2500 %s $PROGRAMS/loading/libloading-a.so & recorder=$!\n"
                         "until pid=$(pgrep -P $recorder toggling) || ! kill -0 $recorder; do sleep 0.05; done\n"
                         "for i in 1 2 3 4 5 6 7 8 9; do $DWELL control $pid pause; sleep 0.0$i; sleep 0.06\n"
                         "$DWELL control $pid resume; sleep 0.0$i; done; wait $recorder",
                         mode, program, kinds);
    pauses_check_chain();
    struct report *r = report_of("--by thread");
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    check_sums(r, "thread");
    report_drop(r);
    free(out);
}

Test(e2e_pauses, threads_and_signals_while_levels_change)
{
    glob_t found;
    cr_assert(eq(int, glob(DWELL_PROGRAMS "/levels/toggling-*", 0, NULL, &found), 0));
    const size_t step = 4 / (size_t)test_rounds(4);
    for (size_t i = 0; i < found.gl_pathc; i += step)
        pauses_shake(found.gl_pathv[i], modes[i % MODES], i % 2 ? "s" : "sjed");
    globfree(&found);
}

/* With --for, nothing more is recorded after the line that says so, until somebody resumes. */
Test(e2e_pauses, a_recording_of_limited_time)
{
    char *said = run_well(
        "mkfifo in out; $DWELL record --for 100ms $PROGRAMS/levels/paused $PROGRAMS/loading/libloading-a.so < in > out "
        "2> said & recorder=$!\nexec 3> in 4< out; read pid <&4\n"
        "act() { echo \"$1\" >&3; read answer <&4; }\n"
        "until grep -q without said; do sleep 0.05; done; cat said | sed 's/; .*paused /; paused /'\n"
        "act lll; $DWELL control dwell.data resume || exit 9; act ll\n"
        "exec 3>&-; wait $recorder || exit 8; $DWELL report --format csv --columns calls | tr -d '\\r' | "
        "awk -F, '/^leaf,/ { print $NF }'");
    cr_assert(eq(str, said, "dwell: recorded for 100 ms; paused goes on without\n2\n"), "%s", said);
    free(said);
}

Test(e2e_pauses, a_program_that_ends_before_its_time)
{
    struct ran r = run("$DWELL record --for 3600s $SAMPLES/fib 5 >out");
    cr_assert(eq(int, r.status, 0));
    cr_assert(not(has(r.err, "recorded for")), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL record --for 5 $SAMPLES/fib 5");
    cr_assert(eq(int, r.status, 125));
    cr_assert(eq(str, r.err, "dwell: --for: '5' is not a time such as 500ns, 10us, 2.5ms or 1s\n"));
    ran_drop(&r);
    r = run("$DWELL record --for 500us $SAMPLES/fib 5");
    cr_assert(eq(int, r.status, 125));
    cr_assert(eq(str, r.err, "dwell: --for: '500us' is not between 1ms and a year\n"));
    ran_drop(&r);
}
