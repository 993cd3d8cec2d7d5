/* The sessions that `dwell import vsperf` makes from reports, as a user sees them, and the files that it leaves
 * unchanged. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/run.h"
#include "support/scenario.h"

/* A sampled run, and the same functions traced. */
static const char sampled[] =
    "Type,Function Name,Inclusive Samples,Exclusive Samples,Inclusive Samples %,Exclusive Samples %\r\n"
    "\"Root\",\"_wmain\",14,0,\"100,00\",\"0,00\"\r\n"
    "\"Callee\",\"ExpensiveMethodB(void)\",4,1,\"28,57\",\"7,14\"\r\n"
    "\"Callee\",\"ExpensiveMethodC(void)\",10,4,\"71,43\",\"28,57\"\r\n"
    "\"Root\",\"ExpensiveMethodB(void)\",4,1,\"28,57\",\"7,14\"\r\n"
    "\"Caller\",\"_wmain\",4,1,\"28,57\",\"7,14\"\r\n"
    "\"Callee\",\"Data::~Data(void)\",3,3,\"21,43\",\"21,43\"\r\n"
    "\"Root\",\"ExpensiveMethodC(void)\",10,4,\"71,43\",\"28,57\"\r\n"
    "\"Caller\",\"_wmain\",10,4,\"71,43\",\"28,57\"\r\n"
    "\"Callee\",\"Data::~Data(void)\",6,6,\"42,86\",\"42,86\"\r\n"
    "\"Root\",\"Data::~Data(void)\",9,9,\"64,29\",\"64,29\"\r\n"
    "\"Caller\",\"ExpensiveMethodB(void)\",3,3,\"21,43\",\"21,43\"\r\n"
    "\"Caller\",\"ExpensiveMethodC(void)\",6,6,\"42,86\",\"42,86\"\r\n";

static void save_report(const char *name, const char *text)
{
    FILE *out = fopen(test_path(name), "wb");
    cr_assert(out != NULL);
    fputs(text, out);
    fclose(out);
}

static void write_reports(void)
{
    struct writer *w = example_session(SOURCE_PERF);
    writer_save(w, test_path("example.dwell"));
    writer_free(w);
    save_report("sampled.csv", sampled);
    save_report("bad.csv", "Type,Function Name,Inclusive Samples,Exclusive Samples\nRoot,a,5,1\nRoot,b,five,1\n");
}

/* The columns for which such reports have values. */
#define HELD                                                                                                           \
    "calls,elapsed_inclusive,elapsed_inclusive_percent,elapsed_exclusive,elapsed_exclusive_percent,"                   \
    "application_inclusive,application_inclusive_percent,application_exclusive,application_exclusive_percent,min,max"

TestSuite(golden_vsperf_import, .init = write_reports, .timeout = 300);

static void expect_import(const char *arguments, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, DWELL_GOLDEN "/%s", name);
    char *got = run_well("$DWELL %s", arguments);
    if (getenv("DWELL_UPDATE_GOLDEN")) {
        FILE *out = fopen(path, "wb");
        cr_assert(out != NULL, "%s", path);
        fputs(got, out);
        fclose(out);
    }
    char *wanted = run_well("cat '%s'", path);
    cr_assert(eq(str, got, wanted), "dwell %s: not as in tests/golden/%s", arguments, name);
    free(got);
    free(wanted);
}

/* Samples are called samples, in every format. */
Test(golden_vsperf_import, samples)
{
    free(run_well("$DWELL import vsperf sampled.csv -o s.dwell"));
    expect_import("report s.dwell", "vsperf-sampled-report.txt");
    expect_import("report s.dwell --format csv", "vsperf-sampled-report.csv");
    expect_import("report s.dwell --format json", "vsperf-sampled-report.json");
    expect_import("tree s.dwell", "vsperf-sampled-tree.txt");
    expect_import("callers s.dwell ExpensiveMethodC", "vsperf-sampled-callers.txt");
    char *samples =
        run_well("$DWELL export firefox s.dwell | grep -o '\"samples\":{.*'"); /* samples do not become times */
    cr_assert(eq(
        str, samples,
        "\"samples\":{\"weightType\":\"samples\",\"time\":[0,1,4,8],\"stack\":[1,2,3,4],\"weight\":[1,3,4,6],\"length\":4},\n"));
    free(samples);
}

/* Samples are no durations. */
Test(golden_vsperf_import, samples_are_no_perflog)
{
    free(run_well("$DWELL import vsperf sampled.csv -o s.dwell"));
    for (int i = 0; i < 2; i++) {
        struct ran r = run("$DWELL export perflog %s s.dwell", i ? "--aggregate" : "");
        cr_assert(eq(int, r.status, 2));
        cr_assert(eq(str, r.out, (char *)""));
        cr_assert(eq(str, r.err,
                     (char *)"dwell: s.dwell: a report of samples, which have no durations; export vsperf or collapsed "
                             "instead\n"));
        ran_drop(&r);
    }
}

/* A report does not say on which system it was made, so that the log does not either. */
Test(golden_vsperf_import, perflog_without_a_system)
{
    free(run_well(
        "$DWELL export vsperf example.dwell -o e && $DWELL import vsperf e_CallerCalleeSummary.csv -o t.dwell"));
    char *log = run_well("$DWELL export perflog --aggregate t.dwell | head -2 | tr -d '\\r'");
    cr_assert(eq(str, log,
                 (char *)"## PERF ## REGISTERED APP [shop] PROCCESSID [0x000003e8]\n"
                         "## PERF ## RESOLUTION [1000000000] TICKS PER SECOND\n"));
    free(log);
}

/* The session's samples are exported as samples again. */
Test(golden_vsperf_import, samples_there_and_back)
{
    free(run_well(
        "$DWELL import vsperf sampled.csv -o s.dwell && $DWELL export vsperf s.dwell -o again && "
        "$DWELL import vsperf again_CallerCalleeSummary.csv again_Header.csv -o again.dwell && "
        "$DWELL report s.dwell --format csv >a && $DWELL report again.dwell --format csv >b && cmp a b && "
        "$DWELL tree s.dwell --format csv >a && $DWELL tree again.dwell --format csv >b && cmp a b && "
        "$DWELL callers s.dwell _wmain --format csv >a && $DWELL callers again.dwell _wmain --format csv >b && cmp a b"));
    char *titles = run_well("head -1 again_FunctionSummary.csv");
    cr_assert(
        has(titles,
            "Function Name,Inclusive Samples,Exclusive Samples,Inclusive Samples %,Exclusive Samples %,Source File,"));
    free(titles);
}

Test(golden_vsperf_import, times)
{
    free(run_well(
        "$DWELL export vsperf example.dwell -o e && $DWELL import vsperf e_CallerCalleeSummary.csv -o t.dwell"));
    expect_import("report t.dwell", "vsperf-scaled-report.txt");
    expect_import("tree t.dwell", "vsperf-scaled-tree.txt");
    expect_import("callers t.dwell price_of", "vsperf-scaled-callers.txt");
    expect_import("report t.dwell --by process", "vsperf-scaled-process.txt");
    free(run_well("$DWELL report example.dwell --format csv --columns " HELD
                  " >a; $DWELL report t.dwell --format csv --columns " HELD " >b; cmp a b"));
    char *info = run_well("$DWELL info t.dwell");
    cr_assert(has(info, "\nremark          call paths are approximate (scaled)\n"));
    cr_assert(has(info, "\nnote            imported from e_CallerCalleeSummary.csv\n"));
    cr_assert(has(info, "\nresolution      1000000000 ticks per second\n"));
    free(info);
}

/* With the tree, nothing is approximate. The other summaries are not needed, and a message says so. */
Test(golden_vsperf_import, all_summaries)
{
    struct ran r = run("$DWELL export vsperf example.dwell -o e && $DWELL import vsperf e_*.csv -o all.dwell");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(str, r.err,
                 (char *)"dwell: nothing is taken from e_LineSummary.csv, e_Marks.csv, "
                         "e_ProcessSummary.csv, e_ThreadSummary.csv\n"));
    ran_drop(&r);
    free(run_well("$DWELL tree example.dwell --min 0 --format csv --columns " HELD " >a && "
                  "$DWELL tree all.dwell --min 0 --format csv --columns " HELD " >b && cmp a b"));
    /* The shortest and longest calls by unknown callers are unknown; text does not show them. */
    free(run_well("$DWELL callers example.dwell price_of --columns calls,elapsed_inclusive,application_exclusive | "
                  "sed 1,/^$/d >a && $DWELL callers all.dwell price_of --columns "
                  "calls,elapsed_inclusive,application_exclusive | sed 1,/^$/d >b && cmp a b"));
    free(run_well("$DWELL report --by process example.dwell --format csv --columns " HELD " | cut -d, -f1,2,5- >a && "
                  "$DWELL report --by process all.dwell --format csv --columns " HELD
                  " | cut -d, -f1,2,5- >b && cmp a b"));
}

/* Without the call tree, modules have the values of their summary. */
Test(golden_vsperf_import, modules)
{
    free(run_well("$DWELL export vsperf example.dwell -o e && "
                  "$DWELL import vsperf e_ModuleSummary.csv e_CallerCalleeSummary.csv -o m.dwell && "
                  "$DWELL report --by module example.dwell --format csv | cut -d, -f1-11 >a && "
                  "$DWELL report --by module m.dwell --format csv | cut -d, -f1-11 >b && cmp a b && "
                  "$DWELL export vsperf m.dwell -o again 2>x && cmp e_ModuleSummary.csv again_ModuleSummary.csv"));
}

Test(golden_vsperf_import, ticks_of_another_rate)
{
    free(run_well("$DWELL export vsperf example.dwell -o e && "
                  "$DWELL import vsperf e_CallerCalleeSummary.csv --resolution 2000000000 -o half.dwell"));
    char *text = run_well("$DWELL report half.dwell --format csv --columns " HELD " | grep ^audit");
    cr_assert(
        eq(str, text, (char *)"audit,shop,,,1,20000,13.6054,1000,0.6803,20000,22.3776,1000,1.1189,20000,20000\r\n"));
    free(text);
}

/* ---- functions that wait, and unknown addresses ---- */

static const char waiting[] =
    "Type,Function Name,Inclusive Samples,Exclusive Samples,Inclusive Samples %,Exclusive Samples %,Module Name\n"
    "Root,main,10000,103,\"100,00\",\"1,03\",app.exe\n"
    "Callee,WaitForMultipleObjects,5197,5197,\"51,97\",\"51,97\",kernel32.dll\n"
    "Callee,work,4700,4700,\"47,00\",\"47,00\",app.exe\n"
    "Root,WaitForMultipleObjects,5197,5197,\"51,97\",\"51,97\",kernel32.dll\n"
    "Caller,main,5197,5197,\"51,97\",\"51,97\",app.exe\n"
    "Root,work,4700,4700,\"47,00\",\"47,00\",app.exe\n"
    "Caller,main,4700,4700,\"47,00\",\"47,00\",app.exe\n";

/* The work comes first, and the wait is marked. */
Test(golden_vsperf_import, waits_are_not_hot)
{
    save_report("waiting.csv", waiting);
    free(run_well("$DWELL import vsperf waiting.csv -o w.dwell"));
    expect_import("report --hot w.dwell", "vsperf-waits-hot.txt");
    expect_import("report w.dwell", "vsperf-waits-report.txt");
    expect_import("callers w.dwell main", "vsperf-waits-callers.txt");
    expect_import("tree w.dwell", "vsperf-waits-tree.txt");
    free(run_well("$DWELL report --hot --sort elapsed_exclusive w.dwell | grep -A1 SAMPLES | grep -q WaitForMultiple"));
}

/* Terminals show it dim, in every report. */
Test(golden_vsperf_import, waits_are_grey_on_terminals)
{
    static const char *const commands[] = { "report w.dwell", "report --hot w.dwell", "callers w.dwell main",
                                            "tree w.dwell" };
    save_report("waiting.csv", waiting);
    free(run_well("$DWELL import vsperf waiting.csv -o w.dwell"));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *text = run_well("DWELL_PAGER= TERM=xterm script -qec \"$DWELL %s\" /dev/null </dev/null | "
                              "grep -c \"$(printf '\\033')\\[2m.*WaitFor\"",
                              commands[i]);
        cr_assert(eq(str, text, (char *)"1\n"), "%s", commands[i]);
        free(text);
    }
}

/* A report without addresses gets none. An address that another function has is not replaced by another number. */
Test(golden_vsperf_import, addresses_are_those_of_the_file)
{
    save_report("addresses.csv",
                "Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Module Name,Function Address\n"
                "f,10,10,m,0x00401000\ng,20,20,m,\nh,30,30,m,0xFFFFF80012345678\n");
    free(run_well("$DWELL import vsperf addresses.csv -o a.dwell && $DWELL export vsperf a.dwell -o a && "
                  "$DWELL export sqlite a.dwell -o a.db && $DWELL export pprof a.dwell -o a.pb.gz && "
                  "$DWELL view a.dwell -o a.html"));
    char *text = run_well("head -1 a_FunctionSummary.csv | tr , '\\n' | grep -n 'Function Address' | cut -d: -f1");
    char *cells = run_well("sed 1d a_FunctionSummary.csv | cut -d, -f1,%d", atoi(text));
    cr_assert(eq(str, cells, (char *)"\"h\",\n\"g\",\n\"f\",0x0000000000401000\n"));
    free(text);
    free(cells);
    char *rows = run_well("sqlite3 a.db 'SELECT name, address FROM function ORDER BY name'");
    cr_assert(eq(str, rows, (char *)"f|4198400\ng|\nh|\n"));
    free(rows);
    free(run_well("! grep -r 8000000000 a_*.csv"));
}

/* ---- mistakes ---- */

static void expect_refusal(const char *command, const char *message)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "dwell: %s\n", message);
    struct ran r = run("%s", command);
    cr_assert(eq(int, r.status, 2), "%s", command);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, wanted));
    ran_drop(&r);
}

Test(golden_vsperf_import, mistakes)
{
    expect_refusal("$DWELL import", "import: name a format; dwell import --list lists them");
    expect_refusal("$DWELL import gprof x -o y", "no format 'gprof'; dwell import --list lists them");
    expect_refusal("$DWELL import vsperf -o y", "import vsperf: which FILE?");
    expect_refusal("$DWELL import vsperf sampled.csv", "import vsperf: say which session file to write, with -o FILE");
    expect_refusal("$DWELL import vsperf missing.csv -o y", "missing.csv: No such file or directory");
    expect_refusal("$DWELL import vsperf . -o y", ".: is a directory");
    expect_refusal("$DWELL import vsperf bad.csv -o y", "bad.csv:3: Inclusive Samples: 'five' is not a number");
    expect_refusal("$DWELL import vsperf example.dwell -o y", "example.dwell:1: not text: it holds zero bytes");
    expect_refusal("$DWELL import vsperf sampled.csv --resolution 0 -o y",
                   "--resolution: must be from 1000 to 10^12 ticks per second");
    expect_refusal("$DWELL import vsperf sampled.csv --resolution 1000000 -o y",
                   "sampled.csv: holds samples, not times; --resolution does not apply");
    expect_refusal("printf 'Name,Value\\n' >h.csv; $DWELL import vsperf h.csv -o y",
                   "h.csv: has no functions; give a CallerCalleeSummary, CallTreeSummary or FunctionSummary");
    free(run_well("! ls | grep -E '^y|part'"));
    char *list = run_well("$DWELL import --list");
    cr_assert(eq(str, list, (char *)"vsperf       VSPerfReport's summaries, as CSV files\n"));
    free(list);
}

/* As with recordings, an older session is kept, and another file stays. */
Test(golden_vsperf_import, existing_files)
{
    free(run_well("cp example.dwell o.dwell; cp example.dwell o.dwell.old"));
    expect_refusal("$DWELL import vsperf bad.csv -o o.dwell", "bad.csv:3: Inclusive Samples: 'five' is not a number");
    expect_refusal("trap '' XFSZ; ulimit -f 20; $DWELL import vsperf sampled.csv -o o.dwell",
                   "o.dwell: the disk is full");
    expect_refusal("$DWELL import vsperf sampled.csv -o sampled.csv",
                   "sampled.csv: not a dwell session, so it is not replaced; choose another file with -o");
    expect_refusal("$DWELL import vsperf sampled.csv -o no/folder", "no/folder: No such file or directory");
    free(run_well(
        "cmp example.dwell o.dwell && cmp example.dwell o.dwell.old && ! ls | grep part && grep -q Root sampled.csv"));
    free(run_well("echo >o.dwell.old; $DWELL import vsperf sampled.csv -o o.dwell && cmp example.dwell o.dwell.old && "
                  "$DWELL report o.dwell | grep -q samples && ! ls | grep part"));
}
