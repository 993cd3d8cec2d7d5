/* dwell why names the causes that were planted in real programs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/features.h"
#include "support/rounds.h"
#include "support/run.h"

/* Where levels change at random, calls of the slow function's callees are counted for a while: then their time is a row
 * of the caller, and which row comes first depends on the seed. */
static void why_begin(void)
{
    unsetenv("DWELL_RANDOM_LEVELS");
}

TestSuite(e2e_why, .timeout = 600, .init = why_begin);

/* The first of some rows: its path, kind, object and cause. Names of objects without a name of their own are numbers.
 */
#define FIRST_OF(rows)                                                                                                           \
    "jq -r '[.rows[] | select(" rows ")][0] | [(.path | join(\";\")), .kind, .object.kind // \"-\", "                            \
    "(.object.name // \"-\" | sub(\":.*\"; \"\") | sub(\"(?<kind>shared|descriptor) [0-9a-f]+\"; .kind) | sub(\".*/\"; \"\")), " \
    ".cause // \"-\", .cause_function // \"-\"] | join(\" \")' why.json"

/* Other programs may preempt any call. */
#define NOT_PREEMPTED ".kind != \"runnable\""

/* The rows add up to both sets, and to the difference. */
#define SUMS                                                                                                           \
    "jq -e '([.rows[].slow_ns] | add) == .slow.mean_ns and ([.rows[].usual_ns] | add) == .usual.mean_ns and "          \
    "([.rows[].difference_ns] | add) == .difference_ns' why.json"

static void why_record(const char *options, const char *cause)
{
    free(run_well("$DWELL record %s $PROGRAMS/slow_calls %s", options, cause));
    free(run_well("$DWELL why --slow 4%% --format json handle >why.json; " SUMS));
}

/* Windows of calls above the limit, and one in four of the others. On a busy machine, a run may have no such call: the
 * thread that would preempt it has its turn before. */
static void why_record_kept(const char *options, const char *limit, const char *cause)
{
    enum { RUNS = 20 };
    bool slow = false;
    for (int i = 0; i < RUNS && !slow; i++) {
        free(run_well("$DWELL record -q --keep 'handle>%s' --keep-around 1ms --keep-usual 4 %s "
                      "$PROGRAMS/slow_calls %s",
                      limit, options, cause));
        struct ran r =
            run("$DWELL why --slow '>%s' --format json handle >why.json && jq -e '.slow.calls > 0' why.json", limit);
        slow = r.status == 0;
        ran_drop(&r);
    }
    cr_assert(slow, "%s: no call above %s in %d runs", cause, limit, RUNS);
    free(run_well(SUMS));
}

static void why_expect_first(const char *command, const char *first, const char *cause, const char *recording)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)first), "%s %s", cause, recording);
    free(text);
}

static const char *const recordings[] = { "--overhead 10%", "--overhead none" };

/* With the usual budget, and with all calls timed. In a run, 5 % of the calls have the cause. */
static void why_expect(const char *cause, const char *command, const char *first)
{
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        why_record(recordings[i], cause);
        why_expect_first(command, first, cause, recordings[i]);
    }
}

/* The same in windows of calls that take longer than the limit, as all with the cause do. */
static void why_expect_kept(const char *cause, const char *limit, const char *command, const char *first)
{
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        why_record_kept(recordings[i], limit, cause);
        why_expect_first(command, first, cause, recordings[i]);
    }
}

#define PLANTED_KEPT(test, cause, limit, first, kept)                                                                  \
    Test(e2e_why, test)                                                                                                \
    {                                                                                                                  \
        why_expect(cause, FIRST_OF(NOT_PREEMPTED), "handle;" first "\n");                                              \
        why_expect_kept(cause, limit, FIRST_OF(NOT_PREEMPTED), "handle;" kept "\n");                                   \
    }

#define PLANTED(test, cause, limit, first) PLANTED_KEPT(test, cause, limit, first, first)

PLANTED(lock_that_another_thread_holds, "lock", "20ms",
        "look_up;pthread_mutex_lock blocked mutex cache_lock holder nap")
/* A window has the calls of one process alone. */
PLANTED_KEPT(lock_that_another_process_holds, "process", "20ms",
             "look_up_shared;pthread_mutex_lock blocked mutex shared holder nap",
             "look_up_shared;pthread_mutex_lock blocked mutex shared holder (outside functions)")
/* Unless those of the others are asked for. */
Test(e2e_why, lock_that_another_process_holds_in_its_window)
{
    why_record_kept("--overhead none --keep-others", "20ms", "process");
    why_expect_first(FIRST_OF(NOT_PREEMPTED),
                     "handle;look_up_shared;pthread_mutex_lock blocked mutex shared holder nap\n", "process", "others");
}

PLANTED(lock_of_a_writer, "writer", "20ms", "read_table;pthread_rwlock_rdlock blocked rwlock table_lock holder nap")
PLANTED(answer_that_comes_late, "late", "20ms",
        "ask;ask_question;pthread_cond_wait blocked condition answered waker answer")
PLANTED(question_behind_another_one, "queue", "20ms",
        "queue_up;ask_question;pthread_cond_wait blocked condition answered waker answer")
PLANTED(barrier_with_a_late_thread, "barrier", "20ms", "meet;pthread_barrier_wait blocked barrier barrier waker arrive")
PLANTED(full_pipe, "pipe", "20ms", "report;write blocked pipe pipe waker drain")
PLANTED(file_that_is_written, "fsync", "500us", "save;fsync file file slow_calls.saved none -")
PLANTED(sleep, "sleep", "20ms", "doze;nap;nanosleep blocked sleep 40.000 ms none -")
PLANTED(host_that_does_not_answer, "resolve", "20ms", "resolve;poll blocked descriptors  none -")
PLANTED(timer, "timer", "20ms", "await_timer;read blocked timerfd descriptor none -")
PLANTED(child_that_is_executed, "child", "20ms", "run_child;waitpid blocked child  none -")
PLANTED(more_calls, "items", "500us", "parse_items;parse_item;compute cpu - - - -")
PLANTED(long_input, "long", "500us", "parse_text;compute cpu - - - -")
PLANTED(page_faults, "pages", "5ms", "touch;touch_block fault - - - -")
PLANTED(allocation_in_the_kernel, "allocation", "5ms", "allocate;mmap cpu - - - -")
PLANTED(cold_cache, "cold", "5ms", "walk cpu - - - -")
PLANTED(signal_handler, "signal", "500us", "be_interrupted;on_signal;compute cpu - - - -")
PLANTED(spinning_lock, "spin", "20ms", "look_up_spinning;spin cpu - - - -")
PLANTED(first_call_of_a_thread, "first", "500us", "use_tables;load_tables;compute cpu - - - -")

/* All calls with that cause are slow. So are those that other programs preempt for long: half of the slow ones is
 * enough. */
static bool why_has_migration(void)
{
    char *text = run_well("jq -r '.factors[] | select(.name == \"migration\") | [.value, .slow_share > .5, "
                          ".usual_share < .1] | join(\" \")' why.json");
    const bool has_it = strcmp(text, "to another cpu true true\n") == 0;
    free(text);
    return has_it;
}

/* A thread that has the processor to itself for longer than all else takes. */
Test(e2e_why, preempted_by_a_hog)
{
    why_expect("hog", FIRST_OF("true"), "handle runnable - - - -\n");
    why_expect_kept("hog", "20ms", FIRST_OF("true"), "handle runnable - - - -\n");
}

/* The thread comes to another processor, whose tables it has to load. */
Test(e2e_why, migration)
{
    char *processors = run_well("nproc");
    if (atoi(processors) < 2)
        cr_skip_test("there is one processor");
    free(processors);
    static const char first[] = "handle;use_tables_of_processor;load_tables;compute cpu - - - -\n";
    bool all = false, kept = false;
    for (int try = 0; try < MOST_TRIES && !all; try++) {
        why_expect("migration", FIRST_OF(NOT_PREEMPTED), first);
        all = why_has_migration();
    }
    for (int try = 0; try < MOST_TRIES && !kept; try++) {
        why_expect_kept("migration", "500us", FIRST_OF(NOT_PREEMPTED), first);
        kept = why_has_migration();
    }
    cr_assert(all);
    cr_assert(kept);
}

static void why_expect_answer(const char *filter, const char *expected)
{
    char *text = run_well("jq -c '%s' why.json", filter);
    cr_assert(eq(str, text, (char *)expected), "%s", filter);
    free(text);
}

/* The callee is only counted, so its time is that of the call above it. Samples tell them apart. Few are in code that
 * calls it. */
Test(e2e_why, function_that_is_counted)
{
    why_record("--overhead none --level counted=compute --sample 10000", "long");
    why_expect_first(FIRST_OF(".kind == \"cpu\""), "handle;parse_text;compute cpu - - - -\n", "long", "counted");
    why_expect_answer("[.rows[] | select(.kind == \"cpu\")][0] | [.estimated, .slow_calls, .ci95_ns > 0]",
                      "[true,null,true]\n");
    why_expect_answer(
        "([.rows[] | select(.path == [\"handle\", \"parse_text\"] and .kind == \"cpu\").slow_ns] | add // 0) "
        "< .slow.mean_ns / 10",
        "true\n");
    char *text = run_well("$DWELL why --slow 4%% handle | grep -c ' cpu  *~.* compute < parse_text *$'");
    cr_assert(eq(str, text, "1\n"));
    free(text);
}

/* The calls of several runs are compared as one. Each run has a lock of its own, at an address of its own. */
Test(e2e_why, several_sessions)
{
    free(run_well("$DWELL record --overhead none --runs 3 -o run.data $PROGRAMS/slow_calls lock"));
    free(run_well("$DWELL why --slow 4%% --format json handle run-*.data >why.json; " SUMS));
    char *calls = run_well("jq .calls why.json"), *first = run_well("%s", FIRST_OF(NOT_PREEMPTED));
    cr_assert(eq(str, calls, "600\n"));
    cr_assert(eq(str, first, "handle;look_up;pthread_mutex_lock blocked mutex cache_lock holder nap\n"));
    free(calls);
    free(first);
}

/* The sentence says if a path has more calls. It leaves that out if slow calls were preempted for much longer, so one
 * of several recordings must have it, unless other programs delayed calls in all of them. */
Test(e2e_why, more_calls_in_words)
{
    enum { TRIES = 20 };
    bool said = false;
    int quiet = 0;
    for (int tries = 0; !said && tries < TRIES; tries++) {
        why_record("--overhead none", "items");
        char *text = run_well("$DWELL why --slow 4%% handle | grep -c ', called [0-9.]* times as often' || true"),
             *answer = run_well("jq -r .answer why.json");
        said = strcmp(text, "1\n") == 0;
        quiet += !strstr(answer, "preempted");
        free(answer);
        free(text);
    }
    if (!said && !quiet)
        cr_skip_test("other programs delayed calls in all of %d runs", TRIES);
    cr_assert(said);
}

/* Descriptors that a call waits for together have no name: the sentence has the call. */
Test(e2e_why, waits_for_descriptors_in_words)
{
    why_record("--overhead none", "resolve");
    free(run_well("jq -e '.answer | contains(\" blocked in poll\")' why.json"));
}

/* What the thread did for which a call waited: it held the lock, or another request came first. */
static void why_expect_meanwhile(const char *cause, const char *expected)
{
    enum { RUNS = 10 };
    char *text = need_text("\n");
    for (int i = 0; i < RUNS && *text == '\n'; i++) { /* where others preempt most calls, no cause is followed */
        free(text);
        why_record("--overhead none", cause);
        text = run_well("jq -r '[.rows[] | select(.kind == \"blocked\")][0].meanwhile // \"\" | "
                        "sub(\"[0-9]+ %% \"; \"\") | sub(\",.*\"; \"\")' why.json");
    }
    cr_assert(eq(str, text, (char *)expected), "%s", cause);
    free(text);
}

Test(e2e_why, what_the_causing_thread_did)
{
    why_expect_meanwhile("lock", "waiting in nanosleep\n");
    why_expect_meanwhile("process", "waiting in nanosleep\n");
    why_expect_meanwhile("queue", "waiting in nanosleep\n");
    why_expect_meanwhile("barrier", "waiting in nanosleep\n");
}

/* All first calls are slow. So are those that other programs preempt for long: half of the slow ones is enough. */
Test(e2e_why, first_calls_as_a_factor)
{
    why_record("--overhead none", "first");
    char *text =
        run_well("$DWELL why --slow '>1ms' --format json handle | jq -r "
                 "'.factors[] | select(.name == \"first call\" and .value == \"of a thread\") | .slow_share > .5'");
    cr_assert(eq(str, text, "true\n"));
    free(text);
}

/* Nothing separates slow calls of random work from others, but for the time in which other programs ran. These also
 * leave cold caches behind, so calls that they delayed may have more of everything: such runs do not count. */
Test(e2e_why, random_work)
{
    const int rounds = test_rounds(100);
    int found = 0, quiet = 0;
    for (int i = 0; i < rounds; i++) {
        why_record("--overhead none", "random");
        char *answer = run_well("jq -r .answer why.json");
        const bool nothing = strstr(answer, "nothing separates them");
        quiet += nothing || !strstr(answer, "preempted");
        found += !nothing && !strstr(answer, "preempted");
        free(answer);
    }
    if (quiet < rounds / 5)
        cr_skip_test("other programs delayed calls in all but %d of %d runs", quiet, rounds);
    cr_assert(le(int, found * 20, quiet + 20), "%d of %d", found, quiet);
}

/* Calls of a part are those that ended in it: of the naps, three are within the timers. */
Test(e2e_why, within_activities)
{
    need_features("events");
    free(run_well("DWELL_PERFLOG=/dev/null $DWELL record -q --overhead none $PROGRAMS/perflog/slow_activities 30"));
    char *text = run_well("for part in '' '--within marker:7'; do "
                          "$DWELL why $part --slow p50 --format json nap | jq '.calls'; done");
    cr_assert(eq(str, text, "6\n3\n"));
    free(text);
}

Test(e2e_why, mode_profile)
{
    free(run_well("$DWELL record --mode profile $PROGRAMS/slow_calls sleep"));
    struct ran r = run("$DWELL why handle");
    cr_assert(eq(int, r.status, 2));
    cr_assert(
        eq(str, r.err,
           "dwell: dwell.data: recorded in mode profile, which keeps no single calls; record in mode trace or ring\n"));
    ran_drop(&r);
}

/* Calls count that were recorded as a whole, the outermost ones, and their rows add up. Others are cut. */
Test(e2e_why, calls_that_end_otherwise)
{
    static const struct {
        const char *function;
        int calls, cut;
    } expected[] = {
        { "leave_half", 100, 0 },   { "nest", 100, 0 },      { "go_away", 75, 25 },
        { "take_a_break", 75, 25 }, { "be_killed", 100, 1 },
    };
    free(run_well("$DWELL record -q --overhead none $PROGRAMS/call_ends; test $? -eq 137"));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        free(run_well("$DWELL why --slow 4%% --format json %s >why.json; " SUMS, expected[i].function));
        char *text = run_well("jq -r '.calls, (.remarks[] | select(.code == \"why-cut-calls\").text)' why.json | "
                              "sed 's/ were not .*//; s/ was not .*//; s/ calls*//'");
        char *wanted = expected[i].cut ? need_text("%d\n%d\n", expected[i].calls, expected[i].cut)
                                       : need_text("%d\n", expected[i].calls);
        cr_assert(eq(str, text, wanted), "%s", expected[i].function);
        free(wanted);
        free(text);
    }
}

/* What is left in a ring. */
Test(e2e_why, mode_ring)
{
    why_record("--mode ring=16M --overhead none", "sleep");
    char *text = run_well(FIRST_OF(NOT_PREEMPTED));
    cr_assert(eq(str, text, "handle;doze;nap;nanosleep blocked sleep 40.000 ms none -\n"));
    free(text);
}
