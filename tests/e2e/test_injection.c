/*
 * System calls of the runtime fail once, one in each run: every one with TEST_ROUNDS=all, else every fourth. The
 * program's output and status stay the same as without the runtime. Each of its calls is in the report or counted as
 * lost with a reason. Otherwise there is no session, and the runtime says so.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/rounds.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_injection, .timeout = 300, .init = without_os_calls);

/* The modes, and call sites. The rings are larger than what is recorded. All but the first fail a part of the calls,
 * another one for each program. In mode profile, a probe that finds an OS event makes system calls. Each is one when it
 * is traced, so OS events are off. */
static const struct {
    const char *variables;
    int step;
} kinds[] = {
    { "", 1 },
    { "DWELL_MODE=profile DWELL_OS_EVENTS=none", 2 },
    { "DWELL_MODE=ring=16777216", 3 },
    { "DWELL_CALL_SITES=1", 6 },
    { "DWELL_MODE=profile DWELL_OS_EVENTS=none DWELL_CALL_SITES=1", 4 },
};
enum { KINDS = 5, STRIDE = 4 /* unless all are wanted */ };
static const char *variables = "";

#define INJECT                                                                                                         \
    "rm -f x x.old; %s INJECT_LOG=log DWELL_LOG=stderr DWELL_OUTPUT=$PWD/x timeout 300 $PROGRAMS/scarcity/inject "

/* All calls and all their exits, as the program counts them. */
static uint64_t all_events(const char *out)
{
    uint64_t sum = 0;
    for (const char *at = out; (at = strstr(at, "calls ")); at = strchr(at, '\n')) {
        const char *end = strchr(at, '\n');
        const char *blank = end;
        while (blank[-1] != ' ')
            blank--;
        sum += strtoull(blank, NULL, 10);
    }
    return 2 * sum;
}

static void check_session(const char *what, uint64_t events)
{
    struct report *r = report_of("x");
    const uint64_t lost = report_session(r, "lost_events");
    cr_assert(eq(u64, report_session(r, "events") + lost, events), "%s", what);
    report_drop(r);
    if (lost == 0)
        return;
    char *info = run_well("$DWELL info x");
    const bool reason = has(info, "the disk was full") || has(info, "the system refused") ||
                        has(info, "could not open the session file");
    cr_assert(reason, "%s: %s", what, info);
    free(info);
}

/* Fails the call of that number. Returns false if the program makes fewer calls. */
static bool injection_fail_call(const char *command, int number, const struct ran *alone)
{
    struct ran r = run(INJECT "-n %d $RUNTIME %s", variables, number, command);
    char *call = run_well("sed -n %dp log", number);
    char what[128];
    snprintf(what, sizeof what, "%s, failing call: %.60s", variables, call);
    cr_assert(eq(int, r.status, alone->status), "%s: %s", what, r.err);
    cr_assert(eq(str, r.out, alone->out), "%s", what);
    if (access(test_path("x"), F_OK) == 0) {
        cr_assert(eq(str, r.err, ""), "%s", what);
        check_session(what, all_events(alone->out));
    } else {
        cr_assert(eq(str, r.err, "dwell: the session file of DWELL_OUTPUT cannot be written; nothing is recorded\n"),
                  "%s", what);
    }
    const bool any = call[0] != '\0';
    free(call);
    ran_drop(&r);
    return any;
}

/* The number of the runtime's calls varies a little from run to run with the helper thread's speed. */
static void inject_each(const char *command, int least, int first, int step)
{
    struct ran alone = run("%s", command);
    cr_assert(eq(int, alone.status, 0), "%s", alone.err);
    struct ran none = run(INJECT "$RUNTIME %s", variables, command);
    if (none.status == 96)
        cr_skip_test("ptrace is not allowed here");
    cr_assert(eq(int, none.status, 0), "%s", none.err);
    cr_assert(eq(str, none.out, alone.out));
    check_session("none", all_events(alone.out));
    char *count = run_well("wc -l < log");
    const int calls = atoi(count);
    free(count);
    cr_assert(ge(int, calls, least), "%s", command);
    int failed = 0;
    for (int i = first; i <= calls; i += step)
        failed += injection_fail_call(command, i, &alone);
    cr_assert(ge(int, failed, calls / step * 3 / 4), "%s", command);
    ran_drop(&none);
    ran_drop(&alone);
}

static void inject_all(const char *command, int least)
{
    const int offset = (int)strlen(command);
    for (int i = 0; i < KINDS; i++) {
        variables = kinds[i].variables;
        const int step = kinds[i].step * STRIDE / test_rounds(STRIDE);
        inject_each(command, least, 1 + offset % step, step);
    }
}

Test(e2e_injection, one_thread)
{
    inject_all("$SAMPLES/fib 16", 50);
}

Test(e2e_injection, threads)
{
    inject_all("$SAMPLES/threads 3 1000", 80);
}

Test(e2e_injection, forks)
{
    inject_all("$SAMPLES/processes 2 100", 100);
}

Test(e2e_injection, libraries_that_come_and_go)
{
    inject_all("$SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 100", 50);
}
