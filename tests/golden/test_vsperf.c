/* `dwell export vsperf` for the handmade session, byte for byte. An export that fails loses nothing. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/run.h"
#include "support/scenario.h"

static void save_sessions(void)
{
    struct writer *w = example_session(SOURCE_PERF), *blind = example_session(SOURCE_NONE);
    writer_save(w, test_path("example.dwell"));
    writer_save(blind, test_path("blind.dwell"));
    writer_free(w);
    writer_free(blind);
}

TestSuite(golden_vsperf, .init = save_sessions, .timeout = 60);

/* As in tests/golden/test_golden.c, except that the writer's version is ignored. */
static void check_file(const char *prefix, const char *summary)
{
    char *got = run_well("sed 's/dwell [0-9][0-9.]*/dwell VERSION/' %s_%s.csv", prefix, summary);
    if (getenv("DWELL_UPDATE_GOLDEN")) {
        char path[4096];
        snprintf(path, sizeof path, DWELL_GOLDEN "/vsperf-%s_%s.csv", prefix, summary);
        FILE *out = fopen(path, "wb");
        cr_assert(out != NULL, "%s", path);
        fputs(got, out);
        fclose(out);
    }
    char *wanted = run_well("cat '" DWELL_GOLDEN "/vsperf-%s_%s.csv'", prefix, summary);
    cr_assert(eq(str, got, wanted), "not as in tests/golden/vsperf-%s_%s.csv", prefix, summary);
    free(got);
    free(wanted);
}

Test(golden_vsperf, every_summary)
{
    static const char *const summaries[] = {
        "CallerCalleeSummary", "FunctionSummary", "ModuleSummary", "ThreadSummary", "ProcessSummary",
        "CallTreeSummary",     "LineSummary",     "Header",        "Marks",
    };
    free(run_well("$DWELL export vsperf example.dwell -o example"));
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++)
        check_file("example", summaries[i]);
    char *listed = run_well("ls example_* | wc -l");
    cr_assert(eq(int, atoi(listed), 9));
    free(listed);
}

/* Unknown application times are empty cells, not zeros. */
Test(golden_vsperf, without_a_source_of_os_events)
{
    free(run_well("$DWELL export vsperf blind.dwell -o blind"));
    check_file("blind", "CallerCalleeSummary");
    check_file("blind", "ProcessSummary");
}

static void expect_failure(const char *command, const char *message)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "%s", message);
    struct ran r = run("%s", command);
    cr_assert(eq(int, r.status, 2), "%s", command);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, wanted));
    ran_drop(&r);
}

Test(golden_vsperf, a_failure_leaves_existing_files)
{
    free(run_well("echo good >x_CallerCalleeSummary.csv; mkdir x_Marks.csv"));
    expect_failure("$DWELL export vsperf example.dwell -o x", "dwell: x_Marks.csv: is a directory\n");
    expect_failure("trap '' XFSZ; rmdir x_Marks.csv; ulimit -f 1; $DWELL export vsperf example.dwell -o x",
                   "dwell: x_CallerCalleeSummary.csv: File too large\n");
    char *left = run_well("ls | grep ^x; cat x_*");
    cr_assert(eq(str, left, "x_CallerCalleeSummary.csv\ngood\n"));
    free(left);
    free(run_well("$DWELL export vsperf example.dwell -o x"));
    free(run_well("! grep good x_CallerCalleeSummary.csv"));
}

Test(golden_vsperf, places_that_cannot_be_written)
{
    expect_failure("$DWELL export vsperf example.dwell -o no/such/folder",
                   "dwell: no/such/folder_CallerCalleeSummary.csv: No such file or directory\n");
    expect_failure("$DWELL export vsperf example.dwell",
                   "dwell: export vsperf does not write to standard output; say where, with -o FILE\n");
    expect_failure("cp example.dwell y_Header.csv; $DWELL export vsperf y_Header.csv -o y",
                   "dwell: y_Header.csv: is the session itself\n");
    free(run_well("cmp example.dwell y_Header.csv; test $(ls | grep -c ^y) = 1"));
}
