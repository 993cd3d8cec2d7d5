/* Reports of several sessions at once, byte for byte. Sessions of samples are added up and compared with each other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "support/features.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/versions.h"

static void save_samples(const char *name, int first, int second)
{
    FILE *out = fopen(test_path(name), "wb");
    cr_assert(out != NULL);
    fprintf(out, "Type,Function Name,Inclusive Samples,Exclusive Samples\r\nRoot,wmain,%d,%d\r\nRoot,work,%d,%d\r\n",
            first + second, first, second, second);
    fclose(out);
}

static void several_save_sessions(void)
{
    need_features("vsperf");
    version_save(&(struct version){ .lookups = 2, .main_time = 1000, .cached = true, .source = SOURCE_PERF },
                 test_path("run-1"));
    version_save(&(struct version){ .lookups = 3, .main_time = 1500, .source = SOURCE_PERF }, test_path("run-2"));
    save_samples("old.csv", 3, 10);
    save_samples("new.csv", 4, 8);
    struct ran r = run("$DWELL import vsperf old.csv -o old && $DWELL import vsperf new.csv -o new");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

TestSuite(golden_several, .init = several_save_sessions, .timeout = 300);

Test(golden_several, reports)
{
    check_golden("report run-1 run-2", "several-report.txt");
    check_golden("report 'run-*' ./run-1", "several-report.txt");
    check_golden("report run-2 run-1 --format json", "several-report.json");
    check_golden("report run-1 run-2 --by thread --format csv", "several-thread.csv");
    check_golden("report run-1 run-2 --by process", "several-process.txt");
}

Test(golden_several, trees_and_callers)
{
    check_golden("tree run-1 run-2", "several-tree.txt");
    check_golden("tree run-1 run-2 --by thread", "several-threads.txt");
    check_golden("callers run-1 run-2 lookup", "several-callers.txt");
    check_golden("callers 'run-*' lookup", "several-callers.txt");
}

Test(golden_several, samples)
{
    check_golden("report old new", "several-samples.txt");
    check_golden("diff old new", "diff-samples.txt");
    check_golden("diff old new --format csv --columns elapsed_inclusive_before,elapsed_inclusive_change",
                 "diff-samples.csv");
}

static void several_check_error(const char *arguments, const char *message)
{
    struct ran r = run("$DWELL %s", arguments);
    cr_assert(eq(int, r.status, 2), "%s", arguments);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, (char *)message));
    ran_drop(&r);
}

Test(golden_several, errors)
{
    several_check_error("report run-1 missing", "dwell: missing: No such file or directory\n");
    several_check_error("tree 'nothing-*'", "dwell: nothing-*: no file matches\n");
    several_check_error("callers run-1 run-2 nothing",
                        "dwell: 2 sessions: no function 'nothing' was recorded; dwell report -s name lists them\n");
    several_check_error(
        "report run-1 old",
        "dwell: old: its values are samples, those of run-1 are not; sessions of both kinds cannot be added up\n");
    several_check_error("diff old run-1", "dwell: run-1: its values are times, those of old are not\n");
    several_check_error(
        "diff old new --fail-if 'elapsed_inclusive > 1ms'",
        "dwell: --fail-if 'elapsed_inclusive > 1ms': the sessions' values are samples, which have no unit of time\n");
    several_check_error("report run-1 run-2 --columns elapsed_inclusive_mean",
                        "dwell: --columns: columns of single calls, such as min, need a single session\n");
}
