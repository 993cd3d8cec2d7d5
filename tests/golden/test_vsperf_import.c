/* The sessions that `dwell import vsperf` makes from reports, as a user sees them, and the files that it leaves
 * unchanged. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/features.h"
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
    need_features("perflog");
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
    need_features("perflog");
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
    /* The shortest and longest calls by unknown callers are unknown; text does not show them. The report does not say
     * that application time is below CPU time, for which text has a star. */
    free(run_well("$DWELL callers example.dwell price_of --columns calls,elapsed_inclusive,application_exclusive | "
                  "sed '/^$/,$d' | tr -d '*' | tr -s ' ' >a && $DWELL callers all.dwell price_of --columns "
                  "calls,elapsed_inclusive,application_exclusive | sed '/^$/,$d' | tr -s ' ' >b && cmp a b"));
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
        char *hot = run_well("DWELL_PAGER= TERM=xterm script -qec \"$DWELL %s\" /dev/null </dev/null | "
                             "grep -c \"$(printf '\\033')\\[31m.*work\" || true",
                             commands[i]);
        cr_assert(eq(str, hot, (char *)(i == 2 ? "0\n" : "1\n")), "%s", commands[i]); /* callers have no hot rows */
        free(hot);
    }
}

/* The wait is in one root and the work in another, or below a function that only waits. */
Test(golden_vsperf_import, the_hot_path_follows_the_work)
{
    static const char one_root[] = "Type,Function Name,Inclusive Samples,Exclusive Samples\n"
                                   "Root,wmain,10000,1000\nCallee,pool,5197,0\nCallee,hog,3803,3803\n"
                                   "Root,pool,5197,0\nCaller,wmain,5197,0\nCallee,WaitForMultipleObjects,5197,5197\n"
                                   "Root,hog,3803,3803\nCaller,wmain,3803,3803\n"
                                   "Root,WaitForMultipleObjects,5197,5197\nCaller,pool,5197,5197\n";
    static const char two_roots[] = "Type,Function Name,Inclusive Samples,Exclusive Samples\n"
                                    "Root,wmain,4803,1000\nCallee,hog,3803,3803\nRoot,hog,3803,3803\n"
                                    "Caller,wmain,3803,3803\nRoot,pool,5197,0\n"
                                    "Callee,WaitForMultipleObjects,5197,5197\n"
                                    "Root,WaitForMultipleObjects,5197,5197\nCaller,pool,5197,5197\n";
    for (int i = 0; i < 2; i++) {
        save_report("apart.csv", i ? two_roots : one_root);
        char *rows = run_well("$DWELL import vsperf apart.csv -o apart.dwell && $DWELL tree apart.dwell --format csv |"
                              " tr -d '\\r' | cut -d, -f 2,3 | sed 1d");
        cr_assert(eq(str, rows,
                     (char *)(i ? ",pool\nw,WaitForMultipleObjects\n*,wmain\n*,hog\n"
                                : "*,wmain\n,pool\nw,WaitForMultipleObjects\n*,hog\n")),
                  "%s", rows);
        free(rows);
    }
}

/* Times are averages times calls where a call tree has only these. */
Test(golden_vsperf_import, a_call_tree_of_averages)
{
    save_report("averages.csv",
                "\357\273\277Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Avg Elapsed Inclusive "
                "Time,Avg Elapsed Exclusive Time,Module Name,\n"
                "0,\"app.exe\",0,100.00,0.00,0.00,\"\",\n"
                "1,\"main\",1,100.00,\"2,893,824.00\",\"289,382.40\",\"app.exe\",\n"
                "2,\"work\",3,90.00,\"868,147.20\",\"868,147.20\",\"app.exe\",\n");
    char *rows =
        run_well("$DWELL import vsperf averages.csv -o a.dwell && $DWELL report a.dwell --format csv --columns "
                 "calls,elapsed_inclusive,elapsed_exclusive,elapsed_inclusive_mean | tr -d '\\r'");
    cr_assert(eq(str, rows,
                 (char *)"function,module,file,line,calls,elapsed_inclusive_ns,elapsed_exclusive_ns,"
                         "elapsed_inclusive_mean_ns\n"
                         "work,app.exe,,,3,2604442,2604442,868147\nmain,app.exe,,,1,2893824,289382,2893824\n"),
              "%s", rows);
    free(rows);
    char *note = run_well("$DWELL info a.dwell | grep ^note");
    cr_assert(has(note, "imported from averages.csv; times are averages, which are rounded, times calls"), "%s", note);
    free(note);
}

/* What a report states of single calls and of probes is in its columns. Paths and addresses are as in the file. */
Test(golden_vsperf_import, stated_values_are_shown)
{
    save_report(
        "stated.csv",
        "Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Time Inclusive Probe Overhead,Time Exclusive "
        "Probe Overhead,Min Elapsed Inclusive Time,Avg Elapsed Inclusive Time,Max Elapsed Inclusive Time,Number "
        "of Calls,Source File,Function Line Number,Module Name,Module Path,Function Address\n"
        "f,90,30,12,5,20,30.5,40,3,c:\\src\\f.cpp,7,app.exe,C:\\bin\\app.exe,0x00401000\n"
        "g,60,60,,,,,,2,\\\\host\\src\\g.cpp,9,app.exe,C:\\bin\\app.exe,0x00402000\n");
    char *rows =
        run_well("$DWELL import vsperf stated.csv -o s.dwell 2>/dev/null && $DWELL report s.dwell --format csv -s name "
                 "--columns calls,overhead_inclusive,overhead_exclusive,elapsed_inclusive_min,"
                 "elapsed_inclusive_mean,elapsed_inclusive_max | tr -d '\\r' | sed 1d");
    cr_assert(eq(str, rows,
                 (char *)"f,app.exe,c:\\src\\f.cpp,7,3,12,5,20,31,40\n"
                         "g,app.exe,\\\\host\\src\\g.cpp,9,2,,,,30,\n"),
              "%s", rows);
    free(rows);
    char *text = run_well("$DWELL report s.dwell");
    cr_assert(has(text, " f.cpp:7 ") && has(text, " g.cpp:9 "), "%s", text);
    free(text);
    char *again =
        run_well("$DWELL export vsperf s.dwell -o s && tr , '\\n' <s_FunctionSummary.csv | grep '\\\\\\|^0x'");
    cr_assert(eq(str, again,
                 (char *)"\"c:\\src\\f.cpp\"\n\"C:\\bin\\app.exe\"\n0x00401000\n"
                         "\"\\\\host\\src\\g.cpp\"\n\"C:\\bin\\app.exe\"\n0x00402000\n"),
              "%s", again);
    free(again);
}

/* Messages about an imported report do not speak of a recording. */
Test(golden_vsperf_import, messages_speak_of_reports)
{
    need_features("events");
    static const char *const cases[][2] = {
        { "replay s.dwell", "s.dwell: imported from a report, which keeps no single calls" },
        { "histogram s.dwell _wmain", "s.dwell: imported from a report, which keeps no single calls" },
        { "slowest s.dwell _wmain", "s.dwell: imported from a report, which keeps no single calls" },
        { "report --by line s.dwell",
          "s.dwell: imported from a report, which does not say from which lines calls were made" },
        { "export chrome s.dwell",
          "s.dwell: imported from a report, which keeps no single calls; export callgrind, pprof or speedscope" },
        { "report --from 1ms s.dwell",
          "s.dwell: imported from a report, so it has sums without times and cannot be cut by --from and --to" },
        { "annotate _wmain s.dwell", "annotate: the source of '_wmain' is not in the report" },
    };
    free(run_well("$DWELL import vsperf sampled.csv -o s.dwell"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ran r = run("$DWELL %s", cases[i][0]);
        char *wanted = NULL;
        cr_assert(gt(int, asprintf(&wanted, "dwell: %s\n", cases[i][1]), 0));
        cr_assert(eq(int, r.status, 2));
        cr_assert(eq(str, r.err, wanted), "%s", cases[i][0]);
        free(wanted);
        ran_drop(&r);
    }
    struct ran r = run("$DWELL events s.dwell");
    cr_assert(has(r.err, "dwell: s.dwell: no trace events: an imported report has none\n"), "%s", r.err);
    ran_drop(&r);
    char *waits = run_well("$DWELL waits s.dwell");
    cr_assert(has(waits, "! an imported report has no blocked times, and no causes of waits\n"), "%s", waits);
    free(waits);
}

/* Of reports with 8 and with 16 digits, addresses have 16. */
Test(golden_vsperf_import, merged_addresses_keep_their_digits)
{
    static const char columns[] = "Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Module Name,Function "
                                  "Address\n";
    char text[512];
    snprintf(text, sizeof text, "%sf,10,10,m,0x00401000\n", columns);
    save_report("one.csv", text);
    snprintf(text, sizeof text, "%sg,10,10,m,00402000\n", columns);
    save_report("two.csv", text);
    snprintf(text, sizeof text, "%sh,10,10,m,0x0000000000403000\n", columns);
    save_report("three.csv", text);
    char *cells = run_well("for i in one two three; do $DWELL import vsperf $i.csv -o $i.dwell 2>/dev/null; done\n"
                           "$DWELL merge one.dwell two.dwell -o narrow.dwell 2>/dev/null\n"
                           "$DWELL merge one.dwell three.dwell -o wide.dwell 2>/dev/null\n"
                           "for i in two three narrow wide; do $DWELL export vsperf $i.dwell -o $i\n"
                           "echo $i; sed 1d $i\"_FunctionSummary.csv\" | tr , '\\n' | grep ^0x | sort; done");
    cr_assert(eq(str, cells,
                 (char *)"two\n0x00402000\nthree\n0x0000000000403000\nnarrow\n0x00401000\n0x00402000\n"
                         "wide\n0x0000000000401000\n0x0000000000403000\n"),
              "%s", cells);
    free(cells);
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
