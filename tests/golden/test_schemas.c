/* JSON documents follow the schemas of docs/schema, and have no keys that those do not describe. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/example.h"
#include "support/run.h"
#include "support/scenario.h"

#define SCHEMAS "python3 -B " DWELL_CONSUMERS "/schemas.py " DWELL_CONSUMERS "/../../docs/schema "

static void schemas_save_session(void)
{
    struct writer *w = example_session(SOURCE_PERF);
    writer_save(w, test_path("example.dwell"));
    writer_free(w);
}

TestSuite(golden_schemas, .init = schemas_save_session, .timeout = 300);

Test(golden_schemas, all_golden_files)
{
    char *used = run_well(SCHEMAS DWELL_GOLDEN "/*.json " DWELL_GOLDEN "/perflog/*.json");
    cr_assert(eq(
        str, used,
        "advise\nannotate\ncallers\ncritical\ndiff\nevents\nperflog\nreplay\nreport\nscaling\ntop\ntree\nvalues\nwaits\n"
        "whatif\nwhy\n"));
    free(used);
}

/* Also with all columns, and those of errors. */
Test(golden_schemas, commands_without_golden_files)
{
    char *used = run_well(
        "json() { \"$DWELL\" \"$@\" --format json example.dwell; }\n"
        "columns=$($DWELL report --columns help | sed -n 's/^\\([a-z][a-z_0-9]*\\)  *.*/\\1/p' | paste -sd,)\n"
        "json report --columns $columns >1.json; json tree >2.json; json waits >3.json; json marks >4.json\n"
        "json info >5.json; json report --by process >6.json; json critical >7.json\n"
        "$DWELL slowest price_of example.dwell --format json >8.json; $DWELL histogram price_of example.dwell --format json >9.json\n"
        "$DWELL doctor --format json >10.json || true; $DWELL report --format json missing >11.json 2>said || true\n"
        "$DWELL diff example.dwell example.dwell --format json >12.json\n" SCHEMAS "*.json");
    cr_assert(eq(str, used, "critical\ndiff\ndoctor\nerror\nhistogram\ninfo\nmarks\nreport\nslowest\ntree\nwaits\n"));
    free(used);
}

/* remarks.json has each code of the source, and no others. */
Test(golden_schemas, codes_of_remarks)
{
    free(run_well(
        "cat $(find " DWELL_CONSUMERS "/../../analyzer -name '*.c') | tr '\\n' ' ' | "
        "grep -oE '(summary_remark|summary_remark_doubt|diff_add_remark)\\( *[^,()]+, *\"[a-z-]+\"' | grep -oE '[a-z-]+\"$' | "
        "{ cat; printf 'other\"\\nother-loss\"\\n'; } | tr -d '\"' | sort -u >used\n"
        "jq -r '.enum[]' " DWELL_CONSUMERS "/../../docs/schema/remarks.json | sort -u | diff used -"));
}
