/*
 * The dwell command's output for one handmade session, byte for byte. After an intended change, run
 * DWELL_UPDATE_GOLDEN=1 build/test/tests/dwell-tests --filter 'golden*', and review the difference before you commit
 * it.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/features.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

static void golden_save_sessions(void)
{
    struct writer *w = example_session(SOURCE_PERF), *blind = example_session(SOURCE_NONE);
    writer_save(w, test_path("example.dwell"));
    writer_save(blind, test_path("blind.dwell"));
    writer_free(w);
    writer_free(blind);
}

TestSuite(golden, .init = golden_save_sessions, .timeout = 300);

/* `dwell ARGUMENTS` prints the content of the file of that name. */
static void golden_check(const char *arguments, const char *name)
{
    check_golden(arguments, name);
}

static void golden_check_formats(const char *arguments, const char *name)
{
    static const char *const formats[][2] = { { "text", "txt" }, { "csv", "csv" }, { "json", "json" } };
    for (int i = 0; i < 3; i++) {
        char command[256], file[256];
        snprintf(command, sizeof command, "%s --format %s", arguments, formats[i][0]);
        snprintf(file, sizeof file, "%s.%s", name, formats[i][1]);
        golden_check(command, file);
    }
}

Test(golden, report_by_function)
{
    golden_check_formats("report example.dwell", "report-function");
}

Test(golden, report_by_module)
{
    golden_check_formats("report example.dwell --by module", "report-module");
}

Test(golden, report_by_thread)
{
    golden_check_formats("report example.dwell --by thread", "report-thread");
}

Test(golden, report_by_process)
{
    golden_check_formats("report example.dwell --by process", "report-process");
}

Test(golden, report_sorted_and_limited)
{
    golden_check("report example.dwell --sort calls --limit 2", "report-limited.txt");
}

Test(golden, report_without_a_source_of_os_events)
{
    golden_check_formats("report blind.dwell", "report-blind");
}

Test(golden, tree)
{
    golden_check_formats("tree example.dwell", "tree");
}

Test(golden, tree_folded)
{
    golden_check("tree example.dwell --min 10% --depth 3", "tree-folded.txt");
}

Test(golden, callers)
{
    golden_check_formats("callers example.dwell price_of", "callers");
}

/* script(1) gives it a terminal. If the usual columns do not fit, some are left out. Chosen columns are always
 * shown. */
Test(golden, narrow_terminals)
{
    static const char *const commands[][2] = {
        { "report example.dwell", "narrow-report.txt" },
        { "tree example.dwell", "narrow-tree.txt" },
        { "callers example.dwell price_of", "narrow-callers.txt" },
        { "report example.dwell --columns calls,elapsed_inclusive,waiting_percent", "narrow-chosen.txt" },
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *text = run_well(
            "DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols 80; $DWELL %s\" /dev/null </dev/null | "
            "tr -d '\\r' | sed 's/ *$//'",
            commands[i][0]);
        check_text(text, commands[i][1]);
        char *line = strstr(text, "\n\n");
        for (; line && *line; line = strchr(line, '\n') + 1)
            cr_assert(le(sz, strcspn(line, "\n"), 80 + (i == 1 ? 30 : 0)), "%s", line); /* the branches' bytes */
        free(text);
    }
}

/* ---- columns that add up ---- */

/* The n-th word of a line, from 0, as thousandths of its unit. */
static uint64_t number_at(const char *line, int n)
{
    uint64_t whole = 0, part = 0;
    for (; n > 0; n--) {
        line += strspn(line, " ");
        line += strcspn(line, " ");
    }
    cr_assert(eq(int, sscanf(line, " %" SCNu64 ".%3" SCNu64, &whole, &part), 2), "%s", line);
    return whole * 1000 + part;
}

/* The sum of each column of exclusive times is the session's value, which is below the rows. `before` is the number of
 * columns before the calls. */
static void check_added(const char *by, int before)
{
    char *text = run_well("$DWELL report example.dwell --limit 0 --by %s", by);
    uint64_t us[2], ns[2], elapsed = 0, application = 0;
    const char *sums = strstr(text, "\n\nelapsed ");
    int found =
        sums ? sscanf(sums + 2,
                      "elapsed %" SCNu64 ".%3" SCNu64 " us summed over 3 threads, application %" SCNu64 ".%3" SCNu64,
                      &us[0], &ns[0], &us[1], &ns[1])
             : 0;
    cr_assert(eq(int, found, 4));
    char *line = strstr(text, "\n\n") + 2; /* the titles */
    for (line = strchr(line, '\n') + 1; *line != '\n'; line = strchr(line, '\n') + 1) {
        elapsed += number_at(line, before + 3);
        application += number_at(line, before + 7);
    }
    cr_assert(eq(u64, elapsed, us[0] * 1000 + ns[0]), "by %s", by);
    cr_assert(eq(u64, application, us[1] * 1000 + ns[1]), "by %s", by);
    free(text);
}

Test(golden, text_columns_add_up)
{
    check_added("function", 0);
    check_added("module", 0);
    check_added("thread", 1);
    check_added("process", 1);
}

Test(golden, export_perflog)
{
    need_features("perflog");
    golden_check("export perflog example.dwell", "export-perflog.txt");
    golden_check("export perflog --aggregate --limit 3 example.dwell", "export-perflog-aggregate.txt");
}

Test(golden, info)
{
    setenv("TZ", "UTC", 1);
    golden_check("info example.dwell", "info.txt");
}

/* Sessions of the first version of the format stay readable. That version recorded these. */
Test(golden, sessions_of_the_first_version)
{
    free(run_well("for s in first-trace first-profile; do gzip -dc " DWELL_GOLDEN
                  "/sessions/$s.dwell.gz >$s.dwell; done"));
    golden_check("report first-trace.dwell", "first-trace.txt");
    golden_check("tree --by thread first-trace.dwell --min 0 --format csv", "first-trace-tree.csv");
    golden_check("report first-profile.dwell --format json", "first-profile.json");
    setenv("TZ", "UTC", 1);
    golden_check("info first-profile.dwell", "first-profile-info.txt");
}
