/* Functions of one name: rows of copies, and texts that name one of them, in all commands. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/copies_session.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

static void typed_save_session(void)
{
    struct writer *w = copies_session();
    writer_save(w, test_path("copies.dwell"));
    writer_free(w);
}

TestSuite(golden_typed, .init = typed_save_session, .timeout = 60);

Test(golden_typed, copies_are_one_row)
{
    check_golden("report copies.dwell -s name", "typed-report.txt");
    check_golden("report copies.dwell -s name --no-merge", "typed-apart.txt");
    check_golden("tree copies.dwell --format csv", "typed-tree.csv");
    check_golden("export collapsed copies.dwell", "typed.collapsed");
}

/* The rows of `dwell top` are those of the report. */
Test(golden_typed, top_has_the_same_rows)
{
    static const char columns[] = "--format csv -s name --columns calls,elapsed_inclusive,elapsed_exclusive";
    static const char *const merge[] = { "", "--no-merge" };
    for (int i = 0; i < 2; i++) {
        char *top = run_well("$DWELL top --once %s %s copies.dwell", columns, merge[i]);
        char *report = run_well("$DWELL report %s %s copies.dwell", columns, merge[i]);
        cr_assert(eq(str, top, report));
        free(top);
        free(report);
    }
}

Test(golden_typed, texts_of_one_function)
{
    check_golden("callers copies.dwell length@0x2000", "typed-callers.txt");
    check_golden("slowest copies.dwell length@list.h:9 --format csv", "typed-slowest.csv");
    check_golden("histogram copies.dwell length@libshop.so --format csv", "typed-histogram.csv");
    check_golden("replay copies.dwell --root length@list.h --root length@*.so", "typed-replay.txt");
    check_golden("tree copies.dwell --filter length@list.h:9", "typed-filter.txt");
    check_golden("report copies.dwell --filter 'len*@sds.h' -s name --columns calls", "typed-filter-report.txt");
    check_golden("tree copies.dwell --root main --root length@*", "typed-root.txt");
}
