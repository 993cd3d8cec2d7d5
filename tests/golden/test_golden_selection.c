/* Parts of the handmade session: whole outputs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/example.h"
#include "support/features.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

static void selection_save_session(void)
{
    struct writer *w = example_session(SOURCE_PERF);
    writer_save(w, test_path("example.dwell"));
    writer_free(w);
}

TestSuite(golden_selections, .init = selection_save_session, .timeout = 300);

Test(golden_selections, of_a_thread)
{
    check_golden("report example.dwell --thread pric* --process 1000", "selection-thread.txt");
    check_golden("report example.dwell --thread pricing --by thread --format json", "selection-thread.json");
    check_golden("tree example.dwell --thread 1002", "selection-thread-tree.txt");
    check_golden("callers example.dwell round_up --thread pricing", "selection-thread-callers.txt");
    check_golden("slowest example.dwell price_of -n 3 --thread pricing", "selection-thread-slowest.txt");
}

Test(golden_selections, of_a_process)
{
    check_golden("report example.dwell --process worker", "selection-process.txt");
    check_golden("report example.dwell --process shop --process 1001 --by process", "selection-processes.txt");
}

Test(golden_selections, below_a_function)
{
    check_golden("tree example.dwell --root handle", "selection-root-tree.txt");
    check_golden("report example.dwell --root handle --thread shop", "selection-root.txt");
    check_golden("report example.dwell --root handle --format json --by module", "selection-root.json");
    check_golden("callers example.dwell round_up --root price", "selection-root-callers.txt");
    check_golden("histogram example.dwell round_up --root handle --format csv", "selection-root-histogram.csv");
}

Test(golden_selections, percentiles)
{
    check_golden("report example.dwell --columns calls,p50,p90,p99 --sort p99", "percentiles.txt");
    check_golden("report example.dwell --filter 'p90>40us' --columns calls,p90 --format json", "percentiles.json");
    check_golden("tree example.dwell --columns calls,p50,p90,p99,elapsed_inclusive", "percentiles-tree.txt");
    check_golden("callers example.dwell round_up --columns calls,p50,p99 --format csv", "percentiles-callers.csv");
    check_golden("report example.dwell --from 100us --columns calls,p50,p90,p99", "percentiles-range.txt");
}

Test(golden_selections, rows)
{
    check_golden("report example.dwell --filter 'calls>=4' --filter 'name!~[*'", "filter-report.txt");
    check_golden("report example.dwell --by thread --filter 'tid < 1002' --filter name=worker --format csv",
                 "filter-report.csv");
    check_golden("report example.dwell --filter 'calls>1' --limit 2 --columns calls", "filter-limited.txt");
    check_golden("report example.dwell --filter 'elapsed_inclusive_p99>40us' --format json", "filter-calls.json");
    check_golden("tree example.dwell --filter name~*round*", "filter-tree.txt");
    check_golden("tree example.dwell --filter name~*round* --format json", "filter-tree.json");
    check_golden("tree example.dwell --min 5% --by thread --filter 'elapsed_exclusive_percent>5%'",
                 "filter-tree-min.txt");
    check_golden("callers example.dwell handle --filter role=callee --filter 'share_percent<20'", "filter-callers.txt");
    check_golden("slowest example.dwell price_of -n 2 --filter thread=shop --filter 'time>=0.11ms'",
                 "filter-slowest.txt");
    check_golden("histogram example.dwell round_up --filter 'calls>3' --format csv", "filter-histogram.csv");
}

/* The pool of three workers is one row. */
Test(golden_selections, by_names_of_threads)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/server");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "server");
    for (uint32_t i = 2; i <= 4; i++)
        write_thread(w, 1, i, 10 + i, SOURCE_PERF, "worker");
    for (uint32_t i = 1; i <= 4; i++) {
        begin_events(w, 1, i, 0, 0, NULL, 0);
        write_enter(w, 1000, 0x1000);
        write_exit(w, 2000 + 1000 * i);
        end_events(w, true);
    }
    write_symbol_module(w, 0, "");
    write_symbol(w, 0, 0, 0, 0x1000, "serve");
    writer_save(w, test_path("pool.dwell"));
    writer_free(w);
    check_golden("report pool.dwell --by thread-name", "thread-names.txt");
    check_golden("report pool.dwell --by thread-name --sort name --format json", "thread-names.json");
    check_golden("report pool.dwell --by thread-name --format csv --filter 'threads>1' --to 4us", "thread-names.csv");
}

/* Values that are merged into one row still add up with the others. */
Test(golden_selections, chains_and_recursion)
{
    check_golden("tree example.dwell --collapse", "tree-collapsed-1.txt");
    check_golden("tree example.dwell --collapse=100% --min 0", "tree-collapsed.txt");
    check_golden("tree example.dwell --collapse=100% --min 0 --thread shop --format csv", "tree-collapsed.csv");
    check_golden("tree example.dwell --fold-recursion --min 0", "tree-recursion.txt");
    check_golden("tree example.dwell --fold-recursion --filter 'recursion>1' --format json", "tree-recursion.json");
    check_golden("tree example.dwell --fold-recursion --collapse=20% --by thread", "tree-recursion-threads.txt");
}

/* An interval that crosses a border counts from there, or up to there. */
Test(golden_selections, of_a_time)
{
    check_golden("report example.dwell --from 110us --to 150us", "selection-range.txt");
    check_golden("report example.dwell --from 110us --to 150us --by thread --format json", "selection-range.json");
    check_golden("tree example.dwell --from 0.11ms --to 150000ns --thread shop --root handle",
                 "selection-range-root-tree.txt");
    check_golden("callers example.dwell --to 150us handle", "selection-range-callers.txt");
    check_golden("slowest example.dwell --from 110us price_of -n 3", "selection-range-slowest.txt");
    check_golden("report example.dwell --to 1ns", "selection-range-empty.txt");
}

static void save_frames(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/game");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "game");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 1000, 0x1000);
    for (uint16_t i = 0; i < 3; i++) {
        const uint16_t begin = (uint16_t)(10000 * (i + 1));
        write_mark(w, begin, begin, i + 1u, i == 1 ? "show" : "draw");
        write_enter(w, begin + 1000u, 0x2000);
        write_exit(w, begin + 2000u + 1000u * i);
    }
    write_exit(w, 50000);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 50000);
    write_symbol_module(w, 0, "");
    write_symbol(w, 0, 0, 0, 0x1000, "main");
    write_symbol(w, 0, 0, 0, 0x2000, "draw");
    writer_save(w, test_path("frames.dwell"));
    writer_free(w);
}

/* The first mark that matches; for --to the first one after --from. */
Test(golden_selections, between_marks)
{
    save_frames();
    check_golden("report frames.dwell --from mark:draw --to mark:draw", "selection-marks.txt");
    check_golden("report frames.dwell --from mark:2", "selection-marks-number.txt");
    check_golden("report frames.dwell --from 15us --to mark:dr*", "selection-marks-glob.txt");
    check_golden("marks frames.dwell --filter text=draw --filter 'time>10us'", "filter-marks.txt");
}

static void selection_check_error(const char *arguments, const char *message)
{
    struct ran r = run("$DWELL %s", arguments);
    cr_assert(eq(int, r.status, 2), "%s: %s", arguments, r.err);
    cr_assert(eq(str, r.err, (char *)message));
    cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
}

Test(golden_selections, names_that_mean_nothing)
{
    selection_check_error("report example.dwell --thread pricing --thread nobody",
                          "dwell: example.dwell: no thread 'nobody'; dwell report --by thread lists them\n");
    selection_check_error("tree example.dwell --process 7",
                          "dwell: example.dwell: no process '7'; dwell report --by process lists them\n");
    selection_check_error(
        "tree example.dwell --root nothing",
        "dwell: example.dwell: no function 'nothing' was recorded; dwell report -s name lists them\n");
    selection_check_error(
        "callers example.dwell audit --to 150us",
        "dwell: example.dwell, to 150 us: no function 'audit' was recorded; dwell report -s name lists them\n");
}

Test(golden_selections, times_that_are_none)
{
    save_frames();
    selection_check_error(
        "report frames.dwell --from 2",
        "dwell: --from: '2' is neither a time such as 2.5ms or 1s nor a mark such as mark:1 or mark:loaded\n");
    selection_check_error(
        "tree frames.dwell --to mark:",
        "dwell: --to: 'mark:' is neither a time such as 2.5ms or 1s nor a mark such as mark:1 or mark:loaded\n");
    selection_check_error("report frames.dwell --from 2ms --to 2ms",
                          "dwell: frames.dwell: --from is not before --to\n");
    selection_check_error("report frames.dwell --from mark:4",
                          "dwell: frames.dwell: --from: no mark '4'; dwell marks lists them\n");
    selection_check_error("report frames.dwell --from mark:3 --to mark:2",
                          "dwell: frames.dwell: --to: no mark '2' is later than --from\n");
}

Test(golden_selections, conditions_that_are_none)
{
    static const char *const bad[][2] = {
        { "", "--filter: '' is not a condition such as 'name~parse*', 'calls>100' or 'elapsed_exclusive>1ms'" },
        { "calls>",
          "--filter: 'calls>' is not a condition such as 'name~parse*', 'calls>100' or 'elapsed_exclusive>1ms'" },
        { ">5", "--filter: '>5' is not a condition such as 'name~parse*', 'calls>100' or 'elapsed_exclusive>1ms'" },
        { "calls!5",
          "--filter: 'calls!5' is not a condition such as 'name~parse*', 'calls>100' or 'elapsed_exclusive>1ms'" },
        { "x>1", "--filter 'x>1': no column 'x' here; --columns help lists them, and name stands for the row's name" },
        { "calls~5", "--filter 'calls~5': 'calls' is a number: use =, !=, <, <=, > or >=" },
        { "name>5", "--filter 'name>5': 'name' is text: use ~, !~, = or !=" },
        { "calls>1ms", "--filter 'calls>1ms': '1ms' is not a number" },
        { "calls>-1", "--filter 'calls>-1': '-1' is not a number" },
        { "min>7", "--filter 'min>7': '7' is not a time such as 500ns, 10us, 2.5ms or 1s" },
        { "waiting_percent>x", "--filter 'waiting_percent>x': 'x' is not a percentage such as 2.5%" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char arguments[256], message[256];
        snprintf(arguments, sizeof arguments, "report example.dwell --filter '%s'", bad[i][0]);
        snprintf(message, sizeof message, "dwell: %s\n", bad[i][1]);
        selection_check_error(arguments, message);
    }
}

/* ---- the config file ---- */

static void save_config(const char *text)
{
    ran_drop(&(struct ran[]){ run("mkdir -p config/dwell") }[0]);
    FILE *out = fopen(test_path("config/dwell/config"), "w");
    cr_assert(ne(ptr, out, NULL));
    fputs(text, out);
    fclose(out);
}

/* The output with the config file equals the output with those options and without the file. */
static void selection_expect_same(const char *with, const char *without)
{
    char *a = run_well("XDG_CONFIG_HOME=$PWD/config $DWELL %s", with), *b = run_well("$DWELL %s", without);
    cr_assert(eq(str, a, b), "%s", with);
    free(a);
    free(b);
}

Test(golden_selections, options_of_a_config_file)
{
    need_features("events");
    save_config("# my own\n"
                "report.columns = calls,min\n"
                "\n"
                "  report.limit=2\t\r\n"
                "report.filter = calls > 1\n"
                "report.hot = no\n"
                "tree.fold-recursion = yes\n"
                "tree.collapse = yes\n"
                "slowest.limit = 1\n"
                "marks.format = json");
    selection_expect_same("report example.dwell",
                          "report example.dwell --columns calls,min --limit 2 --filter 'calls>1'");
    selection_expect_same("report -n 1 example.dwell --columns max",
                          "report example.dwell --columns max --limit 1 --filter 'calls>1'");
    selection_expect_same("report example.dwell --no-config", "report example.dwell");
    selection_expect_same("report --no-c example.dwell", "report example.dwell");
    selection_expect_same("tree example.dwell", "tree example.dwell --collapse --fold-recursion");
    selection_expect_same("slowest example.dwell handle", "slowest example.dwell handle -n 1");
    selection_expect_same("marks example.dwell", "marks example.dwell --format json");
    selection_expect_same("callers example.dwell handle", "callers example.dwell handle");
    save_config("tree.collapse = no\ntree.fold-recursion = no\nreport.hot = yes");
    selection_expect_same("tree example.dwell", "tree example.dwell");
    selection_expect_same("report example.dwell", "report example.dwell --hot");
    save_config("tree.collapse = 50%");
    selection_expect_same("tree example.dwell", "tree example.dwell --collapse=50%");
    save_config(
        "replay.limit = 2\nevents.format = csv\ndiff.sort = calls\ndiff.limit = 2\ntop.columns = calls\ntree.sort = calls");
    free(run_well("cp example.dwell blind.dwell"));
    selection_expect_same("replay example.dwell", "replay example.dwell -n 2");
    selection_expect_same("events example.dwell", "events example.dwell --format csv");
    selection_expect_same("diff example.dwell blind.dwell", "diff example.dwell blind.dwell -s calls -n 2");
    selection_expect_same("diff -n 3 example.dwell -- blind.dwell", "diff example.dwell blind.dwell -s calls -n 3");
    selection_expect_same("diff example.dwell -- --no-config blind.dwell",
                          "diff example.dwell blind.dwell -s calls -n 2"); /* too late */
    selection_expect_same("top --once example.dwell", "top --once --columns calls example.dwell");
    selection_expect_same("tree example.dwell", "tree -s calls example.dwell");
    char *a = run_well("env -u XDG_CONFIG_HOME HOME=$PWD/home $DWELL report example.dwell");
    ran_drop(&(struct ran[]){
        run("mkdir -p home/.config/dwell && echo 'report.format = csv' >home/.config/dwell/config") }[0]);
    char *b = run_well("env -u XDG_CONFIG_HOME HOME=$PWD/home $DWELL report example.dwell");
    char *c = run_well("XDG_CONFIG_HOME=relative HOME=$PWD/home $DWELL report example.dwell");
    char *d = run_well("$DWELL report example.dwell"), *e = run_well("$DWELL report example.dwell --format csv");
    cr_assert(eq(str, a, d));
    cr_assert(eq(str, b, e));
    cr_assert(eq(str, c, e));
    free(a);
    free(b);
    free(c);
    free(d);
    free(e);
}

/* Options of all views, including those that were added later. */
Test(golden_selections, order_and_columns_of_every_view)
{
    check_golden("report example.dwell --by module-function", "report-module-function.txt");
    check_golden("report example.dwell --by module-function --format csv", "report-module-function.csv");
    check_golden("report example.dwell --by module-function --format json -s calls --filter 'calls>5'",
                 "report-module-function.json");
    check_golden("report example.dwell --sort module --columns calls", "sort-report.txt");
    check_golden("tree example.dwell --sort calls --columns calls,elapsed_exclusive", "sort-tree.txt");
    check_golden("tree example.dwell --sort name --columns calls --min 10% --by thread", "sort-tree-folded.txt");
    check_golden("callers example.dwell price_of --sort calls --columns calls", "sort-callers.txt");
    check_golden("slowest example.dwell price_of -n 5 --sort tid --columns tid,elapsed_inclusive,caller",
                 "sort-slowest.txt");
    check_golden("histogram example.dwell price_of --sort calls --columns from,calls --format csv",
                 "sort-histogram.csv");
    save_frames();
    check_golden("marks frames.dwell --sort number --columns number,text", "sort-marks.txt");
    check_golden("marks --columns help", "marks-columns.txt");
}

/* One clear line, with the place, and no other output. */
Test(golden_selections, lines_of_a_config_file_that_are_wrong)
{
    static const char *const bad[][3] = {
        { "report.colums = calls", "report", "1: dwell report has no option '--colums'; did you mean '--columns'?" },
        { "\n#\nreprot.limit = 1", "report",
          "3: 'reprot' is not a command that takes options from this file; did you mean 'report'?" },
        { "report.limit", "report", "1: not a line such as 'report.columns = calls,elapsed_exclusive'" },
        { "limit = 1", "report", "1: not a line such as 'report.columns = calls,elapsed_exclusive'" },
        { "report.limit =", "report", "1: not a line such as 'report.columns = calls,elapsed_exclusive'" },
        { "report.limit = 1\nreport.limit = x", "report", "2: --limit: 'x' is not a number" },
        { "report.limit = 1\ntree.min = x", "tree",
          "2: --min: 'x' is neither a percentage such as 5% nor a time such as 2ms" },
        { "report.hot = x", "report", "1: 'x' is neither yes nor no" },
        { "report.no-config = yes", "report", "1: dwell report has no option '--no-config'" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        save_config(bad[i][0]);
        struct ran r = run("XDG_CONFIG_HOME=$PWD/config $DWELL %s example.dwell", bad[i][1]);
        char message[512];
        snprintf(message, sizeof message, "dwell: %s/config/dwell/config:%s\n", test_folder(), bad[i][2]);
        cr_assert(eq(str, r.err, message));
        cr_assert(eq(int, r.status, 2));
        cr_assert(eq(str, r.out, ""));
        ran_drop(&r);
    }
    save_config("report.limit = 1\ncallers.format = csv\n");
    struct ran r = run("XDG_CONFIG_HOME=$PWD/config $DWELL report --limit=x example.dwell");
    cr_assert(eq(str, r.err, "dwell: --limit: 'x' is not a number\n"));
    ran_drop(&r);
    r = run("XDG_CONFIG_HOME=$PWD/config $DWELL callers");
    cr_assert(eq(str, r.err, "dwell: callers: which FUNCTION? dwell report lists them\n"));
    ran_drop(&r);
    r = run("$DWELL callers example.dwell");
    cr_assert(eq(int, r.status, 2));
    cr_assert(
        eq(str, r.err, "dwell: callers: which FUNCTION of 'example.dwell'? dwell report example.dwell lists them\n"));
    ran_drop(&r);
}

/* Recordings of mode profile and imports hold sums only. */
Test(golden_selections, sums_cannot_be_cut)
{
    struct writer *w = example_session(SOURCE_PERF), *imported = example_session(SOURCE_PERF);
    write_header(w, 96, 1, 4);
    writer_save(w, test_path("sums.dwell"));
    writer_free(w);
    write_header(imported, 148, 1, 4);
    writer_save(imported, test_path("imported.dwell"));
    writer_free(imported);
    selection_check_error("report sums.dwell --from 1us",
                          "dwell: sums.dwell: recorded in mode profile, so it has sums without times "
                          "and cannot be cut by --from and --to\n");
    selection_check_error(
        "tree imported.dwell --to mark:x",
        "dwell: imported.dwell: imported from a report, so it has sums without times and cannot be cut by --from and --to\n");
}

/* The function may stand before the sessions or behind them. */
Test(golden_selections, words_in_either_order)
{
    static const char *const commands[] = { "callers", "histogram", "slowest" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        free(run_well("$DWELL %s price_of example.dwell >before; $DWELL %s example.dwell price_of >behind; "
                      "grep -q price_of before && cmp before behind",
                      commands[i], commands[i]));
    free(run_well(
        "cp example.dwell second.dwell; $DWELL callers handle example.dwell second.dwell >before; "
        "$DWELL callers example.dwell second.dwell handle >behind; grep -q second before && cmp before behind"));
    free(run_well("$DWELL slowest price_of example.dwell >before; echo >price_of; " /* a file that is no session */
                  "$DWELL slowest price_of example.dwell >behind; cmp before behind || exit 1; "
                  "$DWELL slowest example.dwell price_of >behind; cmp before behind"));
    struct ran r = run("$DWELL callers missing.data handle");
    cr_assert(eq(str, r.err, "dwell: missing.data: No such file or directory\n"));
    ran_drop(&r);
    r = run("$DWELL callers handle missing.data");
    cr_assert(eq(str, r.err, "dwell: missing.data: No such file or directory\n"));
    ran_drop(&r);
    r = run("$DWELL slowest handle example.dwell third");
    cr_assert(eq(str, r.err, "dwell: slowest: one function and one session at a time: 'third' is a third word\n"));
    ran_drop(&r);
}
