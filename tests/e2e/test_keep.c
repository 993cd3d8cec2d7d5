/* Windows of slow calls: `dwell record --keep`. The programs' slow calls take 200 ms, and no other one half of that. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/run.h"

TestSuite(e2e_keep, .timeout = 600);

/* Slow and usual calls that were kept, slow ones that were not, and those that lack a part of their window. */
#define KEPT                                                                                                           \
    "$DWELL info --format json | jq -c '.keep | [.slow_calls, .usual_calls, .limited_calls + .unkept_calls, "          \
    "([.calls[] | select(.missing_ns > 0)] | length)]'"

/* Slow calls that the events of the session have, from enter to exit. */
#define WHOLE "$DWELL why --slow '>100ms' --format json handle | jq .slow.calls"

static void keep_expect(const char *options, const char *program, const char *kept, const char *whole)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' %s $PROGRAMS/slow_few %s", options, program));
    char *text = run_well(KEPT);
    cr_assert(eq(str, text, (char *)kept), "%s", program);
    free(text);
    text = run_well(WHOLE);
    cr_assert(eq(str, text, (char *)whole), "%s", program);
    free(text);
}

Test(e2e_keep, all_slow_calls)
{
    keep_expect("", "1 100 20 1000", "[5,0,0,0]\n", "5\n");
}

/* 95 calls in each thread are not slow. */
Test(e2e_keep, threads_and_usual_calls)
{
    keep_expect("--keep-usual 10", "4 100 20 1000", "[20,36,0,0]\n", "20\n");
}

/* Of recursive calls, the outermost one counts. */
Test(e2e_keep, recursion)
{
    keep_expect("", "1 60 20 100 nest", "[3,0,0,0]\n", "3\n");
}

Test(e2e_keep, forked_child)
{
    keep_expect("", "2 60 20 1000 fork", "[6,0,0,0]\n", "6\n");
    char *text = run_well("$DWELL info --format json | jq '[.keep.calls[].pid] | unique | length'");
    cr_assert(eq(str, text, "2\n"));
    free(text);
}

Test(e2e_keep, call_sites)
{
    keep_expect("--call-sites", "1 60 20 100", "[3,0,0,0]\n", "3\n");
}

/* What was posted is there, and so are its events. */
Test(e2e_keep, killed_program)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' $PROGRAMS/slow_few 2 60 20 1000 kill; test $? -eq 137"));
    char *text = run_well(KEPT "; " WHOLE);
    cr_assert(eq(str, text, "[6,0,0,0]\n6\n"));
    free(text);
}

/* The pipe ends with the program. */
Test(e2e_keep, killed_recorder)
{
    free(run_well("($DWELL record -q --keep 'handle>100ms' $PROGRAMS/slow_few 2 60 20 300000 orphan) | cat"));
    char *text = run_well(KEPT "; " WHOLE);
    cr_assert(eq(str, text, "[6,0,0,0]\n6\n"));
    free(text);
}

/* Neither is left to finish the session: what was posted is there all the same. */
Test(e2e_keep, killed_program_and_recorder)
{
    free(run_well("($DWELL record -q --keep 'handle>100ms' $PROGRAMS/slow_few 2 60 20 300000 both) | cat"));
    char *text = run_well(KEPT "; " WHOLE);
    cr_assert(eq(str, text, "[6,0,0,0]\n6\n"));
    free(text);
}

/* The rings are used again many times between the slow calls, and only windows are left. */
Test(e2e_keep, less_than_a_trace)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' --keep-around 0ms --mode ring=256K $PROGRAMS/slow_few "
                  "1 60 20 100000"));
    char *text = run_well(KEPT "; " WHOLE "; $DWELL info --format json | jq '.session.enters < 300000'");
    cr_assert(eq(str, text, "[3,0,0,0]\n3\ntrue\n"));
    free(text);
}

/* Usual calls are named where there are any, and one call is no "calls". */
Test(e2e_keep, calls_in_words)
{
    char *text = run_well("for usual in '' '--keep-usual 2'; do $DWELL record --keep 'handle>100ms' $usual "
                          "$PROGRAMS/slow_few 1 20 20 1000 2>&1 | grep -o '[0-9].* kept'; "
                          "$DWELL report | grep -o '^! times.*'; done");
    cr_assert(eq(str, text,
                 "1 slow call kept\n! times and calls are those around 1 slow call, not of the whole run\n"
                 "1 slow call and 9 usual ones kept\n"
                 "! times and calls are those around 1 slow and some usual calls, not of the whole run\n"));
    free(text);
}

/* A ring that is shorter than the call is said, with the size that would do. */
Test(e2e_keep, ring_that_is_too_short)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' --mode ring=64K $PROGRAMS/slow_few 1 40 20 500000 long"));
    char *text = run_well("$DWELL info --format json | jq -c '.keep | [.slow_calls, ([.calls[] | "
                          "select(.missing_ns > 0 and .ring_bytes > 65536)] | length)]'; $DWELL info | "
                          "grep -c 'of its window are missing; --mode ring=[0-9]*M would hold it'");
    cr_assert(eq(str, text, "[2,2]\n2\n"));
    free(text);
}

/* As many as come. */
Test(e2e_keep, each_call)
{
    free(run_well("$DWELL record -q --keep 'handle>0ns' $PROGRAMS/slow_few 4 3000 3001 0"));
    char *text = run_well(KEPT "; $DWELL report --format json --filter handle | jq '[.functions[]? // .rows[] | "
                               "select(.function == \"handle\")][0].calls'");
    cr_assert(eq(str, text, "[12000,0,0,0]\n12000\n"));
    free(text);
}

Test(e2e_keep, usual_calls_alone)
{
    free(run_well("$DWELL record -q --keep 'handle>100s' --keep-usual 10 $PROGRAMS/slow_few 1 1000 1001 10"));
    char *text = run_well(KEPT);
    cr_assert(eq(str, text, "[0,100,0,0]\n"));
    free(text);
}

/* Limits that the process learns. Whatever else takes long on a busy machine is kept as well, but not most calls. */
Test(e2e_keep, learnt_limits)
{
    static const char *const limits[] = { "handle>p99", "handle>100xmean" };
    for (int i = 0; i < 2; i++) {
        free(run_well("$DWELL record -q --keep '%s' $PROGRAMS/slow_few 1 2000 500 100", limits[i]));
        char *text = run_well("$DWELL info --format json | jq -c '.keep | [([.calls[] | select(.duration_ns > 1e8)] | "
                              "length), .slow_calls < 300, .watches]'");
        char *expected = need_text("[4,true,[{\"text\":\"%s\",\"limit_ns\":null}]]\n", limits[i]);
        cr_assert(eq(str, text, expected));
        free(expected);
        free(text);
    }
}

/* Of recursive calls, only the outermost ones count for a limit that is learnt: of 6,000, some 180 are the slowest 3 %.
 * Had the nine inner ones of each counted, most outer ones would be longer than 97 % of all. */
Test(e2e_keep, learnt_limit_of_recursive_calls)
{
    free(run_well("cat > deep.c <<'END'\n"
                  "static volatile unsigned sum;\n"
                  "__attribute__((noinline)) static void descend(int depth, unsigned steps) {\n"
                  "    for (unsigned i = 0; i < steps; i++) sum += i;\n"
                  "    if (depth) descend(depth - 1, steps);\n"
                  "    sum++; }\n"
                  "int main(void) { unsigned x = 1; for (int i = 0; i < 6000; i++) {\n"
                  "    x = x * 1103515245 + 12345;\n"
                  "    descend(9, 200 + (x >> 16) %% 400); } return 0; }\n"
                  "END\n"
                  "gcc -O1 -g -finstrument-functions -o deep deep.c"));
    free(run_well("$DWELL record -q --keep 'descend>p97' --keep-around 0ms ./deep"));
    char *text = run_well("$DWELL info --format json | jq -c '.keep | .slow_calls > 20 and .slow_calls < 500'");
    cr_assert(eq(str, text, "true\n"));
    free(text);
}

Test(e2e_keep, limit)
{
    free(run_well("$DWELL record -q --keep 'handle>0ns' --keep-limit 7/day $PROGRAMS/slow_few 3 100 101 10"));
    char *text = run_well(KEPT "; $DWELL report | grep -c '^! 293 slow calls were not kept (dwell info says why)'");
    cr_assert(eq(str, text, "[7,0,293,0]\n1\n"));
    free(text);
}

/* When the session has no room for more windows, the rings go on. */
Test(e2e_keep, maximum_size)
{
    free(run_well("$DWELL record -q --keep 'handle>0ns' --mode ring=64K --max-size 8M $PROGRAMS/slow_few 1 500 501 "
                  "10000"));
    char *text = run_well("$DWELL info --format json | jq -c '[.keep.slow_calls + .keep.unkept_calls, "
                          ".keep.unkept_calls > 0, .keep.slow_calls > 0, .session.lost_events]'");
    cr_assert(eq(str, text, "[500,true,true,0]\n"));
    free(text);
}

/* ---- which windows a session of a maximum size has ---- */

/* Which functions' slow calls are there; whether all add up; lost events; and whether the file is within 8 MiB. The
 * symbols are added at the end, on top of that. */
static void keep_expect_rounds(const char *limit, const char *program, const char *there)
{
    free(run_well("$DWELL record -q --keep 'early>0ns' --keep 'late>0ns' --mode ring=64K --max-size %s "
                  "$PROGRAMS/kept_rounds %s 2>&1",
                  limit, program));
    char *text =
        run_well("$DWELL info --format json >info.json; jq -c '.session.lost_events as $lost | .keep | "
                 "[(.calls | map(.function) | unique), (.calls | length) == .slow_calls, "
                 ".slow_calls + .unkept_calls + .dropped_slow_calls, .unkept_calls > 0, "
                 ".dropped_slow_calls > 0, $lost]' info.json; test $(stat -c %%s dwell.data) -le $((9 << 20)); "
                 "echo $?");
    char *expected = need_text("%s\n0\n", there);
    cr_assert(eq(str, text, expected), "%s %s", limit, program);
    free(expected);
    free(text);
}

/* The first windows stay, and later ones have no room. */
Test(e2e_keep, maximum_size_keeps_the_first)
{
    keep_expect_rounds("8M", "2000 2000", "[[\"early\"],true,4000,true,false,0]");
}

/* The last ones take the room of those before, and the records of their calls. */
Test(e2e_keep, maximum_size_keeps_the_last)
{
    keep_expect_rounds("8M,ring", "2000 2000", "[[\"late\"],true,4000,false,true,0]");
}

Test(e2e_keep, maximum_size_of_several_threads)
{
    keep_expect_rounds("8M,ring", "2000 2000 4", "[[\"late\"],true,16000,false,true,0]");
}

/* Calls that are so short that most of what is kept is their records. */
Test(e2e_keep, maximum_size_of_short_calls)
{
    keep_expect_rounds("8M,ring", "200000 0", "[[\"late\"],true,400000,false,true,0]");
}

/* More than a million slow calls in some seconds: all are there or counted, and neither process keeps a list of them.
 * Without one, the program has 12 MiB, and the recorder 19. */
Test(e2e_keep, memory_does_not_depend_on_the_number_of_slow_calls)
{
    char *memory = run_well("$DWELL record -q --keep 'early>0ns' --keep 'late>0ns' --mode ring=64K --max-size 8M,ring "
                            "$PROGRAMS/kept_rounds 200000 0 4 memory");
    long program = 0, recorder = 0;
    cr_assert(eq(int, sscanf(memory, "%ld %ld", &program, &recorder), 2), "%s", memory);
    cr_assert(program > 0 && program <= 40 && recorder > 0 && recorder <= 60, "%s", memory);
    free(memory);
    char *text = run_well("$DWELL info --format json | jq -c '[.session.lost_events, (.keep | .slow_calls + "
                          ".dropped_slow_calls, .unkept_calls + .limited_calls, .slow_calls > 0)]'; "
                          "test $(stat -c %%s dwell.data) -le $((9 << 20)); echo $?");
    cr_assert(eq(str, text, "[0,1600000,0,true]\n0\n"));
    free(text);
}

/* `dwell info` says how many. */
Test(e2e_keep, windows_that_made_room_are_said)
{
    free(run_well("$DWELL record -q --keep 'early>0ns' --keep-usual 1 --mode ring=64K --max-size 8M,ring "
                  "$PROGRAMS/kept_rounds 2000 2000"));
    char *text = run_well(
        "$DWELL info --format json | jq -r '.keep | \"\\(.dropped_slow_calls) slow calls and \\(.dropped_usual_calls) "
        "usual ones, whose windows made room for later ones\"' >expected; $DWELL info | sed -n "
        "'s/^not kept  *//p' | cmp - expected; echo $?; $DWELL info --format json | jq '.keep | .dropped_slow_calls > "
        "0 and .slow_calls + .dropped_slow_calls == 2000'");
    cr_assert(eq(str, text, "0\ntrue\n"));
    free(text);
}

/* 64 MiB are kept, which the program does not have in memory. */
Test(e2e_keep, windows_are_not_mapped)
{
    char *text = run_well("$DWELL record -q --keep 'early>0ns' --mode ring=64K $PROGRAMS/kept_rounds 2000 2000; "
                          "test $(stat -c %%s dwell.data) -ge $((32 << 20)); echo $?");
    cr_assert(eq(str, text, "little is mapped\n0\n"));
    free(text);
}

Test(e2e_keep, no_slow_call)
{
    char *text = run_well("$DWELL record --keep 'handle>100s' $PROGRAMS/slow_few 1 10 11 10 2>&1; " KEPT);
    cr_assert(
        eq(str, text,
           "dwell: no call was slow, so nothing is kept in dwell.data; --keep 'handle>p99' would keep the slowest "
           "1 %\n[0,0,0,0]\n"));
    free(text);
    struct ran r = run("$DWELL why handle");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err,
                 "dwell: dwell.data: no call was slow, so --keep has kept none, and 'handle' is not known; dwell info "
                 "shows the limits\n"));
    ran_drop(&r);
}

/* A limit that is learnt has no other one to point to. */
Test(e2e_keep, no_slow_call_of_a_learnt_limit)
{
    char *text = run_well("$DWELL record --keep 'handle>p99' $PROGRAMS/slow_few 1 10 11 10 2>&1");
    cr_assert(eq(str, text, "dwell: no call was slow, so nothing is kept in dwell.data\n"));
    free(text);
}

/* What is kept before and after each call, in ns: what it has to be, and how often it is something else. The first call
 * counts from the session's begin. `least`: of a slow call. */
#define AROUND(least)                                                                                                  \
    "$DWELL info --format json | jq -c '.keep | [(.around_ns / 1e6 | round), (.calls | length), "                      \
    "([0] + [.calls[] | .start_ns + .duration_ns]) as $ends | "                                                        \
    "([.calls | to_entries[] | ((.value.start_ns - $ends[.key]) / 400) as $part | "                                    \
    "(if .value.usual then $part else [$part, " least "] | max end) as $around | "                                     \
    "([$around, 5e6] | min) as $all | select((.value.around_ns - $all) * (.value.around_ns - $all) > "                 \
    "(10 + $all / 1000) * (10 + $all / 1000))] | length)]'"

/* Where calls are kept often, less is kept around each of them: a 400th of the time since the last one. */
Test(e2e_keep, less_around_frequent_calls)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' --keep-usual 10 $PROGRAMS/slow_few 1 60 30 20000"));
    char *text = run_well(AROUND("1e5"));
    cr_assert(eq(str, text, "[5,7,0]\n"), "%s", text);
    free(text);
    text = run_well("$DWELL info | grep '^keep .*windows' | sed 's/  */ /g'");
    cr_assert(eq(str, text, "keep windows of slow calls, with up to 5.000 ms before and after\n"), "%s", text);
    free(text);
}

/* One slow call in 10,000 takes less than 1 % of a trace of all calls on disk: an enter has 6 bytes, and an exit 2. On
 * a busy machine, a part of the run's time can have many of its events, so the time around the call is given. */
Test(e2e_keep, one_slow_call_in_ten_thousand)
{
    enum { CALLS = 10000, STEPS = 2000, BYTES = 8 };
    free(run_well("$DWELL record -q --keep 'handle>100ms' --keep-around 0.1ms $PROGRAMS/slow_few 1 %d %d %d", CALLS,
                  CALLS, STEPS));
    char *text = run_well(KEPT "; " WHOLE "; test $(($(stat -c %%b dwell.data) * 512 * 100)) -le %d && echo small",
                          CALLS * STEPS * BYTES);
    cr_assert(eq(str, text, "[1,0,0,0]\n1\nsmall\n"), "%s", text);
    free(text);
}

/* What was asked for is the same for all. */
Test(e2e_keep, as_much_around_all_calls)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' --keep-usual 10 --keep-around 5ms $PROGRAMS/slow_few 1 60 30 "
                  "200"));
    char *text = run_well("$DWELL info --format json | jq -c '.keep | [.calls[].around_ns / 1e6 | round] | unique'; "
                          "$DWELL info | grep '^keep .*windows' | sed 's/  */ /g'");
    cr_assert(eq(str, text, "[5]\nkeep windows of slow calls, with 5.000 ms before and after\n"), "%s", text);
    free(text);
}

/* ---- --on-keep ---- */

/* What a window's file has: slow calls by its records, and by its events. */
#define IN_WINDOW                                                                                                      \
    "echo $($DWELL info --format json {} | jq .keep.slow_calls) "                                                      \
    "$($DWELL why --slow \">100ms\" --format json handle {} | jq .slow.calls) >>windows"

Test(e2e_keep, command_of_each_window)
{
    free(
        run_well("$DWELL record -q --keep 'handle>100ms' --on-keep '" IN_WINDOW "' $PROGRAMS/slow_few 1 100 20 30000"));
    char *text = run_well("cat windows; ls | grep -c window-; true");
    cr_assert(eq(str, text, "1 1\n1 1\n1 1\n1 1\n1 1\n0\n"));
    free(text);
}

/* Usual calls that were kept before are in the file, to compare. */
Test(e2e_keep, command_compares)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' --keep-usual 2 --on-keep '$DWELL why --slow \">100ms\" "
                  "handle {} >answer' $PROGRAMS/slow_few 1 40 30 1000"));
    char *text = run_well(
        "grep -c '^the 1 of [34][0-9] calls of handle above 100.000 ms takes .*: .* blocked in nanosleep' answer");
    cr_assert(eq(str, text, "1\n"));
    free(text);
}

/* The name is one argument, whatever it has. Input and output of the program are its own. */
Test(e2e_keep, command_is_apart)
{
    char *text =
        run_well("mkdir \"it's\" && echo in | $DWELL record -q --keep 'handle>100ms' -o \"it's/a \\$b\" --on-keep "
                 "'cat >got; echo to stderr; echo {} | sed \"s|.*/||\" >>names' sh -c '$PROGRAMS/slow_few 1 3 3 1; "
                 "cat' 2>said; cat got names said");
    cr_assert(eq(str, text, "in\na $b.window-1\nto stderr\n"));
    free(text);
}

static void keep_expect_said(const char *options, const char *said)
{
    char *text = run_well("$DWELL record -q --keep 'handle>100ms' %s $PROGRAMS/slow_few 1 100 20 1 2>&1", options);
    cr_assert(eq(str, text, (char *)said), "%s", options);
    free(text);
}

Test(e2e_keep, command_that_fails)
{
    keep_expect_said("--on-keep 'cp {} last.data; exit 3'",
                     "dwell: --on-keep: the command failed with status 3; others that fail are counted\n"
                     "dwell: --on-keep: 5 of 5 commands failed\n");
    keep_expect_said("--wait-all --on-keep 'true {}; kill -9 $$'",
                     "dwell: --on-keep: the command was ended by signal 9; others that fail are counted\n"
                     "dwell: --on-keep: 5 of 5 commands failed\n");
    char *text = run_well(KEPT "; ls; $DWELL info --format json last.data | jq .keep.slow_calls");
    cr_assert(eq(str, text, "[5,0,0,0]\ndwell.data\ndwell.data.old\nlast.data\n1\n"));
    free(text);
}

/* Four run at once, and dwell waits for them some seconds only. */
Test(e2e_keep, command_that_takes_long)
{
    char *text = run_well("$DWELL record -q --keep 'handle>100ms' --on-keep 'echo >>begun; sleep 30; true {}' "
                          "$PROGRAMS/slow_few 1 100 20 1 2>&1; wc -l <begun; ls | grep -c window-");
    cr_assert(has(text, "dwell: --on-keep: 1 of 5 windows had no command, as 4 run at once\n"), "%s", text);
    cr_assert(has(text, "dwell: --on-keep: 4 commands still run, so their files stay: "), "%s", text);
    cr_assert(has(text, "\n4\n4\n"), "%s", text);
    free(text);
}

Test(e2e_keep, command_of_a_killed_program)
{
    free(run_well("$DWELL record -q --keep 'handle>100ms' --on-keep '" IN_WINDOW
                  "' $PROGRAMS/slow_few 1 60 20 30000 kill; test $? -eq 137"));
    char *text = run_well("cat windows");
    cr_assert(eq(str, text, "1 1\n1 1\n1 1\n"));
    free(text);
}

/* The command kills the recorder. Its file, the session and the program are not concerned. */
Test(e2e_keep, command_of_a_killed_recorder)
{
    free(run_well(
        "($DWELL record -q --keep 'handle>100ms' --on-keep 'kill -9 $PPID; mv {} window' $PROGRAMS/slow_few 2 60 "
        "20 300000) | cat; while ! test -e window; do sleep 0.1; done"));
    char *text = run_well(KEPT "; " WHOLE "; $DWELL why --slow '>100ms' --format json handle window | jq .function");
    cr_assert(eq(str, text, "[6,0,0,0]\n6\n\"handle\"\n"));
    free(text);
}

/* ---- dwell control ---- */

/* Each phase has a slow call of handle and two calls of step. */
#define PHASE(number, commands)                                                                                        \
    "while ! test -e at" number "; do sleep 0.01; done; PID=$(cat at" number "); " commands " touch go" number "; "

Test(e2e_keep, control_changes_adds_and_ends)
{
    free(run_well(
        "$DWELL record -q --keep 'handle>100s' $PROGRAMS/slow_few 1 5 1 1 phases & " PHASE("1", "")
            PHASE("2", "$DWELL control $PID keep 'handle>100ms' && ")
                PHASE("3", "$DWELL control $PID keep 'ste?>0ns' && $DWELL control $PID keep 'handle>off' && ")
                    PHASE("4", "$DWELL control $PID keep 'step>off' && $DWELL control $PID keep 'handle>100ms' && ")
                        PHASE("5", "$DWELL control $PID keep '*>off' && ") "wait"));
    char *text = run_well(KEPT "; $DWELL info --format json | jq -c '.keep | [.watches[].text], [.calls[].function]'");
    cr_assert(eq(str, text,
                 "[4,0,0,0]\n[\"handle>100s\",\"handle>100ms\",\"ste?>0ns\"]\n"
                 "[\"handle\",\"step\",\"step\",\"handle\"]\n"));
    free(text);
}

static void keep_expect_refused(const char *setting, const char *said)
{
    struct ran r = run("$DWELL control $(cat at1) keep %s", setting);
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, said), "%s: %s", setting, r.err);
    ran_drop(&r);
}

Test(e2e_keep, control_of_what_is_wrong)
{
    free(run_well("($DWELL record -q --keep 'handle>100s' $PROGRAMS/slow_few 1 1 1 1 phases >out 2>&1 &) "
                  "</dev/null; while ! test -e at1; do sleep 0.01; done"));
    keep_expect_refused("",
                        "control: which slow calls? Give 'PATTERN>LIMIT', such as 'parse>50ms', or 'PATTERN>off'\n");
    keep_expect_refused("handle", "control: keep: 'handle' is not a function and a limit, such as ");
    keep_expect_refused("'nobody>1ms'", "control: pattern 'nobody' matches no instrumented function of process ");
    for (int i = 1; i < 30; i++)
        free(run_well("$DWELL control $(cat at1) keep 'handle>%dms'", i));
    keep_expect_refused("'handle>99ms'", "control: a session can have 30 settings of --keep, and has them\n");
    free(run_well(
        "$DWELL control $(cat at1) keep 'handle>9ms'; touch go1; while test -e /proc/$(cat at1); do sleep 0.1; "
        "done; rm at1 go1; ($DWELL record -q --mode ring -o b.data $PROGRAMS/slow_few 1 1 1 1 phases >out 2>&1 &) "
        "</dev/null; while ! test -e at1; do sleep 0.01; done"));
    keep_expect_refused("'handle>1ms'", "control: the recording keeps no windows; begin it with dwell record --keep\n");
    free(run_well("touch go1; while test -e /proc/$(cat at1); do sleep 0.1; done"));
}

#define WRONG_LIMIT(text)                                                                                              \
    "--keep: '" text "' is not a function and a limit, such as 'parse_request>20ms', 'parse_request>p99' or "          \
    "'parse_request>5xmean'\n"

Test(e2e_keep, what_is_wrong)
{
    static const char *const wrong[][2] = {
        { "--keep handle", WRONG_LIMIT("handle") },
        { "--keep 'handle>x'", WRONG_LIMIT("handle>x") },
        { "--keep 'handle>p10'", WRONG_LIMIT("handle>p10") },
        { "--keep 'handle>1xmean'", WRONG_LIMIT("handle>1xmean") },
        { "--keep '>20ms'", WRONG_LIMIT(">20ms") },
        { "--keep 'f>1s' --mode profile", "--keep: mode profile has no single calls; use --mode ring=SIZE\n" },
        { "--keep-usual 5",
          "--keep-usual, --keep-limit, --keep-others and --on-keep are for --keep 'FUNCTION>TIME'\n" },
        { "--keep-others", "--keep-usual, --keep-limit, --keep-others and --on-keep are for --keep 'FUNCTION>TIME'\n" },
        { "--on-keep 'echo {}'",
          "--keep-usual, --keep-limit, --keep-others and --on-keep are for --keep 'FUNCTION>TIME'\n" },
        { "--keep 'f>1s' --on-keep 'echo'",
          "--on-keep: 'echo' has no {}, where the name of a window's file is to be\n" },
        { "--keep 'f>1s' --keep-limit 5", "--keep-limit: '5' is not a number from 1 to 1000000 of windows in a time, "
                                          "such as 10/min (s, min, h, day)\n" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran r = run("$DWELL record %s $PROGRAMS/slow_few 1 1 1 1", wrong[i][0]);
        cr_assert(eq(int, r.status, 125));
        cr_assert(has(r.err, wrong[i][1]), "%s: %s", wrong[i][0], r.err);
        ran_drop(&r);
    }
}
