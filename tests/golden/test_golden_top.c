/* `dwell top --once` for finished sessions, byte for byte. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/example.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

static void top_save_sessions(void)
{
    struct writer *w = example_session(SOURCE_PERF), *blind = example_session(SOURCE_NONE);
    writer_save(w, test_path("example.dwell"));
    writer_save(blind, test_path("blind.dwell"));
    writer_free(w);
    writer_free(blind);
}

TestSuite(golden_top, .init = top_save_sessions, .timeout = 300);

Test(golden_top, text)
{
    check_golden("top --once example.dwell", "top.txt");
    check_golden("top --once blind.dwell", "top-blind.txt");
    check_golden("top --count 3 example.dwell", "top.txt"); /* nothing changes any more */
}

Test(golden_top, csv_and_json)
{
    check_golden("top --once --format csv example.dwell", "top.csv");
    check_golden("top --once --format json example.dwell", "top.json");
}

Test(golden_top, other_rows)
{
    check_golden("top --once --by module example.dwell", "top-module.txt");
    check_golden("top --once --by thread example.dwell", "top-thread.txt");
    check_golden("top --once --by process example.dwell", "top-process.txt");
}

Test(golden_top, columns_order_and_filters)
{
    check_golden(
        "top --once -s calls -n 2 --columns calls,elapsed_exclusive,calls_per_second --filter 'calls>1' example.dwell",
        "top-chosen.txt");
    check_golden("top --columns help", "top-columns.txt");
}

/* The same rows as those of a report. */
Test(golden_top, agrees_with_report)
{
    static const char columns[] =
        "--columns calls,elapsed_inclusive,elapsed_exclusive,application_inclusive,application_exclusive";
    char *top = run_well("$DWELL top --once --format csv %s example.dwell", columns);
    char *report = run_well("$DWELL report --format csv %s example.dwell", columns);
    cr_assert(eq(str, top, report));
    free(top);
    free(report);
}
