/* JSON of recorded sessions follows the schemas, too: with samples, with all columns, and with chosen ones. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

#define SCHEMAS "python3 -B " DWELL_CONSUMERS "/schemas.py " DWELL_CONSUMERS "/../../docs/schema "

TestSuite(e2e_schemas_recorded, .timeout = 300);

#define JSON                                                                                                           \
    "json() { file=$1.json; shift; \"$DWELL\" \"$@\" --format json >$file 2>>said || { cat said >&2; exit 1; }; }\n"

Test(e2e_schemas_recorded, samples_and_all_columns)
{
    char *used = run_well(
        "$DWELL record -q --sample 4000 $SAMPLES/threads 3 40 >out\n" JSON
        "json tree tree; json callers callers main; json annotate annotate main\n"
        "for c in report tree waits critical advise; do\n"
        "columns=$($DWELL $c --columns help | sed -n 's/^\\([a-z][a-z_0-9.]*[a-z0-9]\\)  *.*/\\1/p' | paste -sd,)\n"
        "json $c-all $c --columns $columns; done\n"
        "for c in callers slowest histogram why; do\n"
        "columns=$($DWELL $c --columns help | sed -n 's/^\\([a-z][a-z_0-9.]*[a-z0-9]\\)  *.*/\\1/p' | paste -sd,)\n"
        "json $c-all $c work --columns $columns; done\n" SCHEMAS "*.json");
    cr_assert(eq(str, used, "advise\nannotate\ncallers\ncritical\nhistogram\nreport\nslowest\ntree\nwaits\nwhy\n"));
    free(used);
}
