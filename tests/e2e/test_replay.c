/* dwell replay of real recordings shows the calls that the report counts, for any part. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_replay, .timeout = 300);

/* `calls FILE...`: how often each function begins in these outputs (csv), as `reported` prints it for the session. */
#define SHELL                                                                                                          \
    "calls() { cat \"$@\" | tr -d '\\r' | awk -F, '($7 == \"call\" || $7 == \"begin\") && $9 !~ /began_before/ { "     \
    "n[$8]++ } "                                                                                                       \
    "END { for (f in n) print f, n[f] }' | LC_ALL=C sort; }\n"                                                         \
    "reported() { $DWELL report --limit 0 --format csv | tr -d '\\r' | awk -F, 'NR > 1 && $5 { print $1, $5 }' | "     \
    "LC_ALL=C sort; }\n"                                                                                               \
    "same() { cmp \"$1\" \"$2\" || { diff \"$1\" \"$2\" | head; exit 1; }; }\n"                                        \
    "replay() { $DWELL replay --format csv \"$@\"; }\n"

/* The columns that the shell's functions above use. */
Test(e2e_replay, columns)
{
    char *out =
        run_well("$DWELL record -q $SAMPLES/fib 3 >out; $DWELL report --format csv | head -n 1 | cut -d, -f1,5; "
                 "$DWELL replay --format csv | head -n 1 | cut -d, -f7-9");
    cr_assert(eq(str, out, "function,calls\nkind,function,note\n"), "%s", out);
    free(out);
}

static void replay_check_calls(const char *program)
{
    free(run_well(SHELL
                  "$DWELL record -q %s >out; reported >wanted; test -s wanted || exit 1\n"
                  "replay >all; calls all >found; same wanted found\n"
                  /* in order, except for what was open before its thread was recorded */
                  "tr -d '\\r' <all | awk -F, 'NR > 1 && $1 && $9 !~ /began_before/ && $7 != \"mark\" { if ($1 < last) "
                  "exit 1; last "
                  "= $1 }' || exit 2\n"
                  /* two parts are the whole */
                  "middle=$(tr -d '\\r' <all | awk -F, '$1 { t[n++] = $1 } END { print t[int(n / 2)] }')ns\n"
                  "replay --to $middle >one; replay --from $middle >other; calls one other >found; same wanted found\n",
                  program));
}

Test(e2e_replay, calls_of_the_report)
{
    replay_check_calls("$SAMPLES/fib 24");
    replay_check_calls("$SAMPLES/threads 4 20000");
    replay_check_calls("$SAMPLES/processes 3 1000");
    replay_check_calls("$SAMPLES/sleeper");
}

/* --min leaves the same durations of the same functions as a filter by hand. A call that is shown with exactly 5000 ns
 * can be some picoseconds shorter. */
Test(e2e_replay, short_calls_left_out)
{
    free(run_well(SHELL
                  "$DWELL record -q $SAMPLES/fib 22 >out; replay >all\n"
                  "ends() { tr -d '\\r' | awk -F, '($7 == \"call\" || $7 == \"end\") && $2 > 5000 { print $8, $2 }' | "
                  "LC_ALL=C sort; }\n"
                  "ends <all >wanted; replay --min 5us | ends >found; test -s wanted || exit 1; same wanted found\n"
                  "replay --min 5us | tr -d '\\r' | awk -F, 'NR > 1 && $2 && $2 < 5000 { exit 1 }'"));
}

/* The main thread's part has the calls of the report by thread. */
Test(e2e_replay, one_thread_and_one_process)
{
    free(run_well(
        SHELL
        "$DWELL record -q $SAMPLES/threads 3 1000 >out; replay >all\n"
        "for tid in $(tail -n +2 all | cut -d, -f4 | sort -u); do\n"
        "  awk -F, -v tid=$tid 'NR == 1 || $4 == tid' all >wanted; replay --thread $tid >found; same wanted found\n"
        "done\n"
        "pid=$(sed -n 2p all | cut -d, -f3); replay --process $pid >found; same all found"));
}
