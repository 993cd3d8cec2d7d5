/* Reports of every version of VSPerfReport become sessions: sampled and traced, whole and in part, with call trees that
 * may be scaled. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "analysis/waiting_names.h"
#include "base/units.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"
#include "support/vsperf_session.h"
#include "vsperf/vsperf_feature.h"

TestSuite(unit_vsperf, .timeout = 300);

enum { GHZ = 1000000000 };

static struct analysis vsperf_load_file(const char *text)
{
    return vsperf_load(&text, 1, GHZ);
}

static void vsperf_expect_paths(const struct analysis *analysis, const char *wanted)
{
    char *got = vsperf_paths(analysis), *copy = strdup(wanted);
    cr_assert(eq(str, got, copy));
    free(got);
    free(copy);
}

#define EXPECT_SAMPLES(l, name, inclusive, exclusive)                                                                  \
    do {                                                                                                               \
        const struct times times_ = vsperf_times((l), (name));                                                         \
        cr_assert(eq(u64, times_.elapsed_inclusive, (inclusive)), "%s", name);                                         \
        cr_assert(eq(u64, times_.elapsed_exclusive, (exclusive)), "%s", name);                                         \
    } while (0)

/* ---- the seed's example, letter for letter ---- */

static const char wmain[] = "\"Root\",\"_wmain\",14,0,\"100,00\",\"0,00\"\n"
                            "\"Caller\",\"_wmainCRTStartup\",14,0,\"100,00\",\"0,00\"\n"
                            "\"Callee\",\"ExpensiveMethodB(void)\",4,0,\"28,57\",\"0,00\"\n"
                            "\"Callee\",\"ExpensiveMethodC(void)\",10,0,\"71,43\",\"0,00\"\n";
static const char tidy[] = "\"Root\",\"std::list::_Tidy(void)\",6,0,\"42,86\",\"0,00\"\n"
                           "\"Caller\",\"Data::~Data(void)\",6,0,\"42,86\",\"0,00\"\n"
                           "\"Callee\",\"_free\",6,0,\"42,86\",\"0,00\"\n";

/* wmain is drawn once, under its caller. "100,00" is 100 %, and its samples are given. */
Test(unit_vsperf, the_seeds_example)
{
    struct analysis analysis = vsperf_load_file(wmain);
    cr_assert(analysis.summary.samples && analysis.summary.imported && !analysis.summary.application_known);
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 14));
    EXPECT_SAMPLES(&analysis, "_wmainCRTStartup", 14, 0);
    EXPECT_SAMPLES(&analysis, "_wmain", 14, 0);
    EXPECT_SAMPLES(&analysis, "ExpensiveMethodB(void)", 4, 0);
    EXPECT_SAMPLES(&analysis, "ExpensiveMethodC(void)", 10, 0);
    vsperf_expect_paths(&analysis, "_wmainCRTStartup 14 0\n"
                                   "_wmainCRTStartup/_wmain 14 0\n"
                                   "_wmainCRTStartup/_wmain/ExpensiveMethodC(void) 10 0\n"
                                   "_wmainCRTStartup/_wmain/ExpensiveMethodC(void)/(not in the report) 10 10\n"
                                   "_wmainCRTStartup/_wmain/ExpensiveMethodB(void) 4 0\n"
                                   "_wmainCRTStartup/_wmain/ExpensiveMethodB(void)/(not in the report) 4 4\n");
    analysis_drop(&analysis);
    analysis = vsperf_load_file(tidy);
    vsperf_expect_paths(&analysis, "Data::~Data(void) 6 0\n"
                                   "Data::~Data(void)/std::list::_Tidy(void) 6 0\n"
                                   "Data::~Data(void)/std::list::_Tidy(void)/_free 6 0\n"
                                   "Data::~Data(void)/std::list::_Tidy(void)/_free/(not in the report) 6 6\n");
    analysis_drop(&analysis);
}

/* The whole of the seed's program, from the article. _Tidy is called by both methods. It has 2 and 4 of its 6 samples
 * there, not 6 in each. */
static const char sampled[] =
    "Type,Function Name,Inclusive Samples,Exclusive Samples,Inclusive Samples %,Exclusive Samples %\r\n"
    "\"Root\",\"_wmain\",14,0,\"100,00\",\"0,00\"\r\n"
    "\"Callee\",\"B(void)\",4,1,\"28,57\",\"7,14\"\r\n"
    "\"Callee\",\"C(void)\",10,4,\"71,43\",\"28,57\"\r\n"
    "\"Root\",\"B(void)\",4,1,\"28,57\",\"7,14\"\r\n"
    "\"Caller\",\"_wmain\",4,1,\"28,57\",\"7,14\"\r\n"
    "\"Callee\",\"~Data(void)\",3,0,\"21,43\",\"0,00\"\r\n"
    "\"Root\",\"C(void)\",10,4,\"71,43\",\"28,57\"\r\n"
    "\"Caller\",\"_wmain\",10,4,\"71,43\",\"28,57\"\r\n"
    "\"Callee\",\"~Data(void)\",6,0,\"42,86\",\"0,00\"\r\n"
    "\"Root\",\"~Data(void)\",9,0,\"64,29\",\"0,00\"\r\n"
    "\"Caller\",\"B(void)\",3,0,\"21,43\",\"0,00\"\r\n"
    "\"Caller\",\"C(void)\",6,0,\"42,86\",\"0,00\"\r\n"
    "\"Callee\",\"_Tidy(void)\",9,9,\"64,29\",\"64,29\"\r\n"
    "\"Root\",\"_Tidy(void)\",9,9,\"64,29\",\"64,29\"\r\n"
    "\"Caller\",\"~Data(void)\",9,9,\"64,29\",\"64,29\"\r\n";
static const char sampled_paths[] = "_wmain 14 0\n"
                                    "_wmain/C(void) 10 4\n"
                                    "_wmain/C(void)/~Data(void) 6 0\n"
                                    "_wmain/C(void)/~Data(void)/_Tidy(void) 6 6\n"
                                    "_wmain/B(void) 4 1\n"
                                    "_wmain/B(void)/~Data(void) 3 0\n"
                                    "_wmain/B(void)/~Data(void)/_Tidy(void) 3 3\n";

Test(unit_vsperf, a_shared_callee_is_scaled)
{
    struct analysis analysis = vsperf_load_file(sampled);
    vsperf_expect_paths(&analysis, sampled_paths);
    EXPECT_SAMPLES(&analysis, "_Tidy(void)", 9, 9);
    cr_assert(eq(sz, analysis.summary.remark_count, 1));
    cr_assert(eq(str, analysis.summary.remarks[0], (char *)"call paths are approximate (scaled)"));
    analysis_drop(&analysis);
}

/* ---- encodings, separators, columns ---- */

static char *vsperf_with(const char *text, char from, char to)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        if (*at == from)
            *at = to;
    return copy;
}

Test(unit_vsperf, semicolons_and_bare_decimal_commas)
{
    const char text[] =
        "Type;Function Name;Inclusive Samples;Exclusive Samples;Inclusive Samples %;Exclusive Samples %\n"
        "Root;a;14;5;100,00;35,71\nCallee;b;9;9;64,29;64,29\nRoot;b;9;9;64,29;64,29\nCaller;a;9;9;64,29;64,29\n";
    struct analysis analysis = vsperf_load_file(text);
    vsperf_expect_paths(&analysis, "a 14 5\na/b 9 9\n");
    analysis_drop(&analysis);
    char *tabs = vsperf_with(text, ';', '\t');
    analysis = vsperf_load_file(tabs);
    vsperf_expect_paths(&analysis, "a 14 5\na/b 9 9\n");
    analysis_drop(&analysis);
    free(tabs);
}

/* 2012: more columns, in another order. */
Test(unit_vsperf, columns_by_name)
{
    struct analysis analysis = vsperf_load_file(
        "\xef\xbb\xbf"
        "Module Name,Exclusive Samples %,Avg Inclusive Samples,Exclusive Samples,Function Name,New Column,Type,"
        "Inclusive Samples,Inclusive Samples %,\n"
        "\"x.exe\",35.71,7.5,5,\"a, b\",\"?\",\"Root\",14,100.00,\n"
        "\"y.dll\",64.29,9.0,9,\"b\",\"?\",\"Callee\",9,64.29,\n"
        "\"y.dll\",64.29,9.0,9,\"b\",\"?\",\"Root\",9,64.29,\n"
        "\"x.exe\",64.29,9.0,9,\"a, b\",\"?\",\"Caller\",9,64.29,\n");
    vsperf_expect_paths(&analysis, "a, b 14 5\na, b/b 9 9\n");
    cr_assert(eq(str, analysis.names[0].module, (char *)"x.exe"));
    analysis_drop(&analysis);
}

static void expect_utf16(bool big)
{
    const size_t length = strlen(sampled);
    char *wide = calloc(2 * length + 2, 1), path[4096];
    memcpy(wide, big ? "\xfe\xff" : "\xff\xfe", 2);
    for (size_t i = 0; i < length; i++)
        wide[2 + 2 * i + (big ? 1 : 0)] = sampled[i];
    snprintf(path, sizeof path, "%s", test_path("wide.csv"));
    FILE *out = fopen(path, "wb");
    fwrite(wide, 1, 2 * length + 2, out);
    fclose(out);
    EXPECT_SUCCESS(
        vsperf_import((char *const[]){ path }, 1, &(struct import_options){ 0 }, test_path("wide.dwell"), &error));
    struct analysis analysis;
    load_whole(&analysis, test_path("wide.dwell"), 1);
    vsperf_expect_paths(&analysis, sampled_paths);
    analysis_drop(&analysis);
    free(wide);
}

Test(unit_vsperf, utf16)
{
    expect_utf16(false);
    expect_utf16(true);
}

/* ---- traced ---- */

static const char traced_titles[] =
    "Type,Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Application Inclusive Time,Application Exclusive Time,"
    "Elapsed Inclusive Time %,Elapsed Exclusive Time %,Application Inclusive Time %,Application Exclusive Time %,"
    "Time Inclusive Probe Overhead,Time Exclusive Probe Overhead,Min Elapsed Inclusive Time,Avg Elapsed Inclusive Time,"
    "Max Elapsed Inclusive Time,Min Elapsed Exclusive Time,Avg Elapsed Exclusive Time,Max Elapsed Exclusive Time,"
    "Min Application Inclusive Time,Avg Application Inclusive Time,Max Application Inclusive Time,"
    "Min Application Exclusive Time,Avg Application Exclusive Time,Max Application Exclusive Time,Number of Calls,"
    "Source File,Function Line Number,Module Name,Module Path,Function Address,Root Function Name,Process Name,Process ID,\r\n";

struct text {
    char *at;
    size_t size;
    FILE *out;
};

static void begin_traced(struct text *t)
{
    t->out = open_memstream(&t->at, &t->size);
    fputs(traced_titles, t->out);
}

/* A row as VSPerfReport 2010 writes it. */
static void vsperf_traced(struct text *t, const char *type, const char *name, const uint64_t times[4], uint64_t calls,
                          unsigned address)
{
    fprintf(t->out,
            "\"%s\",\"%s\",%lu,%lu,%lu,%lu,0.00,0.00,0.00,0.00,63,63,%lu,0,%lu,0,0,0,0,0,0,0,0,0,%lu,"
            "\"c:\\src\\play.cpp\",%u,\"play.exe\",\"C:\\bin\\play.exe\",0x%08X,\"root\",\"play.exe\",5068,\r\n",
            type, name, times[0], times[1], times[2], times[3], strcmp(type, "Root") == 0 ? times[0] / calls : 0,
            strcmp(type, "Root") == 0 ? times[0] : 0, calls, address % 100, address);
}

#define TIMES(...) ((const uint64_t[]){ __VA_ARGS__ })

Test(unit_vsperf, traced_2010)
{
    struct text t;
    begin_traced(&t);
    vsperf_traced(&t, "Root", "main", TIMES(1000, 100, 700, 80), 1, 0x12f1000);
    vsperf_traced(&t, "Callee", "work(int, char)", TIMES(900, 900, 620, 620), 3, 0x12f1010);
    vsperf_traced(&t, "Root", "work(int, char)", TIMES(900, 900, 620, 620), 3, 0x12f1010);
    vsperf_traced(&t, "Caller", "main", TIMES(900, 900, 620, 620), 3, 0x12f1000);
    fclose(t.out);
    struct analysis analysis = vsperf_load_file(t.at);
    free(t.at);
    ASSERT_TIMES(vsperf_times(&analysis, "main"), 1000, 100, 700, 80, 1);
    const struct times work = vsperf_times(&analysis, "work(int, char)");
    ASSERT_TIMES(work, 900, 900, 620, 620, 3);
    cr_assert(eq(u64, work.shortest, 300));
    cr_assert(eq(u64, work.longest, 900));
    cr_assert(analysis.summary.application_known && !analysis.summary.samples);
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 1000));
    cr_assert(eq(u64, analysis.summary.application_inclusive, 700));
    vsperf_expect_paths(&analysis, "main 1000 100 1\nmain/work(int, char) 900 900 3\n");
    /* Paths stay as they are; names end correctly all the same. */
    cr_assert(eq(str, analysis.names[0].module, (char *)"play.exe"));
    cr_assert(eq(str, analysis.names[0].file, (char *)"c:\\src\\play.cpp"));
    cr_assert(eq(u32, analysis.file->processes[0].pid, 5068));
    cr_assert(eq(u64, analysis.profile->functions[0].offset, 0x12f1000));
    analysis_drop(&analysis);
}

/* Two functions of one name are distinct by their addresses. */
Test(unit_vsperf, functions_of_one_name)
{
    struct text t;
    begin_traced(&t);
    vsperf_traced(&t, "Root", "twin", TIMES(10, 10, 10, 10), 1, 0x1000);
    vsperf_traced(&t, "Root", "twin", TIMES(20, 20, 20, 20), 2, 0x2000);
    fclose(t.out);
    struct analysis analysis = vsperf_load_file(t.at);
    free(t.at);
    vsperf_expect_paths(&analysis, "twin 20 20 2\ntwin 10 10 1\n");
    analysis_drop(&analysis);
}

Test(unit_vsperf, ticks_of_another_clock)
{
    const char text[] = "Type,Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time\nRoot,f,3000,3000\n";
    struct analysis analysis = vsperf_load((const char *const[]){ text }, 1, 1193180);
    cr_assert(eq(u64, ticks_to_ns(analysis.summary.elapsed_inclusive, analysis.summary.ticks_per_second),
                 2514290)); /* 3000 / 1193180 s */
    cr_assert(not(analysis.summary.application_known));
    analysis_drop(&analysis);
}

/* ---- recursion ---- */

/* The functions always have the report's values, and the tree has all exclusive times. */
Test(unit_vsperf, recursion)
{
    struct text t;
    begin_traced(&t);
    vsperf_traced(&t, "Root", "fib", TIMES(100, 60, 100, 60), 15, 0x1000);
    vsperf_traced(&t, "Caller", "fib", TIMES(0, 50, 0, 50), 14, 0x1000);
    vsperf_traced(&t, "Callee", "fib", TIMES(90, 50, 90, 50), 14, 0x1000);
    vsperf_traced(&t, "Callee", "add", TIMES(40, 40, 40, 40), 7, 0x2000);
    vsperf_traced(&t, "Root", "add", TIMES(40, 40, 40, 40), 7, 0x2000);
    vsperf_traced(&t, "Caller", "fib", TIMES(40, 40, 40, 40), 7, 0x1000);
    fclose(t.out);
    struct analysis analysis = vsperf_load_file(t.at);
    free(t.at);
    ASSERT_TIMES(vsperf_times(&analysis, "fib"), 100, 60, 100, 60, 15);
    ASSERT_TIMES(vsperf_times(&analysis, "add"), 40, 40, 40, 40, 7);
    vsperf_expect_paths(&analysis, "fib 100 10 1\nfib/fib 50 50 14\nfib/add 40 40 7\n");
    analysis_drop(&analysis);
}

Test(unit_vsperf, functions_that_call_each_other)
{
    struct text t;
    begin_traced(&t);
    /* main 10, even 40 (of them 30 outermost under main), odd 50. main also calls odd. */
    vsperf_traced(&t, "Root", "main", TIMES(100, 10, 100, 10), 1, 0x1000);
    vsperf_traced(&t, "Callee", "even", TIMES(60, 25, 60, 25), 1, 0x2000);
    vsperf_traced(&t, "Callee", "odd", TIMES(30, 20, 30, 20), 1, 0x3000);
    vsperf_traced(&t, "Root", "even", TIMES(70, 40, 70, 40), 5, 0x2000);
    vsperf_traced(&t, "Caller", "main", TIMES(60, 25, 60, 25), 1, 0x1000);
    vsperf_traced(&t, "Caller", "odd", TIMES(10, 15, 10, 15), 4, 0x3000);
    vsperf_traced(&t, "Callee", "odd", TIMES(35, 30, 35, 30), 4, 0x3000);
    vsperf_traced(&t, "Root", "odd", TIMES(65, 50, 65, 50), 5, 0x3000);
    vsperf_traced(&t, "Caller", "main", TIMES(30, 20, 30, 20), 1, 0x1000);
    vsperf_traced(&t, "Caller", "even", TIMES(35, 30, 35, 30), 4, 0x2000);
    vsperf_traced(&t, "Callee", "even", TIMES(20, 15, 20, 15), 4, 0x2000);
    fclose(t.out);
    struct analysis analysis = vsperf_load_file(t.at);
    free(t.at);
    ASSERT_TIMES(vsperf_times(&analysis, "main"), 100, 10, 100, 10, 1);
    ASSERT_TIMES(vsperf_times(&analysis, "even"), 70, 40, 70, 40, 5);
    ASSERT_TIMES(vsperf_times(&analysis, "odd"), 65, 50, 65, 50, 5);
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 100));
    analysis_drop(&analysis);
}

/* Callers and callees are also as the report says. */
Test(unit_vsperf, callers_and_callees)
{
    struct analysis analysis = vsperf_load_file(sampled);
    size_t count;
    uint32_t *found = function_find_all(&analysis, "~Data(void)", &count);
    cr_assert(eq(sz, count, 1));
    struct neighbours n = rollup_neighbours(analysis.rollup, found[0]);
    cr_assert(eq(sz, n.caller_count, 2));
    cr_assert(eq(sz, n.callee_count, 1));
    cr_assert(eq(u64, n.callers[0].times.elapsed_inclusive + n.callers[1].times.elapsed_inclusive, 9));
    cr_assert(eq(u64, n.callees[0].times.elapsed_exclusive, 9));
    neighbours_free(&n);
    free(found);
    analysis_drop(&analysis);
}

/* ---- other summaries ---- */

static const char tree_text[] =
    "Level,Function Name,Number of Calls,Elapsed Inclusive Time,Elapsed Exclusive Time,Module Name,Process Name,\n"
    "0,\"p.exe\",0,100,0,\"\",\"p.exe\",\n"
    "1,\"main\",1,100,40,\"p.exe\",\"p.exe\",\n"
    "2,\"a\",2,30,10,\"p.exe\",\"p.exe\",\n"
    "3,\"g\",2,20,20,\"p.exe\",\"p.exe\",\n"
    "2,\"b\",1,30,25,\"p.exe\",\"p.exe\",\n";

/* A report leaves out small rows. Their time is not lost. */
Test(unit_vsperf, a_call_tree_summary)
{
    struct analysis analysis = vsperf_load_file(tree_text);
    vsperf_expect_paths(
        &analysis,
        "main 100 40 1\nmain/a 30 10 2\nmain/a/g 20 20 2\nmain/b 30 25 1\nmain/b/(not in the report) 5 5 0\n");
    cr_assert(eq(sz, analysis.summary.remark_count, 0));
    analysis_drop(&analysis);
}

Test(unit_vsperf, a_functions_summary_alone)
{
    struct analysis analysis =
        vsperf_load_file("Function Name,Inclusive Samples,Exclusive Samples\nmain,14,5\nf,9,9\n");
    vsperf_expect_paths(&analysis, "f 9 9\nmain 5 5\n");
    EXPECT_SAMPLES(&analysis, "main", 14, 5);
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 14));
    analysis_drop(&analysis);
}

/* The tree comes from the tree; the functions' values come from the functions' summary. */
Test(unit_vsperf, several_files)
{
    const char functions[] =
        "Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Number of Calls,Module Name,Process Name\n"
        "main,100,40,1,p.exe,p.exe\na,30,10,2,p.exe,p.exe\ng,21,20,2,p.exe,p.exe\nb,30,25,1,p.exe,p.exe\n";
    const char header[] = "Name,Value,\n\"Ticks per Second\",2000000,\n";
    struct analysis analysis = vsperf_load((const char *const[]){ header, tree_text, functions }, 3, GHZ);
    ASSERT_TIMES(vsperf_times(&analysis, "g"), 21, 20, 21, 20, 2);
    analysis_drop(&analysis);
}

/* ---- invalid files ---- */

static void vsperf_expect_error(const char *text, const char *wanted)
{
    char *error = vsperf_try(&text, 1, GHZ, test_path("refused.dwell")), *copy = strdup(wanted);
    cr_assert(error != NULL, "%s", text);
    cr_assert(eq(str, error, copy));
    free(error);
    free(copy);
    FILE *left = fopen(test_path("refused.dwell"), "rb");
    cr_assert(left == NULL);
}

#define SAMPLED "Type,Function Name,Inclusive Samples,Exclusive Samples,Inclusive Samples %\n"

Test(unit_vsperf, invalid_files_are_refused)
{
    vsperf_expect_error("", "1.csv: the file is empty");
    vsperf_expect_error("hello\nworld\n", "1.csv:1: not a report of VSPerfReport: it has none of the columns of one");
    vsperf_expect_error("\x7f"
                        "ELF\x02\x01",
                        "1.csv:1: not a report of VSPerfReport: it has none of the columns of one");
    vsperf_expect_error("Type,Function Name,Something\nRoot,a,1\n",
                        "1.csv:1: needs the columns 'Elapsed Inclusive Time' and 'Elapsed Exclusive "
                        "Time', their averages and 'Number of Calls', or 'Inclusive Samples' and 'Exclusive Samples'");
    vsperf_expect_error(SAMPLED "Caller,a,1,1,1\n", "1.csv:2: a Caller row before any Root row");
    vsperf_expect_error(SAMPLED "Root,a,1,1,1\nBoss,b,1,1,1\n", "1.csv:3: Type: 'Boss' is not Root, Caller or Callee");
    vsperf_expect_error(SAMPLED "Root,a,-1,1,1\n", "1.csv:2: Inclusive Samples: '-1' is negative");
    vsperf_expect_error(SAMPLED "Root,a,x,1,1\n", "1.csv:2: Inclusive Samples: 'x' is not a number");
    vsperf_expect_error(SAMPLED "Root,a,1,2,1\n", "1.csv:2: more exclusive than inclusive");
    vsperf_expect_error(SAMPLED "Root,a,2,1,\"10000,00\"\n", "1.csv:2: a percentage: '10000,00' is more than 100 %");
    vsperf_expect_error(SAMPLED "Root,\"a\nb\",1,1,1\nRoot,,1,1,1\n", "1.csv:4: a row without a function name");
    vsperf_expect_error(SAMPLED "Root,a,99999999999999999999,1,1\n",
                        "1.csv:2: Inclusive Samples: '99999999999999999999' is too large");
    vsperf_expect_error(SAMPLED "Root,\"a,1,1,1\n", "1.csv:2: a quote is opened and never closed");
    vsperf_expect_error(SAMPLED, "1.csv: has no functions");
    vsperf_expect_error("Level,Function Name,Inclusive Samples,Exclusive Samples\n1,a,1,1\n3,b,1,1\n",
                        "1.csv:3: Level: 3 has no row of the level above before it");
    vsperf_expect_error("Level,Function Name,Inclusive Samples,Exclusive Samples\n,a,1,1\n",
                        "1.csv:2: a row without a level");
    vsperf_expect_error(
        "Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Application Inclusive Time\na,1,1,1\n",
        "1.csv:1: only one of the columns 'Application Inclusive Time' and 'Application Exclusive Time'");
    vsperf_expect_error(
        "Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Application Inclusive Time,Application Exclusive Time\n"
        "a,1,1,2,1\n",
        "1.csv:2: more application than elapsed time");
    vsperf_expect_error("Function Name,Inclusive Samples,Exclusive Samples,Function Address\na,1,1,0xZZ\n",
                        "1.csv:2: Function Address: '0xZZ' is not an address");
    vsperf_expect_error("Name,Value\nTicks per Second,3\n",
                        "1.csv:2: Ticks per Second: '3' is impossible: from 1000 to 10^12 are");
}

/* A row without numbers is not a row of zeros. */
Test(unit_vsperf, rows_without_numbers_are_refused)
{
    vsperf_expect_error(SAMPLED "Root,a,2,1,1\nRoot,b\n", "1.csv:3: a row without numbers");
    vsperf_expect_error(SAMPLED "Root,a,2,1,1\nCaller,b,,,1\n", "1.csv:3: a row without numbers");
    vsperf_expect_error(SAMPLED "Root,a,2,,1\n", "1.csv:2: a row without a number in the column 'Exclusive Samples'");
    vsperf_expect_error("Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time\nf,,1\n",
                        "1.csv:2: a row without a number in the column 'Elapsed Inclusive Time'");
    vsperf_expect_error("Module Name,Elapsed Inclusive Time,Elapsed Exclusive Time\nm,,\n",
                        "1.csv:2: a row without numbers");
    vsperf_expect_error("Level,Function Name,Inclusive Samples,Exclusive Samples\n0,p.exe,,\n1,main,,\n",
                        "1.csv:3: a row without numbers");
    vsperf_expect_error("Name,Value\nTicks per Second,\n", "1.csv:2: Ticks per Second: '' is not a number");
}

Test(unit_vsperf, sums_that_are_impossible)
{
    struct text t;
    t.out = open_memstream(&t.at, &t.size);
    fputs("Function Name,Inclusive Samples,Exclusive Samples\n", t.out);
    for (int i = 0; i < 8; i++)
        fprintf(t.out, "f%d,72057594037927936,0\n", i);
    fclose(t.out);
    vsperf_expect_error(t.at, "1.csv:6: the rows up to this one add up to more than is possible");
    free(t.at);
}

static void refuse_second(const char *first, const char *second, const char *wanted)
{
    char *error = vsperf_try((const char *const[]){ first, second }, 2, GHZ, test_path("refused.dwell")),
         *copy = strdup(wanted);
    cr_assert(error != NULL);
    cr_assert(eq(str, error, copy));
    free(error);
    free(copy);
}

Test(unit_vsperf, files_that_do_not_belong_together)
{
    refuse_second(sampled, sampled, "2.csv: has callers and callees, like 1.csv; import one run at a time");
    refuse_second(sampled, tree_text, "2.csv:1: times, but the file before it has samples");
    refuse_second(tree_text, sampled, "2.csv:1: samples, but the file before it has times");
}

/* ---- waiting ---- */

Test(unit_vsperf, functions_that_wait)
{
    static const char *const waiting[] = {
        "WaitForMultipleObjects",
        "_WaitForMultipleObjectsEx@20",
        "__imp__WaitForSingleObject@8",
        "NtWaitForSingleObject",
        "ZwDelayExecution",
        "Sleep",
        "_Sleep@4",
        "poll",
        "epoll_wait",
        "pthread_cond_timedwait@@GLIBC_2.3.2",
        "GetMessageW",
        "kernel32.dll!WaitForSingleObject",
        "System.Console.ReadLine()",
        "_ReadConsoleW@20",
        "readline",
        "select",
        "accept4",
    };
    static const char *const working[] = { "Sleepless", "pollute", "Await",  "Notify", "selected(int)",
                                           "readlines", "",        "__imp_", "Nt",     "main" };
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        cr_assert(is_waiting_name(waiting[i]), "%s", waiting[i]);
    for (size_t i = 0; i < sizeof working / sizeof *working; i++)
        cr_assert(not(is_waiting_name(working[i])), "%s", working[i]);
}

/* These functions have the most samples but are not hot. The path leads to the working functions. */
Test(unit_vsperf, waiting_is_not_hot)
{
    struct analysis analysis =
        vsperf_load_file("Level,Function Name,Inclusive Samples,Exclusive Samples\n1,main,100,2\n2,idle,2,2\n"
                         "2,WaitForMultipleObjects,48,8\n3,NtWait,40,40\n2,work,48,0\n3,deeper,48,48\n");
    struct table t = view_tree(&analysis, &(struct tree_options){ .depth = 40 });
    static const struct {
        const char *name, *mark;
    } wanted[] = { { "main", "*" },   { "WaitForMultipleObjects", "w" },
                   { "NtWait", "w" }, { "work", "*" },
                   { "deeper", "*" }, { "idle", "" } };
    cr_assert(eq(sz, t.row_count, 6));
    for (size_t i = 0; i < t.row_count; i++) {
        cr_assert(eq(str, t.cells[i * t.column_count + 2].text, (char *)wanted[i].name));
        cr_assert(eq(str, t.cells[i * t.column_count + 1].text, (char *)wanted[i].mark), "%s", wanted[i].name);
    }
    table_drop(&t);
    analysis_drop(&analysis);
}
