/* `dwell export vsperf` for the handmade session, byte for byte. An export that fails loses nothing. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/run.h"
#include "support/scenario.h"

static void vsperf_save_sessions(void)
{
    struct writer *w = example_session(SOURCE_PERF), *blind = example_session(SOURCE_NONE);
    writer_save(w, test_path("example.dwell"));
    writer_save(blind, test_path("blind.dwell"));
    writer_free(w);
    writer_free(blind);
}

TestSuite(golden_vsperf, .init = vsperf_save_sessions, .timeout = 300);

/* As in tests/golden/test_golden.c, except that the writer's version is ignored. */
static void vsperf_check_file(const char *prefix, const char *summary)
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
        vsperf_check_file("example", summaries[i]);
    char *listed = run_well("ls example_* | wc -l");
    cr_assert(eq(int, atoi(listed), 9));
    free(listed);
}

/* Unknown application times are empty cells, not zeros. */
Test(golden_vsperf, without_a_source_of_os_events)
{
    free(run_well("$DWELL export vsperf blind.dwell -o blind"));
    vsperf_check_file("blind", "CallerCalleeSummary");
    vsperf_check_file("blind", "ProcessSummary");
}

/* main calls middle three times for 100, and the last middle calls leaf for 10. A call costs its function 2 ticks and
 * its caller 5. A call that makes calls itself costs 3 more. */
static void save_probed_session(void)
{
    static const char program[] = "/bin/prog";
    enum { MAIN = 0x401000, MIDDLE = 0x401100, LEAF = 0x401200, TICK = 256 };
    struct writer *w = writer_new();
    write_process(w, 1, 100, program);
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, program);
    write_probes(w, 1, 2 * TICK, 5 * TICK, 3 * TICK);
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    for (uint64_t at = 100; at < 700; at += 200) {
        write_enter(w, at, MIDDLE);
        if (at == 500) {
            write_enter(w, 550, LEAF);
            write_exit(w, 560);
        }
        write_exit(w, at + 100);
    }
    write_exit(w, 1000);
    end_events(w, true);
    write_symbol_module(w, 0, program);
    write_symbol_file(w, 1, "/src/prog.c");
    write_symbol(w, 0, 1, 30, 0x1000, "main");
    write_symbol(w, 0, 1, 20, 0x1100, "middle");
    write_symbol(w, 0, 1, 10, 0x1200, "leaf");
    writer_save(w, test_path("probed.dwell"));
    writer_free(w);
}

/* In all summaries: elapsed times, inclusive and exclusive, then probe overhead. A line has exclusive values only. */
Test(golden_vsperf, probe_overhead)
{
    static const struct {
        const char *summary, *columns, *rows;
    } cases[] = {
        { "CallerCalleeSummary", "1-4,11,12",
          "\"Root\",\"main\",964,680,36,20\n"
          "\"Callee\",\"middle\",284,276,16,14\n"
          "\"Root\",\"middle\",284,276,16,14\n"
          "\"Caller\",\"main\",284,276,16,14\n"
          "\"Callee\",\"leaf\",8,8,2,2\n"
          "\"Root\",\"leaf\",8,8,2,2\n"
          "\"Caller\",\"middle\",8,8,2,2\n" },
        { "FunctionSummary", "1-3,10,11",
          "\"main\",964,680,36,20\n"
          "\"middle\",284,276,16,14\n"
          "\"leaf\",8,8,2,2\n" },
        { "CallTreeSummary", "1-4,11,12",
          "0,\"prog\",964,0,36,0\n"
          "1,\"main\",964,680,36,20\n"
          "2,\"middle\",284,276,16,14\n"
          "3,\"leaf\",8,8,2,2\n" },
        { "ModuleSummary", "1-3,10,11", "\"prog\",964,964,36,36\n" },
        { "ThreadSummary", "2-4,11,12", "\"main\",964,964,36,36\n" },
        { "LineSummary", "1,2,6,7", "\"main\",680,20,30\n\"middle\",276,14,20\n\"leaf\",8,2,10\n" },
        { "ProcessSummary", "2-4,11,12", "\"prog\",964,964,36,36\n" },
    };
    save_probed_session();
    free(run_well("$DWELL export vsperf probed.dwell -o probed"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *rows = run_well("sed 1d probed_%s.csv | cut -d, -f%s", cases[i].summary, cases[i].columns);
        cr_assert(eq(str, rows, (char *)cases[i].rows), "%s", cases[i].summary);
        free(rows);
    }
}

/* Nothing is subtracted with --raw, so there is no overhead. */
Test(golden_vsperf, no_probe_overhead_in_raw_times)
{
    save_probed_session();
    free(run_well("$DWELL export vsperf --raw probed.dwell -o raw"));
    char *rows = run_well("sed 1d raw_FunctionSummary.csv | cut -d, -f1-3,10,11; "
                          "sed -n 2p raw_CallTreeSummary.csv | cut -d, -f1-4,11,12");
    cr_assert(eq(str, rows,
                 "\"main\",1000,700,0,0\n\"middle\",300,290,0,0\n\"leaf\",10,10,0,0\n"
                 "0,\"prog\",1000,0,0,0\n"));
    free(rows);
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
