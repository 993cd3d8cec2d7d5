/* Parts of the hand-made session: whole outputs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/example.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

static void save_session(void)
{
    struct writer *w = example_session(SOURCE_PERF);
    writer_save(w, test_path("example.dwell"));
    writer_free(w);
}

TestSuite(golden_slices, .init = save_session, .timeout = 60);

Test(golden_slices, of_a_thread)
{
    check_golden("report example.dwell --thread pric* --process 1000", "slice-thread.txt");
    check_golden("report example.dwell --thread pricing --by thread --format json", "slice-thread.json");
    check_golden("tree example.dwell --thread 1002", "slice-thread-tree.txt");
    check_golden("callers example.dwell round_up --thread pricing", "slice-thread-callers.txt");
    check_golden("slowest example.dwell price_of -n 3 --thread pricing", "slice-thread-slowest.txt");
}

Test(golden_slices, of_a_process)
{
    check_golden("report example.dwell --process worker", "slice-process.txt");
    check_golden("report example.dwell --process shop --process 1001 --by process", "slice-processes.txt");
}

Test(golden_slices, below_a_function)
{
    check_golden("tree example.dwell --root handle", "slice-root-tree.txt");
    check_golden("report example.dwell --root handle --thread shop", "slice-root.txt");
    check_golden("report example.dwell --root handle --format json --by module", "slice-root.json");
    check_golden("callers example.dwell round_up --root handle", "slice-root-callers.txt");
    check_golden("histogram example.dwell round_up --root handle --format csv", "slice-root-histogram.csv");
}

static void check_error(const char *arguments, const char *message)
{
    struct ran r = run("$DWELL %s", arguments);
    cr_assert(eq(int, r.status, 2), "%s: %s", arguments, r.err);
    cr_assert(eq(str, r.err, (char *)message));
    cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
}

Test(golden_slices, names_that_mean_nothing)
{
    check_error("report example.dwell --thread pricing --thread nobody",
                "dwell: example.dwell: no thread 'nobody'; dwell report --by thread lists them\n");
    check_error("tree example.dwell --process 7",
                "dwell: example.dwell: no process '7'; dwell report --by process lists them\n");
    check_error("tree example.dwell --root nothing",
                "dwell: example.dwell: no function 'nothing' was recorded; dwell report -s name lists them\n");
}
