/*
 * Ends of processes that do not record them: killed ones, those that end by a bare system call, and those that execute
 * another program. All times are of the session: an end lies between calls of the process and of its parent.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_ends, .timeout = 300, .init = without_os_calls);

#define ENDS "$PROGRAMS/processes/processes-ends"
#define BY_HAND "DWELL_OUTPUT=$PWD/dwell.data LD_PRELOAD=$RUNTIME "
#define BY_RECORDER "$DWELL record -q "

enum { MAX_ROWS = 64 };

/* A call of a process; times in nanoseconds since the session began. */
struct span {
    unsigned pid;
    char function[32];
    uint64_t begin, end;
};

struct spans {
    struct span list[MAX_ROWS];
    int count;
};

/* The calls that a replay shows. Columns: time, took, process, tid, thread, depth, kind, function. */
static struct spans ends_replay(void)
{
    struct spans s = { .count = 0 };
    char *out = run_well("$DWELL replay --format csv | tr -d '\\r' | awk -F, '$7 == \"end\" || $7 == \"call\" "
                         "{ print $3, $8, $7, $1, $2 }'");
    char *rest = out;
    for (char *line; (line = strsep(&rest, "\n")) && *line && s.count < MAX_ROWS; s.count++) {
        struct span *one = &s.list[s.count];
        char kind[8];
        uint64_t time, took;
        cr_assert(eq(int, sscanf(line, "%u %31s %7s %lu %lu", &one->pid, one->function, kind, &time, &took), 5), "%s",
                  line);
        const bool ended = strcmp(kind, "end") == 0;
        one->begin = ended ? time - took : time;
        one->end = ended ? time : time + took;
    }
    free(out);
    return s;
}

/* Each time is rounded to a nanosecond. */
static bool ends_together(uint64_t one, uint64_t other)
{
    return one <= other + 1 && other <= one + 1;
}

/* The first call of that function in the parent, or in the child. */
static struct span ends_find(const struct spans *s, const char *function, bool in_child)
{
    const struct span *parent = NULL;
    for (int i = 0; i < s->count && !parent; i++)
        if (strcmp(s->list[i].function, "until_ended") == 0)
            parent = &s->list[i];
    cr_assert(ne(ptr, (void *)parent, NULL), "until_ended");
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->list[i].function, function) == 0 && (s->list[i].pid != parent->pid) == in_child)
            return s->list[i];
    cr_fail("no call of %s", function);
    return *parent;
}

/* How `dwell info` says that the child ended; the second line is that of a program that it executed. */
static char *ends_of_children(void)
{
    return run_well("$DWELL info | awk '/^PROCESS/ { n = NR } n && NR > n + 1 && NF && $1 ~ /^[0-9]/ && $3 ~ /\\./ "
                    "{ print ($5 ~ /^[0-9]+$/ ? $4 \" \" $5 : $4) } /^THREAD/ { exit }'");
}

static void ends_expect(const char *command, const char *expected)
{
    char *ends = ends_of_children();
    cr_assert(eq(str, ends, (char *)expected), "%s", command);
    free(ends);
}

/* Without a recorder, the parent's wait is the only witness. */
Test(e2e_ends, the_parent_waits)
{
    static const char *const functions[] = { "wait", "waitpid", "wait3", "wait4", "waitid" };
    static const char *const ways[] = { "kill", "instruction", "exec-fails-kill" };
    for (int i = 0; i < 5; i++) {
        const char *way = ways[i % 3];
        free(run_well("rm -f dwell.data; " BY_HAND ENDS " %s 0 %s /nonexistent", way, functions[i]));
        const struct spans s = ends_replay();
        const struct span reap = ends_find(&s, "reap", false), last = ends_find(&s, "main", true);
        cr_assert(ge(u64, last.end, reap.begin), "%s", functions[i]);
        cr_assert(le(u64, last.end, reap.end), "%s", functions[i]);
        cr_assert(ends_together(ends_find(&s, "end_by", true).end, last.end));
        ends_expect(functions[i], strcmp(way, "instruction") == 0 ? "exit 7\n" : "signal 9\n");
    }
}

/* The recorder notices the end long before the parent waits. */
Test(e2e_ends, the_recorder_watches)
{
    static const char *const ways[] = { "kill", "kill-threads", "instruction", "exec-fails-kill" };
    for (int i = 0; i < 4; i++) {
        free(run_well(BY_RECORDER ENDS " %s 2000 waitpid /nonexistent", ways[i]));
        const struct spans s = ends_replay();
        const struct span afterwards = ends_find(&s, "afterwards", false), last = ends_find(&s, "main", true);
        cr_assert(lt(u64, last.end, afterwards.end), "%s", ways[i]);
        cr_assert(ge(u64, last.end, ends_find(&s, "end_by", true).begin), "%s", ways[i]);
        for (int j = 0; j < s.count; j++)
            cr_assert(strcmp(s.list[j].function, "waiter") != 0 || ends_together(s.list[j].end, last.end),
                      "all open calls of a killed process end together");
        ends_expect(ways[i], strcmp(ways[i], "instruction") == 0 ? "exit 7\n" : "signal 9\n");
    }
}

/* A process that the parent waits for, but that is the recorder's to see: its own record is exact in both cases. */
Test(e2e_ends, by_syscall)
{
    static const char *const ways[] = { "exit_group", "last-thread" };
    static const char *const how[] = { BY_HAND, BY_RECORDER };
    for (int i = 0; i < 4; i++) {
        free(run_well("rm -f dwell.data; %s timeout 300 " ENDS " %s 0 waitpid", how[i / 2], ways[i % 2]));
        const struct spans s = ends_replay();
        const struct span last = ends_find(&s, "main", true);
        cr_assert(le(u64, last.end, ends_find(&s, "until_ended", false).end), "%s", ways[i % 2]);
        cr_assert(ge(u64, last.end, ends_find(&s, "end_by", true).begin), "%s", ways[i % 2]);
        char *ends = ends_of_children();
        cr_assert(has(ends, "exit 7\n"), "%s", ends);
        free(ends);
    }
}

/* The helper must not keep a process whose last thread has ended. */
Test(e2e_ends, the_last_thread_ends_alone)
{
    struct ran r = run(BY_RECORDER "timeout 300 " ENDS " alone 0 wait");
    cr_assert(eq(int, r.status, 7), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_ends, a_thread_that_ends_by_syscall)
{
    free(run_well(BY_RECORDER ENDS " leaving-thread 2000 wait"));
    char *out = run_well("$DWELL report --format csv | tr -d '\\r' | awk -F, '$1 == \"leaver\" || $1 == \"afterwards\" "
                         "{ print $1, $6 }' | sort");
    unsigned long afterwards, leaver;
    cr_assert(eq(int, sscanf(out, "afterwards %lu leaver %lu", &afterwards, &leaver), 2), "%s", out);
    cr_assert(lt(ulong, leaver, afterwards));
    free(out);
}

/* The recording of a program ends when it executes another one, which may live on. A program that can be recorded is a
 * process of its own. */
Test(e2e_ends, executed_programs)
{
    static const char *const how[] = { BY_HAND, BY_RECORDER };
    static const char *const ways[] = { "exec", "exec-threads", "raw-exec" };
    free(run_well("printf '#!/bin/sh\\nsleep 0.3\\n' >slow; chmod +x slow; cp $PROGRAMS/static fib"));
    for (int i = 0; i < 6; i++) {
        const char *way = ways[i % 3];
        free(run_well("rm -f dwell.data; %s " ENDS " %s 0 waitpid $PWD/slow", how[i / 3], way));
        const struct spans s = ends_replay();
        const struct span waited = ends_find(&s, "until_ended", false);
        for (int j = 0; j < s.count; j++)
            cr_assert(s.list[j].pid == waited.pid || waited.end - s.list[j].end > 200000000,
                      "%s: the slow program takes longer", way);
        char *ends = ends_of_children();
        cr_assert(has(ends, "exec\n"), "%s: %s", way, ends);
        free(ends);
    }
    free(run_well("rm -f dwell.data; " BY_RECORDER ENDS " exec 0 waitpid $PWD/fib"));
    ends_expect("a static program", "exec\n");
}

/* What was recorded before the exec is taken back. */
Test(e2e_ends, an_exec_that_fails)
{
    free(run_well(BY_RECORDER ENDS " exec-fails 0 waitpid /nonexistent"));
    const struct spans s = ends_replay();
    cr_assert(ge(u64, ends_find(&s, "main", true).end, ends_find(&s, "step", true).end));
    ends_expect("exec-fails", "exit 3\n");
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "step", "calls"), 1));
    report_drop(r);
}

/* In each mode, the time of the child is shorter than the parent's sleep after its end. */
Test(e2e_ends, in_all_modes)
{
    static const char *const modes[] = { "trace", "profile", "ring=64K" };
    static const char *const ways[] = { "kill-threads", "exec", "instruction" };
    for (int i = 0; i < 3; i++) {
        free(run_well(BY_RECORDER "--mode %s " ENDS " %s 2000 waitpid /bin/true", modes[i], ways[i]));
        struct report *r = report_of("");
        const uint64_t slept = report_sum(r, "function", "afterwards", "elapsed_inclusive_ns");
        cr_assert(gt(u64, slept, 0));
        cr_assert(lt(u64, report_sum(r, "function", "end_by", "elapsed_inclusive_ns"), slept), "%s", modes[i]);
        cr_assert(lt(u64, report_sum(r, "function", "waiter", "elapsed_inclusive_ns"), 2 * slept), "%s", modes[i]);
        report_drop(r);
    }
}

/* There the process knows itself by another PID than the recorder. */
Test(e2e_ends, in_a_pid_namespace)
{
    struct ran r = run("unshare -pf true");
    const bool allowed = r.status == 0;
    ran_drop(&r);
    if (!allowed)
        cr_skip_test("no PID namespaces here");
    free(run_well(BY_RECORDER "unshare -pf " ENDS " kill 2000 waitpid"));
    const struct spans s = ends_replay();
    cr_assert(lt(u64, ends_find(&s, "main", true).end, ends_find(&s, "afterwards", false).end));
    char *ends = ends_of_children();
    cr_assert(eq(str, ends, "signal 9\n"));
    free(ends);
}
