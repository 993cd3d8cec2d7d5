/* Numbers of 113 bits, and members of unions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_values_quads, .timeout = 300);

static void quads_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

static void quads_list(const char *optimisation, const char *function, const char *expected)
{
    char *rows = run_well("gcc %s -g -finstrument-functions -o quads " DWELL_CONSUMERS
                          "/../e2e/programs/values/quads.c && $DWELL values --list ./quads %s --format json | jq -r "
                          "'.rows[] | \"\\(.value) \\(.readable) \\(.reasons | join(\",\"))\"'",
                          optimisation, function);
    cr_assert(eq(str, rows, (char *)expected), "%s %s", optimisation, function);
    free(rows);
}

/* In a vector register, the number has more bytes than are read. */
Test(e2e_values_quads, what_can_be_read)
{
    quads_list("-O0", "quad", "q 1 \nat 1 \nreturn 0 wide\n");
    quads_list("-O0", "by_value", "w 0 type\n");
    quads_list("-O2", "quad:q,*at,return", "q 0 wide\n*at 1 \nreturn 0 wide\n");
    quads_list("-O2", "by_value:w,w.number,w.bytes.second", "w 0 type\nw.number 1 \nw.bytes.second 1 \n");
}

Test(e2e_values_quads, values)
{
    quads_list("-O0", "quad:q", "q 1 \n");
    free(run_well("$DWELL record -q --values 'quad:q,*at' --values by_value:w.number,w.real "
                  "--values 'by_address:w->real,w->bytes.first' ./quads"));
#define VALUES(what) "$DWELL values --each '" what "' --format csv | tail -n +2 | cut -d, -f1,2 | paste -sd' '"
    quads_expect(VALUES("quad:q"), "0.33333333333333331,1 1.3333333333333333,1 2.3333333333333335,1 "
                                   "3.3333333333333335,1\n");
    quads_expect(VALUES("quad:*at"), "0.33333333333333331,1 1.3333333333333333,1 2.3333333333333335,1 "
                                     "3.3333333333333335,1\n");
    quads_expect(VALUES("by_value:w.real"), "0.5,1 1.5,1 2.5,1 3.5,1\n");
    quads_expect(VALUES("by_value:w.number"), "1056964608,1 1069547520,1 1075838976,1 1080033280,1\n");
    quads_expect(VALUES("by_address:w->real"), "0.5,1 1.5,1 2.5,1 3.5,1\n");
    quads_expect(VALUES("by_address:w->bytes.first"), "\\x00,4\n");
}
