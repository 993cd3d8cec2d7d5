/* The examples and figures of the document about analysing the reports of vsperfcmd (VSPerfReport's caller and callee
 * summaries). Each test is named after a sentence of the document. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waiting_names.h"
#include "commands/features.h"
#include "support/scenario.h"
#include "support/success.h"
#include "support/vsperf_session.h"

TestSuite(unit_seed_vsperf, .timeout = 300);

enum { GHZ = 1000000000 };

/* The program of the document, sampled. _wmain, its two methods and _Tidy have the document's numbers. */
static const char report[] = "\"Root\",\"_wmainCRTStartup\",14,0,\"100,00\",\"0,00\"\n"
                             "\"Callee\",\"_wmain\",14,0,\"100,00\",\"0,00\"\n"
                             "\"Root\",\"_wmain\",14,0,\"100,00\",\"0,00\"\n"
                             "\"Caller\",\"_wmainCRTStartup\",14,0,\"100,00\",\"0,00\"\n"
                             "\"Callee\",\"ExpensiveMethodB(void)\",4,0,\"28,57\",\"0,00\"\n"
                             "\"Callee\",\"ExpensiveMethodC(void)\",10,0,\"71,43\",\"0,00\"\n"
                             "\"Root\",\"ExpensiveMethodB(void)\",4,0,\"28,57\",\"0,00\"\n"
                             "\"Caller\",\"_wmain\",4,0,\"28,57\",\"0,00\"\n"
                             "\"Callee\",\"Data::~Data(void)\",2,0,\"14,29\",\"0,00\"\n"
                             "\"Callee\",\"Data::Data(int)\",2,2,\"14,29\",\"14,29\"\n"
                             "\"Root\",\"ExpensiveMethodC(void)\",10,0,\"71,43\",\"0,00\"\n"
                             "\"Caller\",\"_wmain\",10,0,\"71,43\",\"0,00\"\n"
                             "\"Callee\",\"Data::~Data(void)\",4,0,\"28,57\",\"0,00\"\n"
                             "\"Callee\",\"Data::Data(int)\",6,6,\"42,86\",\"42,86\"\n"
                             "\"Root\",\"Data::Data(int)\",8,8,\"57,14\",\"57,14\"\n"
                             "\"Caller\",\"ExpensiveMethodB(void)\",2,2,\"14,29\",\"14,29\"\n"
                             "\"Caller\",\"ExpensiveMethodC(void)\",6,6,\"42,86\",\"42,86\"\n"
                             "\"Root\",\"Data::~Data(void)\",6,0,\"42,86\",\"0,00\"\n"
                             "\"Caller\",\"ExpensiveMethodB(void)\",2,0,\"14,29\",\"0,00\"\n"
                             "\"Caller\",\"ExpensiveMethodC(void)\",4,0,\"28,57\",\"0,00\"\n"
                             "\"Callee\",\"std::list::_Tidy(void)\",6,0,\"42,86\",\"0,00\"\n"
                             "\"Root\",\"std::list::_Tidy(void)\",6,0,\"42,86\",\"0,00\"\n"
                             "\"Caller\",\"Data::~Data(void)\",6,0,\"42,86\",\"0,00\"\n"
                             "\"Callee\",\"_free\",6,0,\"42,86\",\"0,00\"\n"
                             "\"Root\",\"_free\",6,6,\"42,86\",\"42,86\"\n"
                             "\"Caller\",\"std::list::_Tidy(void)\",6,6,\"42,86\",\"42,86\"\n";

static struct analysis seed_load(const char *text)
{
    return vsperf_load(&text, 1, GHZ);
}

static void seed_expect_paths(const struct analysis *analysis, const char *wanted)
{
    char *got = vsperf_paths(analysis);
    cr_assert(eq(str, got, (char *)wanted));
    free(got);
}

/* The text of a cell, as a column of the function's row in the report by function; the caller frees it. */
static char *seed_cell(const struct analysis *analysis, const char *function, const char *column)
{
    const struct sorting sorting = { .key = "elapsed_exclusive" };
    struct table t = view_rows(analysis, BY_FUNCTION, &sorting);
    char text[64] = "no such row";
    for (size_t row = 0; row < t.row_count; row++) {
        const struct cell *cells = &t.cells[row * t.column_count];
        for (size_t i = 0; strcmp(cells[0].text, function) == 0 && i < t.column_count; i++)
            if (strcmp(t.columns[i].key, column) == 0)
                snprintf(text, sizeof text, cells[i].known ? "%.2f" : "unknown",
                         t.columns[i].kind == CELL_PERCENT ? cells[i].percent : (double)cells[i].number);
    }
    table_drop(&t);
    return strdup(text);
}

static void seed_expect_cell(const struct analysis *analysis, const char *function, const char *column,
                             const char *wanted)
{
    char *got = seed_cell(analysis, function, column);
    cr_assert(eq(str, got, (char *)wanted), "%s of %s", column, function);
    free(got);
}

/* Exports the session again and returns the lines of the summary that begin so; the caller frees them. */
static char *seed_export(const struct analysis *analysis, const char *summary, const char *begin)
{
    const struct export_options options = { 0 };
    char path[4096], line[4096], *lines = NULL;
    size_t size;
    EXPECT_SUCCESS(find_export("vsperf")->write_files(analysis, &options, test_path("again"), &error));
    snprintf(path, sizeof path, "%s_%s.csv", test_path("again"), summary);
    FILE *in = fopen(path, "r"), *out = open_memstream(&lines, &size);
    cr_assert(in != NULL);
    while (fgets(line, sizeof line, in))
        if (strncmp(line, begin, strlen(begin)) == 0)
            fputs(line, out);
    fclose(in);
    fclose(out);
    return lines;
}

/* "This confuses the parser, and shows that wmmain consumes 10000% instead of 100%." */
Test(unit_seed_vsperf, a_decimal_comma_is_100_percent_and_not_10000)
{
    struct analysis analysis = seed_load(report);
    seed_expect_cell(&analysis, "_wmain", "elapsed_inclusive_percent", "100.00");
    seed_expect_cell(&analysis, "ExpensiveMethodB(void)", "elapsed_inclusive_percent", "28.57");
    seed_expect_cell(&analysis, "ExpensiveMethodC(void)", "elapsed_inclusive_percent", "71.43");
    analysis_drop(&analysis);
}

/* "Even more annoying, wmain appears several times. I want wmainCRTStartup as the root, and wmain below it." "All nodes
 * without callers should be entry points." "These redundant nodes": a function is at the root only if nothing calls it.
 */
Test(unit_seed_vsperf, wmain_appears_once_below_wmainCRTStartup)
{
    struct analysis analysis = seed_load(report);
    seed_expect_paths(&analysis,
                      "_wmainCRTStartup 14 0\n"
                      "_wmainCRTStartup/_wmain 14 0\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodC(void) 10 0\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodC(void)/Data::Data(int) 6 6\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodC(void)/Data::~Data(void) 4 0\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodC(void)/Data::~Data(void)/std::list::_Tidy(void) 4 0\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodC(void)/Data::~Data(void)/std::list::_Tidy(void)/"
                      "_free 4 4\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodB(void) 4 0\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodB(void)/Data::Data(int) 2 2\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodB(void)/Data::~Data(void) 2 0\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodB(void)/Data::~Data(void)/std::list::_Tidy(void) 2 0\n"
                      "_wmainCRTStartup/_wmain/ExpensiveMethodB(void)/Data::~Data(void)/std::list::_Tidy(void)/"
                      "_free 2 2\n");
    analysis_drop(&analysis);
}

/* "The function changes its name with the compiler's version. Sometimes it is called _wmainCRTStartup, sometimes
 * _tmainCRTStartup." "We also have to find the entry points of all remaining threads." */
Test(unit_seed_vsperf, entry_points_are_found_whatever_their_name)
{
    struct analysis analysis =
        seed_load("Root,_tmainCRTStartup,6,1\nCallee,main,5,5\nRoot,main,5,5\nCaller,_tmainCRTStartup,5,5\n"
                  "Root,ThreadEntry,4,0\nCallee,work,4,4\nRoot,work,4,4\nCaller,ThreadEntry,4,4\n");
    seed_expect_paths(&analysis,
                      "_tmainCRTStartup 6 1\n_tmainCRTStartup/main 5 5\nThreadEntry 4 0\nThreadEntry/work 4 4\n");
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 10));
    analysis_drop(&analysis);
}

/* "std::list::_Tidy(void) has 42.86 % in each branch": the naive approach. "A weight is the share of the current
 * branch": newAdjustedValue = calleeValue * adjustedParentCallerValue / currentCallerValue. */
Test(unit_seed_vsperf, tidy_has_its_weight_of_42_86_percent_in_each_branch)
{
    struct analysis analysis = seed_load(report);
    const double callee = 42.86, current_caller = 42.86;
    const struct tree_options options = { .depth = 1000 };
    struct table t = view_tree(&analysis, &options);
    double parents[2] = { 0 }, found[2] = { 0 };
    size_t count = 0;
    for (size_t row = 0; row < t.row_count; row++) {
        const struct cell *cells = &t.cells[row * t.column_count];
        double percent = -1;
        for (size_t i = 0; i < t.column_count; i++)
            if (strcmp(t.columns[i].key, "elapsed_inclusive_percent") == 0)
                percent = cells[i].percent;
        if (strcmp(cells[2].text, "Data::~Data(void)") == 0)
            parents[count] = percent;
        if (strcmp(cells[2].text, "std::list::_Tidy(void)") == 0)
            found[count++] = percent;
    }
    cr_assert(eq(sz, count, 2));
    for (size_t i = 0; i < count; i++)
        cr_assert(epsilon_eq(dbl, found[i], callee * parents[i] / current_caller, 0.01));
    cr_assert(epsilon_eq(dbl, found[0] + found[1], 42.86, 0.01), "not twice the whole");
    table_drop(&t);
    analysis_drop(&analysis);
}

/* "The values in the root nodes are correct": 6 samples, 42.86 %, though the excerpt has only these. */
Test(unit_seed_vsperf, percentages_are_those_of_the_report)
{
    struct analysis analysis = seed_load("\"Root\",\"std::list::_Tidy(void)\",6,0,\"42,86\",\"0,00\"\n"
                                         "\"Caller\",\"Data::~Data(void)\",6,0,\"42,86\",\"0,00\"\n"
                                         "\"Callee\",\"_free\",6,0,\"42,86\",\"0,00\"\n");
    seed_expect_cell(&analysis, "std::list::_Tidy(void)", "elapsed_inclusive_percent", "42.86");
    seed_expect_cell(&analysis, "Data::~Data(void)", "elapsed_inclusive_percent", "42.86");
    cr_assert(eq(u64, analysis.summary.whole.elapsed_inclusive, 14));
    cr_assert(eq(str, analysis.summary.remarks[0],
                 (char *)"percentages are those of the report: its functions have 42.85 % of the run"));
    char *again = seed_export(&analysis, "CallerCalleeSummary", "\"Root\",\"std::list::_Tidy(void)\"");
    cr_assert(eq(str, again,
                 (char *)"\"Root\",\"std::list::_Tidy(void)\",6,0,42.86,0.00,\"\",0,\"[unknown]\",\"\",,"
                         "\"std::list::_Tidy(void)\",\"[unknown]\",0,\r\n"));
    free(again);
    analysis_drop(&analysis);
}

/* "The adjusted values are approximations." */
Test(unit_seed_vsperf, the_adjusted_values_are_called_approximations)
{
    struct analysis analysis = seed_load(report);
    cr_assert(eq(sz, analysis.summary.remark_count, 1));
    cr_assert(eq(str, analysis.summary.remarks[0], (char *)"call paths are approximate (scaled)"));
    analysis_drop(&analysis);
}

/* "The data format is a hierarchy around root nodes, which have callers and callees." The document's first listing has
 * no numbers, so nothing can be shown for it. */
Test(unit_seed_vsperf, a_block_of_names_only_is_refused)
{
    static const char *const blocks[] = {
        "Root\",\"_wmain\"\n\"Caller\",\"_wmainCRTStartup\"\n\"Callee\",\"ExpensiveMethodB(void)\"\n"
        "\"Callee\",\"ExpensiveMethodC(void)\"\n",
        "Root\",\"ExpensiveMethodB(void)\"\n\"Caller\",\"_wmain\"\n\"Callee\",\"Data::~Data(void)\"\n"
        "\"Callee\",\"Data::Data(int)\"\n",
    };
    for (size_t i = 0; i < 2; i++) {
        char *error = vsperf_try(&blocks[i], 1, GHZ, test_path("refused.dwell"));
        cr_assert(eq(str, error, (char *)"1.csv:1: a row without numbers"));
        free(error);
    }
}

/* "As you can see, the thread spent 51.97% of the time in WaitForMultipleObjects, but the CPU hog is not there." */
Test(unit_seed_vsperf, wait_for_multiple_objects_has_51_97_percent_and_is_no_hog)
{
    struct analysis analysis =
        seed_load("Root,wmain,10000,103,\"100,00\",\"1,03\"\n"
                  "Callee,WaitForMultipleObjects,5197,5197,\"51,97\",\"51,97\"\n"
                  "Callee,work,4700,4700,\"47,00\",\"47,00\"\n"
                  "Root,WaitForMultipleObjects,5197,5197,\"51,97\",\"51,97\"\n"
                  "Caller,wmain,5197,5197,\"51,97\",\"51,97\"\n"
                  "Root,work,4700,4700,\"47,00\",\"47,00\"\nCaller,wmain,4700,4700,\"47,00\",\"47,00\"\n");
    const struct tree_options options = { .depth = 40 };
    const struct sorting hot = { .key = "elapsed_exclusive", .waiting_last = true };
    struct table t = view_tree(&analysis, &options), rows = view_rows(&analysis, BY_FUNCTION, &hot);
    static const char *const wanted[] = { "wmain", "*", "WaitForMultipleObjects", "w", "work", "*" };
    seed_expect_cell(&analysis, "WaitForMultipleObjects", "elapsed_exclusive_percent", "51.97");
    for (size_t row = 0; row < 3; row++) {
        cr_assert(eq(str, t.cells[row * t.column_count + 2].text, (char *)wanted[2 * row]));
        cr_assert(eq(str, t.cells[row * t.column_count + 1].text, (char *)wanted[2 * row + 1]));
    }
    EXPECT_SUCCESS(view_sort(&rows, &hot, &error));
    cr_assert(eq(str, rows.cells[0].text, (char *)"work"));
    cr_assert(eq(str, rows.cells[2 * rows.column_count].text, (char *)"WaitForMultipleObjects"));
    table_drop(&t);
    table_drop(&rows);
    analysis_drop(&analysis);
}

/* "Even console input such as readline eventually calls WaitForSingleObject or WaitForMultipleObjects." */
Test(unit_seed_vsperf, console_input_waits)
{
    cr_assert(is_waiting_name("readline") && is_waiting_name("System.Console.ReadLine()"));
    cr_assert(is_waiting_name("WaitForSingleObject") && is_waiting_name("WaitForMultipleObjects"));
}

/* "The summary report of tracing is almost the same as that of sampling. The application detects the format
 * automatically." */
Test(unit_seed_vsperf, the_right_format_is_detected)
{
    struct analysis analysis =
        seed_load("Type,Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Number of Calls\n"
                  "Root,_wmain,14,14,1\n");
    cr_assert(not(analysis.summary.samples));
    analysis_drop(&analysis);
    analysis = seed_load("Type,Function Name,Inclusive Samples,Exclusive Samples\nRoot,_wmain,14,14\n");
    cr_assert(analysis.summary.samples);
    analysis_drop(&analysis);
}

/* "VS2012 adds some additional columns, such as averages. That is a good addition. I want to add it to the viewer." */
Test(unit_seed_vsperf, averages_of_vs2012_are_kept_and_written_again)
{
    struct analysis analysis =
        seed_load("Type,Function Name,Inclusive Samples,Exclusive Samples,Inclusive Samples %,"
                  "Exclusive Samples %,Avg Inclusive Samples,Avg Exclusive Samples\n"
                  "Root,a,14,4,\"100,00\",\"28,57\",\"3,5\",\"1,25\"\nCallee,b,10,10,\"71,43\",\"71,43\",10,\n");
    char *titles = seed_export(&analysis, "CallerCalleeSummary", "Type,");
    cr_assert(strstr(titles, ",Exclusive Samples %,Avg Inclusive Samples,Avg Exclusive Samples,") != NULL, "%s",
              titles);
    free(titles);
    char *again = seed_export(&analysis, "CallerCalleeSummary", "\"Root\",\"a\"");
    cr_assert(
        eq(str, again,
           (char *)"\"Root\",\"a\",14,4,100.00,28.57,3.5,1.25,\"\",0,\"[unknown]\",\"\",,\"a\",\"[unknown]\",0,\r\n"));
    free(again);
    again = seed_export(&analysis, "CallerCalleeSummary", "\"Callee\",\"b\"");
    cr_assert(
        eq(str, again,
           (char *)"\"Callee\",\"b\",10,10,71.43,71.43,10,,\"\",0,\"[unknown]\",\"\",,\"a\",\"[unknown]\",0,\r\n"));
    free(again);
    analysis_drop(&analysis);
}

/* "Instrumentation works by inserting code before and after each function's body": the columns of a traced run, as
 * VS2010 writes them. Probe overhead and the values of single calls are kept as well. */
Test(unit_seed_vsperf, a_traced_run_of_vs2010_is_written_again_as_it_was)
{
    static const char titles[] =
        "Type,Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Application Inclusive Time,Application Exclusive "
        "Time,Elapsed Inclusive Time %,Elapsed Exclusive Time %,Application Inclusive Time %,Application Exclusive Time %,"
        "Time Inclusive Probe Overhead,Time Exclusive Probe Overhead,Min Elapsed Inclusive Time,Avg Elapsed Inclusive "
        "Time,Max Elapsed Inclusive Time,Min Elapsed Exclusive Time,Avg Elapsed Exclusive Time,Max Elapsed Exclusive "
        "Time,Min Application Inclusive Time,Avg Application Inclusive Time,Max Application Inclusive Time,Min "
        "Application Exclusive Time,Avg Application Exclusive Time,Max Application Exclusive Time,Number of Calls,Source "
        "File,Function Line Number,Module Name,Module Path,Function Address,Root Function Name,Process Name,Process "
        "ID,\r\n";
    static const char *const rows[] = {
        "\"Root\",\"_wmain\",90000,9000,45000,8000,100.00,10.00,100.00,17.78,6300,630,90000,90000,90000,9000,9000,9000,0,"
        "45000,45000,0,8000,8000,1,\"\",0,\"perfPlay.exe\",\"/perfPlay.exe\",0x00000000012F1000,\"_wmain\","
        "\"perfPlay.exe\",5068,\r\n",
        "\"Callee\",\"@_RTC_CheckStackVars@8\",81000,81000,37000,37000,90.00,90.00,82.22,82.22,5670,5670,0,333,999,0,333,999,"
        "0,152,444,0,152,444,243,\"\",0,\"perfPlay.exe\",\"/perfPlay.exe\",0x00000000012F1456,\"_wmain\",\"perfPlay.exe\","
        "5068,\r\n",
    };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(titles, out);
    fputs(rows[0], out);
    fputs(rows[1], out);
    fclose(out);
    struct analysis analysis = seed_load(text);
    free(text);
    char *again = seed_export(&analysis, "CallerCalleeSummary", "\"Root\",\"_wmain\"");
    cr_assert(eq(str, again, (char *)rows[0]));
    free(again);
    again = seed_export(&analysis, "CallerCalleeSummary", "\"Callee\"");
    cr_assert(eq(str, again, (char *)rows[1]));
    free(again);
    again = seed_export(&analysis, "FunctionSummary", "\"_wmain\"");
    cr_assert(strstr(again, ",6300,630,90000,90000,90000,9000,") != NULL, "%s", again);
    free(again);
    /* Call paths, threads and processes have no overhead in the file. */
    again = seed_export(&analysis, "ProcessSummary", "5068");
    cr_assert(eq(str, again,
                 (char *)"5068,\"perfPlay.exe\",90000,90000,45000,45000,100.00,100.00,100.00,100.00,,,"
                         "244,,,\r\n"));
    free(again);
    analysis_drop(&analysis);
}

/* "The viewer parses this report within a fraction of a second": 450 KB of caller and callee summary. How long that
 * takes is the machine's matter. The suite's limit finds work that grows faster than the report. */
Test(unit_seed_vsperf, a_report_of_450_kb_has_each_function_once)
{
    char *text = NULL;
    size_t size = 0;
    uint32_t pairs = 0;
    FILE *out = open_memstream(&text, &size);
    for (; ftell(out) < 450000; pairs++)
        fprintf(out,
                "\"Root\",\"function_%u\",%u,7,\"1,00\",\"0,07\"\n\"Callee\",\"function_%u\",%u,7,\"1,00\",\"0,07\"\n",
                pairs, 100000 - pairs * 7, pairs + 1, 100000 - (pairs + 1) * 7);
    fclose(out);
    struct analysis analysis = seed_load(text);
    uint32_t found = 0;
    for (uint32_t i = 0; i < analysis.profile->function_count; i++)
        found += strncmp(analysis.names[i].name, "function_", strlen("function_")) == 0;
    cr_assert(eq(u32, found, pairs + 1));
    seed_expect_cell(&analysis, "function_0", "elapsed_inclusive", "100000.00");
    analysis_drop(&analysis);
    free(text);
}
