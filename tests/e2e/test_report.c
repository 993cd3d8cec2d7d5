/* The report commands: errors, order, limits, and formats that agree with each other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_report, .timeout = 300, .init = without_os_calls);

static void report_check_error(const char *command, const char *message)
{
    struct ran r = run("%s", command);
    cr_assert(eq(int, r.status, 2), "%s: %s", command, r.err);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, (char *)message), "%s", command);
    ran_drop(&r);
}

Test(e2e_report, errors)
{
    report_check_error("$DWELL report",
                       "dwell: dwell.data: No such file or directory; record a program first: dwell record ./prog\n");
    report_check_error("$DWELL report .", "dwell: .: is a directory\n");
    report_check_error(": > empty; $DWELL tree empty", "dwell: empty: the file is empty\n");
    report_check_error("echo hello > text; $DWELL info text", "dwell: text: not a dwell session\n");
    report_check_error(
        "$DWELL report --by colour",
        "dwell: --by: 'colour' is none of function, line, module, module-function, thread, thread-name, process\n");
    report_check_error("$DWELL report --format pdf", "dwell: --format: 'pdf' is none of text, csv, json\n");
    report_check_error("$DWELL report --limit x", "dwell: --limit: 'x' is not a number\n");
    report_check_error("$DWELL tree --min 120%",
                       "dwell: --min: '120%' is neither a percentage such as 5% nor a time such as 2ms\n");
    report_check_error("$DWELL reprot", "dwell: no command 'reprot'; did you mean 'report'? dwell --help lists them\n");
    report_check_error("$DWELL nonsense", "dwell: no command 'nonsense'; dwell --help lists them\n");
    report_check_error("$DWELL report a b", "dwell: a: No such file or directory\n");
    report_check_error("$DWELL report 'a*'", "dwell: a*: no file matches\n");
    report_check_error("$DWELL info a b", "dwell: one session at a time: 'b' is a second one\n");
    free(run_well("$DWELL record -q $SAMPLES/fib 5"));
    report_check_error("$DWELL callers nothing",
                       "dwell: dwell.data: no function 'nothing' was recorded; dwell report -s name lists them\n");
}

Test(e2e_report, keys_of_json)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 10"));
    static const char *const bys[][4] = {
        { "function", "module", "file", "line" },
        { "module", NULL },
        { "thread", "tid", "process" },
        { "process", "pid" },
    };
    static const char *const common[] = {
        "calls",
        "elapsed_inclusive_ns",
        "elapsed_exclusive_ns",
        "application_inclusive_ns",
        "application_exclusive_ns",
        "elapsed_inclusive_percent",
        "elapsed_exclusive_percent",
        "application_inclusive_percent",
        "application_exclusive_percent",
    };
    for (int i = 0; i < 4; i++) {
        char arguments[32];
        snprintf(arguments, sizeof arguments, "--by %s", bys[i][0]);
        struct report *r = report_of(arguments);
        for (int j = 0; j < 4 && bys[i][j]; j++)
            report_null(r, bys[i][j], NULL, bys[i][j]); /* fails without the key */
        for (size_t j = 0; j < sizeof common / sizeof *common; j++)
            report_null(r, bys[i][0], NULL, common[j]);
        static const char *const session[] = {
            "elapsed_inclusive_ns", "application_inclusive_ns", "os_events", "threads", "processes", "events",
            "lost_events"
        };
        for (size_t j = 0; j < sizeof session / sizeof *session; j++)
            report_session(r, session[j]);
        cr_assert(eq(u64, report_session(r, "events"), 356));
        report_drop(r);
    }
}

Test(e2e_report, symbols_lines_and_modules)
{
    free(run_well("$DWELL record -q $SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 10"));
    char *csv = run_well("$DWELL report --format csv | tr -d '\\r' | cut -d, -f 1-5 | sed 's|,[^,]*/|,|' | sort");
    cr_assert(has(csv, "library_twist,libsample-library.so,library.c,"), "%s", csv);
    cr_assert(has(csv, "plugin_step,libsample-plugin.so,plugin.c,"), "%s", csv);
    cr_assert(has(csv, "main,modules,modules.c,"), "%s", csv);
    free(csv);
    /* The session has the names, so it can be read without the binaries. */
    free(run_well(
        "cp -r $SAMPLES/modules copy && $DWELL record -q -o moved copy/modules copy/libsample-plugin.so 10 && rm -r copy"));
    char *moved = run_well("$DWELL report moved 2>&1");
    cr_assert(has(moved, "plugin_step") && has(moved, "library_twist") && !has(moved, "shown by address"), "%s", moved);
    free(moved);
}

Test(e2e_report, symbols_of_programs_with_the_runtime_in_them)
{
    static const char *const programs[] = { "static-dwell", "dynamic-dwell" };
    for (int i = 0; i < 2; i++) {
        free(run_well("cp $PROGRAMS/%s prog && $DWELL record -q ./prog 10 && rm prog", programs[i]));
        char *text = run_well("$DWELL report 2>&1");
        cr_assert(has(text, "fib.c:13"), "%s", text);
        free(text);
    }
}

Test(e2e_report, a_changed_binary_is_reported)
{
    free(run_well("cp $SAMPLES/fib prog && DWELL_OUTPUT=s LD_PRELOAD=$RUNTIME ./prog 10 && cp $SAMPLES/threads prog"));
    struct ran r = run("$DWELL report s");
    cr_assert(eq(int, r.status, 0));
    cr_assert(has(r.err, "prog: changed since the recording: its functions are shown by address"), "%s", r.err);
    cr_assert(has(r.out, "prog+0x"), "%s", r.out);
    ran_drop(&r);
}

Test(e2e_report, order_and_limit)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 4 1000"));
    char *names = run_well("$DWELL report -s name --format csv | tail -n +2 | cut -d, -f1 | tr '\\n' ' '");
    cr_assert(eq(str, names, "main run_wave work worker "));
    free(names);
    char *calls = run_well("$DWELL report -s calls --format csv -n 2 | tail -n +2 | cut -d, -f1,5 | tr '\\n' ' '");
    cr_assert(eq(str, calls, "work,4000 worker,4 "));
    free(calls);
    char *text = run_well("$DWELL report -n 1");
    cr_assert(has(text, "3 more; --limit 0 shows all\n"));
    free(text);
}

Test(e2e_report, callers_add_up)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 4 1000"));
    char *rows =
        run_well("$DWELL callers worker --format csv | tr -d '\\r' | cut -d, -f 1,2,5 | tail -n +2 | tr '\\n' ' '");
    cr_assert(eq(str, rows, "caller,(start of thread),4 function,worker,4 callee,work,4000 "));
    free(rows);
}

Test(e2e_report, the_tree_folds_and_still_adds_up)
{
    free(run_well("$DWELL record -q $SAMPLES/cplusplus"));
    /* On each level, the children's inclusive times and the parent's own add up to the parent's inclusive time. */
    free(run_well(
        "$DWELL tree --min 3%% --depth 5 --format csv | tr -d '\\r' > tree && awk -F, '"
        "NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }"
        "{ n = NF - length(column) ; d = $1; i = $(column[\"elapsed_inclusive_ns\"] + n); e = $(column[\"elapsed_exclusive_ns\"] + n);"
        "  row[d] = NR; inclusive[NR] = i; rest[NR] = i - e; if (d > 1) { rest[row[d - 1]] -= i; parent[row[d - 1]] = 1 } }"
        "END { for (r in parent) if (rest[r] > 50 || rest[r] < -50) { print r, rest[r]; exit 1 } }' tree"));
}

/* script(1) gives it a terminal. */
Test(e2e_report, pager_and_colours_on_a_terminal_only)
{
    free(run_well("$DWELL record -q $SAMPLES/sleeper 5 1000 5"));
    static const char paged[] = "PAGER='cat; echo paged' TERM=xterm script -qec \"$DWELL report\" /dev/null </dev/null";
    char *text = run_well("%s", paged);
    cr_assert(has(text, "doze") && has(text, "paged"), "%s", text);
    cr_assert(has(text, "\033[2m"), "what waits is dimmed: %s", text);
    free(text);
    static const char *const commands[] = { "report", "report --by function", "tree" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *hot = run_well(
            "DWELL_PAGER= TERM=xterm script -qec \"$DWELL %s\" /dev/null </dev/null | "
            "grep \"$(printf '\\033')\\[31m\" | grep -o 'main\\|busy\\|churn\\|doze\\|nanosleep' | tr '\\n' ' '",
            commands[i]);
        cr_assert(eq(str, hot, strcmp(commands[i], "tree") == 0 ? "main busy churn " : "churn "), "%s", commands[i]);
        free(hot);
    }
    text = run_well("NO_COLOR=1 %s", paged);
    cr_assert(has(text, "paged") && !has(text, "\033[2m"), "%s", text);
    free(text);
    text = run_well("DWELL_PAGER= %s", paged);
    cr_assert(has(text, "doze") && !has(text, "paged"), "%s", text);
    free(text);
    text = run_well("PAGER='cat; echo paged' $DWELL report");
    cr_assert(has(text, "doze") && !has(text, "paged") && !has(text, "\033"), "%s", text);
    free(text);
    text = run_well("PAGER='head -n 1' TERM=xterm script -qec \"$DWELL tree; echo status \\$?\" /dev/null </dev/null");
    cr_assert(has(text, "status 0"), "%s", text);
    free(text);
}

/* The functions that a name may mean follow the message, in JSON as well. */
Test(e2e_report, functions_of_one_name_as_json)
{
    free(run_well(
        "echo 'int g(int); __attribute__((noinline)) static int f(int a) { return g(a) + 1; } "
        "int main(void) { return f(2) != 5; }' >one.c; echo '__attribute__((noinline)) static int f(int a, int b) "
        "{ __asm__ volatile(\"\"); return a + b; } int g(int a) { return f(a, 2); }' >two.c; "
        "gcc -O1 -g -finstrument-functions -o two one.c two.c; $DWELL record -q ./two"));
    char *text = run_well("! $DWELL histogram f --format json 2>said | jq -c .error; cat said");
    cr_assert(eq(str, text,
                 "{\"code\":\"failed\",\"message\":\"'f' names 2 functions; type one of:\",\"details\":[\"f@one.c:1\","
                 "\"f@two.c:1\"]}\ndwell: 'f' names 2 functions; type one of:\n  f@one.c:1\n  f@two.c:1\n"));
    free(text);
}
