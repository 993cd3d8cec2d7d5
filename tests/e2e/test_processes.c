/* Every process of a recording, its number of calls and its parent, compared with the program's own account. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_processes, .timeout = 300, .init = without_os_calls);

#define PARTS "$PROGRAMS/processes/processes-"

enum { MAX = 320, NAME = 64 };

struct account {
    unsigned pid, parent;
    unsigned long calls;
};

/* Lines "process PID PARENT CALLS". */
static int read_accounts(const char *text, struct account *accounts)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, "process ")); at++) {
        struct account *a = &accounts[count];
        cr_assert(lt(int, count++, MAX));
        cr_assert(eq(int, sscanf(at, "process %u %u %lu", &a->pid, &a->parent, &a->calls), 3));
    }
    return count;
}

/* The same lines from the report. */
#define REPORT_PROCESSES                                                                                               \
    "$DWELL report --by process --format csv %s | tr -d '\\r' | "                                                      \
    "awk -F, 'NR > 1 && $5 > 0 { print \"process\", $2, $3, $5 }'"

/* Runs a command under `dwell record`, and compares. The parent of the recorder's child is the recorder. */
static void record_and_compare(const char *options, const char *command, int processes)
{
    char *out = run_well("rm -f ledger; export LEDGER=$PWD/ledger; $DWELL record -q %s %s", options, command);
    free(out);
    char *told = run_well("cat ledger"), *recorded = run_well(REPORT_PROCESSES, "");
    struct account ledger[MAX], report[MAX];
    const int count = read_accounts(told, ledger);
    cr_assert(eq(int, count, processes), "%s", told);
    cr_assert(eq(int, read_accounts(recorded, report), count), "%s: %s%s", command, told, recorded);
    for (int i = 0; i < count; i++) {
        const struct account *found = NULL;
        for (int j = 0; j < count; j++)
            if (report[j].pid == ledger[i].pid)
                found = &report[j];
        cr_assert(found != NULL, "%s: %u\n%s", command, ledger[i].pid, recorded);
        cr_assert(eq(ulong, found->calls, ledger[i].calls), "%s: %u\n%s%s", command, ledger[i].pid, told, recorded);
        cr_assert(eq(uint, found->parent, ledger[i].parent), "%s: %u\n%s%s", command, ledger[i].pid, told, recorded);
    }
    struct report *r = report_of("");
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(told);
    free(recorded);
}

/* The path and calls of each row of the tree, over all processes. */
static char *tree_paths(void)
{
    return run_well("$DWELL tree --min 0 --depth 99 --format csv | tr -d '\\r' | "
                    "awk -F, 'NR > 1 { p[$1] = $1 > 1 ? p[$1 - 1] \"/\" $3 : $3; print p[$1], $5 }' | sort");
}

Test(e2e_processes, children_of_every_kind_of_fork)
{
    static const char *const ways[] = { "fork", "_Fork", "raw-fork", "raw-clone" };
    for (int i = 0; i < 4; i++) {
        char command[NAME * 2];
        snprintf(command, sizeof command, PARTS "forks %s", ways[i]);
        record_and_compare("", command, 2);
        char *tree = tree_paths();
        cr_assert(eq(str, tree,
                     "main 1\n"
                     "main/once 1\n"
                     "main/once/steps 1\n"
                     "main/once/steps/step 7\n"
                     "main/steps 2\n"
                     "main/steps/step 8\n"),
                  "%s: %s", ways[i], tree);
        free(tree);
    }
}

Test(e2e_processes, children_of_children)
{
    record_and_compare("", PARTS "forks generations", 6);
}

Test(e2e_processes, fork_in_a_signal_handler)
{
    record_and_compare("", PARTS "forks handler", 4);
    char *tree = tree_paths();
    cr_assert(eq(str, tree,
                 "main 1\n"
                 "main/in_a_handler 1\n"
                 "main/in_a_handler/handler 3\n"
                 "main/in_a_handler/handler/once 3\n"
                 "main/in_a_handler/handler/once/steps 3\n"
                 "main/in_a_handler/handler/once/steps/step 21\n"
                 "main/steps 2\n"
                 "main/steps/step 8\n"),
              "%s", tree);
    free(tree);
}

Test(e2e_processes, fork_while_other_threads_run)
{
    record_and_compare("", PARTS "forks threads", 21);
}

Test(e2e_processes, threads_that_fork_at_the_same_time)
{
    record_and_compare("", PARTS "forks by-threads", 81);
}

Test(e2e_processes, calls_before_fork_returns)
{
    record_and_compare("", PARTS "forks atfork", 2);
}

Test(e2e_processes, clone_with_a_stack_for_the_child)
{
    record_and_compare("", PARTS "forks clone", 2);
    record_and_compare("", PARTS "forks clone-vfork", 1);
    char *tree = tree_paths();
    cr_assert(has(tree, "main/by_clone_with_memory/step 2\n"), "%s", tree);
    cr_assert(has(tree, "main/by_clone_with_memory/deeper/deeper/deeper/deeper/deeper 1\n"));
    cr_assert(has(tree, "main/steps 2\n"));
    free(tree);
}

/* The child continues in the middle of the probe that the handler interrupted. */
Test(e2e_processes, fork_in_a_handler_that_interrupts_probes)
{
    static const char *const sources[] = { "perf", "rseq", "none", "auto" };
    for (int i = 0; i < 4; i++) {
        free(run_well("rm -f ledger; LEDGER=$PWD/ledger $DWELL record -q --os-events=%s " PARTS "storm 300 %d",
                      sources[i], i == 3 ? 2 : 0));
        char *told = run_well("sort ledger"), *recorded = run_well(REPORT_PROCESSES " | sort", "");
        struct account ledger[MAX], report[MAX];
        const int count = read_accounts(told, ledger);
        cr_assert(eq(int, count, 301));
        cr_assert(eq(int, read_accounts(recorded, report), count));
        for (int j = 0; j < count; j++) {
            cr_assert(eq(uint, report[j].pid, ledger[j].pid));
            cr_assert(eq(uint, report[j].parent, ledger[j].parent));
            const bool first = ledger[j].calls > 4010;
            cr_assert(le(ulong, report[j].calls, ledger[j].calls));
            cr_assert(ge(ulong, report[j].calls + !first, ledger[j].calls), "%u", ledger[j].pid);
        }
        struct report *r = report_of("");
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        free(told);
        free(recorded);
    }
}

Test(e2e_processes, without_the_helper_thread)
{
    record_and_compare("env DWELL_HELPER=off", PARTS "forks threads", 21);
}

/* A child by vfork shares its parent's memory. Its calls count for the parent, and it leaves the parent's stack
 * intact. */
Test(e2e_processes, vfork)
{
    record_and_compare("", PARTS "forks vfork", 1);
    char *tree = tree_paths();
    const char *const expected = "main 1\n"
                                 "main/steps 2\n"
                                 "main/steps/step 8\n"
                                 "main/vforked 1\n"
                                 "main/vforked/deeper 1\n"
                                 "main/vforked/deeper/deeper 1\n"
                                 "main/vforked/deeper/deeper/deeper 1\n"
                                 "main/vforked/deeper/deeper/deeper/deeper 1\n"
                                 "main/vforked/deeper/deeper/deeper/deeper/deeper 1\n"
                                 "main/vforked/leave_deep 1\n"
                                 "main/vforked/leave_deep/leave_deep 1\n"
                                 "main/vforked/leave_deep/leave_deep/leave_deep 1\n"
                                 "main/vforked/leave_deep/leave_deep/leave_deep/leave_deep 1\n"
                                 "main/vforked/leave_deep/leave_deep/leave_deep/leave_deep/leave_deep 1\n"
                                 "main/vforked/step 2\n";
    cr_assert(eq(str, tree, (char *)expected));
    free(tree);
    record_and_compare("", PARTS "forks vfork-exec " PARTS "worker", 2);
}

/* The daemon's parent is the middle process, which recorded nothing. It ends before the daemon's first call. */
Test(e2e_processes, a_daemon)
{
    record_and_compare("", PARTS "forks daemon", 2);
}

Test(e2e_processes, every_exec_and_spawn)
{
    record_and_compare("", PARTS "execs " PARTS "worker", 14);
}

Test(e2e_processes, programs_executed_with_an_environment_of_their_own)
{
    record_and_compare("", PARTS "execs " PARTS "worker bare", 14);
}

Test(e2e_processes, a_script_with_many_programs)
{
    FILE *script = fopen(test_path("script"), "w");
    fputs("for i in 1 2 3 4 5 6 7 8 9 10; do \"$@\" $i; /bin/true; done\n"
          "for i in 1 2 3 4 5; do \"$@\" $i & done; wait\n"
          "(cd /; \"$@\" 3 | cat; env -i LEDGER=$LEDGER \"$@\" 2)\n"
          "$PROGRAMS/processes/processes-plain \"$@\" 4\n",
          script);
    fclose(script);
    free(run_well("rm -f ledger; export LEDGER=$PWD/ledger; $DWELL record -q sh script " PARTS "worker"));
    char *told = run_well("sort ledger"), *recorded = run_well(REPORT_PROCESSES " | sort", "");
    struct account accounts[MAX];
    cr_assert(eq(int, read_accounts(told, accounts), 19));
    cr_assert(eq(str, told, recorded));
    free(told);
    free(recorded);
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "PARENT"));
    cr_assert(not(has(info, "sh script"))); /* programs without probes are not in the session */
    cr_assert(not(has(info, "/bin/true")));
    free(info);
}

/* ---- the first process alone ---- */

static void record_alone(const char *command, unsigned long calls)
{
    free(run_well("rm -f ledger; export LEDGER=$PWD/ledger; $DWELL record -q --no-follow %s", command));
    char *told = run_well("cat ledger"), *recorded = run_well(REPORT_PROCESSES, "");
    struct account ledger[MAX], report[MAX];
    const int count = read_accounts(told, ledger);
    cr_assert(gt(int, count, 1));
    cr_assert(eq(int, read_accounts(recorded, report), 1), "%s", recorded);
    cr_assert(eq(uint, report[0].pid, ledger[count - 1].pid));
    cr_assert(eq(ulong, report[0].calls, ledger[count - 1].calls));
    cr_assert(eq(ulong, report[0].calls, calls));
    struct report *r = report_of("--by process");
    cr_assert(eq(u64, report_session(r, "processes"), 1));
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(told);
    free(recorded);
}

Test(e2e_processes, the_first_process_alone)
{
    static const char *const ways[] = { "fork", "_Fork", "raw-fork", "raw-clone" };
    for (int i = 0; i < 4; i++) {
        char command[NAME * 2];
        snprintf(command, sizeof command, PARTS "forks %s", ways[i]);
        record_alone(command, 12);
    }
    record_alone(PARTS "execs " PARTS "worker", 13);
}

/* A program executed in place of the first process is still the first process. */
Test(e2e_processes, the_first_process_executes_another)
{
    free(run_well("LEDGER=ledger $DWELL record -q --no-follow sh -c '" PARTS "worker 2; exec " PARTS "worker 5'"));
    char *told = run_well("tail -n 1 ledger"), *recorded = run_well(REPORT_PROCESSES, "");
    cr_assert(eq(str, recorded, told));
    cr_assert(has(recorded, " 6\n"));
    free(told);
    free(recorded);
}

/* Neither a mapping nor a variable: nothing of the recording is in them. */
Test(e2e_processes, children_that_are_not_followed_have_nothing_of_the_runtime)
{
    char *out =
        run_well("$DWELL record -q --no-follow sh -c 'grep -c libdwell /proc/self/maps; env | grep -c -e DWELL_ "
                 "-e LD_PRELOAD; true'");
    cr_assert(eq(str, out, (char *)"0\n0\n"));
    free(out);
}
