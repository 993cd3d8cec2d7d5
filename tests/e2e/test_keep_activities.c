/* Windows of slow activities: `dwell record --keep` with a marker of PerfLog, or a class of trace events. The program's
 * slow ones take 200 ms, and no other one half of that. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/features.h"
#include "support/run.h"

static void keep_need_events(void)
{
    need_features("events");
}

TestSuite(e2e_keep_activities, .init = keep_need_events, .timeout = 600);

/* The slow ones that were kept, by name, and how many usual ones. */
#define KEPT                                                                                                           \
    "$DWELL info --format json | jq -c '.keep | [([.calls[] | select(.usual | not) | [.function, .activity, "          \
    ".duration_ns > 1e8, .missing_ns]] | group_by(.) | map(.[0] + [length])), .usual_calls]'"

static void keep_activities_expect(const char *options, const char *kept)
{
    free(run_well("DWELL_PERFLOG=/dev/null $DWELL record -q %s $PROGRAMS/perflog/slow_activities 30", options));
    char *text = run_well(KEPT);
    cr_assert(eq(str, text, (char *)kept), "%s", options);
    free(text);
}

Test(e2e_keep_activities, marker)
{
    keep_activities_expect("--keep 'Test=Request>100ms'", "[[[null,\"Test=Request,Kind=small\",true,0,3]],0]\n");
}

Test(e2e_keep_activities, marker_by_number)
{
    keep_activities_expect("--keep 'marker:7>100ms'", "[[[null,\"Test=Request,Kind=small\",true,0,3]],0]\n");
}

/* START to END, and DEQUEUE to END. */
Test(e2e_keep_activities, class)
{
    keep_activities_expect("--keep 'activity:shop>100ms' --keep-usual 9 --event '*'",
                           "[[[null,\"shop\",true,0,3]],3]\n");
    keep_activities_expect("--keep 'queue>100ms' --event '*'", "[[[null,\"queue\",true,0,1]],0]\n");
}

/* A name can be one of both. Of settings that name it, the last one is valid. */
Test(e2e_keep_activities, several)
{
    keep_activities_expect("--keep 'nap>100ms' --keep '*>100s' --keep 'marker:*>100ms' --keep 'nap>100ms' --event '*'",
                           "[[[null,\"Test=Request,Kind=small\",true,0,3],[\"nap\",null,true,0,6]],0]\n");
}

Test(e2e_keep_activities, share)
{
    free(run_well(
        "DWELL_PERFLOG=/dev/null $DWELL record -q --keep 'shop>p50' --event shop $PROGRAMS/perflog/slow_activities "
        "60"));
    char *text = run_well("$DWELL info --format json | jq -c '.keep | [([.calls[] | select(.duration_ns > 1e8)] | "
                          "length), .slow_calls < 60]'");
    cr_assert(eq(str, text, "[6,true]\n"));
    free(text);
}

/* Windows have the calls, and the events of all threads. */
Test(e2e_keep_activities, windows)
{
    free(run_well("DWELL_PERFLOG=/dev/null $DWELL record -q --keep 'marker:Kind=small>100ms' "
                  "$PROGRAMS/perflog/slow_activities 30"));
    char *text = run_well("$DWELL report --within marker:7 --format json | jq '[.functions[]? // .rows[] | "
                          "select(.function == \"nap\")][0].calls'; $DWELL info | grep '^kept' | cut -c1-60 | "
                          "grep -c ' Test=Request,Kind=small took 2'");
    cr_assert(eq(str, text, "3\n3\n"));
    free(text);
}

/* A command gets the window of each slow activity, with that alone. */
Test(e2e_keep_activities, command_of_each_window)
{
    free(
        run_well("DWELL_PERFLOG=/dev/null $DWELL record -q --keep 'Test=Request>100ms' --on-keep '$DWELL info "
                 "--format json {} | jq -c \"[.keep.calls[] | [.function, .activity, .duration_ns > 1e8]]\" >>windows' "
                 "$PROGRAMS/perflog/slow_activities 30"));
    char *text = run_well("cat windows; ls | grep -c window-; true");
    cr_assert(eq(str, text,
                 "[[null,\"Test=Request,Kind=small\",true]]\n"
                 "[[null,\"Test=Request,Kind=small\",true]]\n"
                 "[[null,\"Test=Request,Kind=small\",true]]\n0\n"));
    free(text);
}

/* A thread can have 16 of them open. Of the others, the oldest are counted. */
Test(e2e_keep_activities, more_than_there_is_room_for)
{
    static const char *const all[][2] = { { "16", "[16,0]\n0\n0\n" }, { "20", "[16,4]\n1\n1\n" } };
    for (int i = 0; i < 2; i++) {
        free(run_well("DWELL_PERFLOG=/dev/null $DWELL record -q --keep 'activity:shop>100ms' --event shop "
                      "$PROGRAMS/perflog/slow_activities %s many",
                      all[i][0]));
        char *text = run_well("$DWELL info --format json | jq -c '.keep | [.slow_calls, .forgotten_activities]'; "
                              "$DWELL info | grep -c '^not kept  *4 activities were not watched to their end, as their "
                              "thread had more than 16 open$'; $DWELL report | grep -c '^! 4 activities were not "
                              "watched to their end (dwell info says why)$'; true");
        cr_assert(eq(str, text, (char *)all[i][1]), "%s", all[i][0]);
        free(text);
    }
}

/* A name that is none of both is said when the program has ended. */
Test(e2e_keep_activities, name_of_nothing)
{
    char *text =
        run_well("DWELL_PERFLOG=/dev/null $DWELL record -q --keep 'Reqest>1s' --keep 'shop>1s' "
                 "--keep 'marker:9>1s' --keep 'marker:7>1s' --event shop $PROGRAMS/perflog/slow_activities 1 2>&1");
    cr_assert(eq(str, text,
                 "dwell: --keep: 'marker:9' named no activity of a recorded program\n"
                 "dwell: --keep: 'Reqest' named neither an instrumented function nor an activity of a recorded "
                 "program; did you mean 'request'?\n"));
    free(text);
}

/* The events are not recorded, so nothing is known of the activities. */
Test(e2e_keep_activities, class_that_is_not_selected)
{
    char *text = run_well("DWELL_PERFLOG=/dev/null $DWELL record -q --keep 'activity:shop>1s' "
                          "$PROGRAMS/perflog/slow_activities 1 2>&1");
    cr_assert(eq(str, text,
                 "dwell: --keep: 'activity:shop' named no activity of a recorded program; --event must select its "
                 "class\n"));
    free(text);
}

/* While the program runs: another limit, and none. */
Test(e2e_keep_activities, control)
{
    static const char *const steps[][2] = { { "'marker:7>100ms'", "[[[null,\"Test=Request,Kind=small\",true,0,2]],0]" },
                                            { "'marker:7>off'", "[[],0]" } };
    for (int i = 0; i < 2; i++) {
        free(run_well(
            "rm -f go done; (DWELL_PERFLOG=/dev/null $DWELL record -q --keep 'marker:7>%s' sh -c "
            "'echo $$ >pid; exec $PROGRAMS/perflog/slow_activities 20 wait' >out 2>&1; touch done) </dev/null & "
            "for i in $(seq 400); do $DWELL control $(cat pid) keep %s 2>refused && break; sleep 0.05; done; "
            "touch go; for i in $(seq 400); do test -e done && break; sleep 0.05; done",
            i ? "100ms" : "100s", steps[i][0]));
        char *text = run_well(KEPT "; rm pid");
        char *expected = need_text("%s\n", steps[i][1]);
        cr_assert(eq(str, text, expected));
        free(expected);
        free(text);
    }
}
