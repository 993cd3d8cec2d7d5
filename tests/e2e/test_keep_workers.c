/* Windows of slow calls in services that fork workers, which come and go: space of those that have ended is used again.
 * A worker claims some 40 KiB. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/run.h"

TestSuite(e2e_keep_workers, .timeout = 600);

/* Slow calls that are kept, that made room, and that were not kept; and lost events. */
#define KEPT                                                                                                           \
    "$DWELL info --format json >info.json; jq -c '[.keep.slow_calls, .keep.dropped_slow_calls, "                       \
    ".keep.limited_calls + .keep.unkept_calls, .session.lost_events]' info.json"

/* Whether the session is within 40 MiB, but for its symbols. */
#define WITHIN "test $(stat -c %%s dwell.data) -le $((41 << 20)); echo $?"

/* 3,000 workers would take 120 MiB, and so would nothing else: 30 of them are slow, and these are there. */
static void workers_expect(const char *options, const char *kept)
{
    free(run_well("$DWELL record -q --keep 'work>70ms' --max-size 40M%s $PROGRAMS/kept_workers 3000 2 100 100",
                  options));
    char *text = run_well(KEPT "; " WITHIN "; $DWELL why --slow '>70ms' --format json work | jq .slow.calls");
    cr_assert(eq(str, text, (char *)kept), "%s", options);
    free(text);
}

Test(e2e_keep_workers, short_workers_take_no_space)
{
    workers_expect(",ring", "[30,0,0,0]\n0\n30\n");
    char *text = run_well("jq -c '[(.processes | length) + .keep.dropped_processes, .keep.dropped_processes > 1000, "
                          "([.keep.calls[].pid] | unique | length)]' info.json; $DWELL info | grep -c "
                          "'^not kept  *[0-9]* processes that have ended, as the session has no window of them$'");
    cr_assert(eq(str, text, "[3001,true,30]\n1\n"));
    free(text);
}

Test(e2e_keep_workers, first_windows_stay)
{
    workers_expect("", "[30,0,0,0]\n0\n30\n");
}

Test(e2e_keep_workers, limit)
{
    workers_expect(",ring --keep-limit 7/day", "[7,0,23,0]\n0\n7\n");
}

/* Each worker has a window, and the program has 60 between them. The newest ones are there, whichever process they are
 * of. */
Test(e2e_keep_workers, oldest_windows_make_room)
{
    free(run_well("$DWELL record -q --keep 'serve>0ns' --keep-around 0ms --max-size 40M,ring $PROGRAMS/kept_workers "
                  "3000 1 4000 100 between >pids"));
    char *text = run_well("$DWELL info --format json >info.json; jq -c '.keep | [.slow_calls + .dropped_slow_calls, "
                          ".slow_calls > 300, .dropped_slow_calls > 300, .unkept_calls, (.calls | length) == "
                          ".slow_calls]' info.json; jq '.keep.calls[].pid' info.json >kept; "
                          "tail -n $(wc -l <kept) pids | cmp - kept && " WITHIN);
    cr_assert(eq(str, text, "[3060,true,true,0,true]\n0\n"));
    free(text);
    text = run_well("calls=$($DWELL why --slow '>0ns' --format json serve | jq .slow.calls); jq \".keep.slow_calls <= "
                    "$calls\" info.json");
    cr_assert(eq(str, text, "true\n")); /* others may be in the same chunks */
    free(text);
}

/* The list of the processes that take commands is without those that are gone. */
/* Children that lose the processor may be slow, too. */
Test(e2e_keep_workers, commands_reach_the_program)
{
    char *text = run_well(
        "$DWELL record -q --keep 'serve>70ms' --max-size 40M,ring $PROGRAMS/kept_workers 2000 2 4000 100 last >pids & "
        "while ! test -e ready; do sleep 0.05; done; $DWELL control $(cat ready) mark here; $DWELL control $(cat "
        "ready) keep 'serve>100s' && $DWELL control $(cat ready) keep 'step>0ns' && touch go; wait; "
        "$DWELL info --format json | jq -c --argjson pid $(cat ready) '[.keep.calls[] | select(.pid == $pid) | .function] "
        "| [length, unique]'");
    cr_assert(eq(str, text, "[100,[\"step\"]]\n"));
    free(text);
}

/* What was kept is there, whole. */
static void workers_expect_after(const char *kill)
{
    free(run_well("($DWELL record -q --keep 'work>70ms' --max-size 40M,ring $PROGRAMS/kept_workers 2000 2 100 100 last "
                  ">pids) & while ! test -e ready; do sleep 0.05; done; %s; touch go; wait",
                  kill));
    char *text = run_well(KEPT "; $DWELL why --slow '>70ms' --format json work | jq .slow.calls");
    cr_assert(eq(str, text, "[20,0,0,0]\n20\n"), "%s", kill);
    free(text);
}

Test(e2e_keep_workers, killed_program)
{
    workers_expect_after("kill -9 $(cat ready)");
}
