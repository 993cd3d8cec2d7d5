/* dwell slowest of calls that have recorded values: whole outputs of a handmade session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

enum { MAIN = 0x1000, HANDLE = 0x2000, PARSE = 0x3000, US = 1000 };

#define SCHEMAS "python3 -B " DWELL_CONSUMERS "/schemas.py " DWELL_CONSUMERS "/../../docs/schema "

/* main { handle(3, -1) { parse }, handle(2000, 7) { parse }, handle }. The first parse is entered in the tick of its
 * handle, which alone has values. The last handle has none. One name ends as the key of a range does. */
static void valued_save(void)
{
    static const char *const names[] = { "n", "span.from" };
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_symbol_module(w, 0, "/lib/x.so");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/lib/x.so");
    write_symbol(w, 0, 0, 0, MAIN, "main");
    write_symbol(w, 0, 0, 0, HANDLE, "handle");
    write_symbol(w, 0, 0, 0, PARSE, "parse(char const*)");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "p");
    write_values_plan(w, HANDLE, names, 2);
    begin_values(w, 1, 1);
    write_values(w, 10 * US, (const int64_t[]){ 3, -1 }, 2);
    write_values(w, 40 * US, (const int64_t[]){ 2000, 7 }, 2);
    end_values(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 1 * US, MAIN);
    write_enter(w, 10 * US, HANDLE);
    write_enter(w, 10 * US, PARSE);
    write_exit(w, 12 * US);
    write_exit(w, 20 * US);
    write_enter(w, 40 * US, HANDLE);
    write_enter(w, 45 * US, PARSE);
    write_exit(w, 50 * US);
    write_exit(w, 70 * US);
    write_enter(w, 80 * US, HANDLE);
    write_exit(w, 81 * US);
    write_exit(w, 90 * US);
    end_events(w, true);
    writer_save(w, test_path("valued.dwell"));
    writer_free(w);
}

TestSuite(golden_slowest_values, .init = valued_save, .timeout = 300);

static void valued_expect(const char *arguments, const char *wanted)
{
    struct ran r = run("$DWELL slowest valued.dwell %s", arguments);
    cr_expect(eq(str, r.err, ""), "%s", arguments);
    cr_expect(eq(str, r.out, (char *)wanted), "%s", arguments);
    ran_drop(&r);
}

#define HEADING "the slowest calls of handle, by elapsed_inclusive\n"

Test(golden_slowest_values, text)
{
    valued_expect("handle | head -n 5", HEADING
                  "TIME us EL.INCL us EL.EXCL us APP.INCL us APP.EXCL us BL.INCL us PRE.INCL us TID PROCESS THREAD "
                  "VALUES              CALLER\n"
                  " 40.000     30.000     25.000      30.000      25.000          0           0  10      10 p      "
                  "n=2000, span.from=7 main\n"
                  " 10.000     10.000      8.000      10.000       8.000          0           0  10      10 p      "
                  "n=3, span.from=-1   main\n"
                  " 80.000      1.000      1.000       1.000       1.000          0           0  10      10 p      "
                  "                    main\n");
    valued_expect("handle --columns time,values_text,values.n --sort values.n | head -n 5",
                  HEADING "TIME us    n VALUES\n"
                          " 40.000 2000 n=2000, span.from=7\n"
                          " 10.000    3 n=3, span.from=-1\n"
                          " 80.000    - \n");
}

/* Most numbers leave the line before values are cut. */
Test(golden_slowest_values, narrow_text)
{
    char *text = run_well("COLUMNS=80 $DWELL slowest handle valued.dwell | head -n 5");
    cr_expect(eq(str, text,
                 HEADING "TIME us EL.INCL us APP.INCL us BL.INCL us TID THREAD VALUES              CALLER\n"
                         " 40.000     30.000      30.000          0  10 p      n=2000, span.from=7 main\n"
                         " 10.000     10.000      10.000          0  10 p      n=3, span.from=-1   main\n"
                         " 80.000      1.000       1.000          0  10 p                          main\n"));
    free(text);
    text = run_well("COLUMNS=50 $DWELL slowest handle valued.dwell | sed -n '2,5p'");
    cr_expect(eq(str, text,
                 "TIME us EL.INCL us THREAD VALUES           CALLER\n"
                 " 40.000     30.000 p      n=2000,…n.from=7 main\n"
                 " 10.000     10.000 p      n=3, sp….from=-1 main\n"
                 " 80.000      1.000 p                       main\n"));
    free(text);
}

Test(golden_slowest_values, other_functions_have_no_column)
{
    char *text = run_well("$DWELL slowest parse valued.dwell | sed -n '3p'; "
                          "$DWELL slowest parse valued.dwell --format csv | sed -n 1p | cut -d, -f10-");
    cr_expect(
        eq(str, text,
           " 45.000      5.000      5.000       5.000       5.000          0           0  10      10 p      handle\n"
           "thread,caller,thread_title\r\n"));
    free(text);
}

Test(golden_slowest_values, data)
{
    valued_expect("handle --format csv",
                  "time_ns,elapsed_inclusive_ns,elapsed_exclusive_ns,application_inclusive_ns,application_exclusive_ns,"
                  "blocked_inclusive_ns,preempted_inclusive_ns,tid,pid,thread,caller,thread_title,values.n,"
                  "values.span.from\r\n"
                  "40000,30000,25000,30000,25000,0,0,10,10,p,main,p,2000,7\r\n"
                  "10000,10000,8000,10000,8000,0,0,10,10,p,main,p,3,-1\r\n"
                  "80000,1000,1000,1000,1000,0,0,10,10,p,main,p,,\r\n");
    valued_expect("handle --format json | jq -c '.rows[] | [.time_ns, .values]'",
                  "[40000,{\"n\":2000,\"span.from\":7}]\n"
                  "[10000,{\"n\":3,\"span.from\":-1}]\n"
                  "[80000,{\"n\":null,\"span.from\":null}]\n");
    valued_expect("handle --format json --columns values_text,values.n | jq -c '.rows[]'",
                  "{\"values_text\":\"n=2000, span.from=7\",\"values\":{\"n\":2000}}\n"
                  "{\"values_text\":\"n=3, span.from=-1\",\"values\":{\"n\":3}}\n"
                  "{\"values_text\":null,\"values\":{\"n\":null}}\n");
    valued_expect("handle --format csv --columns values.n --filter 'handle.n < 1000'", "values.n\r\n3\r\n");
}

Test(golden_slowest_values, schema)
{
    char *text =
        run_well("$DWELL slowest handle valued.dwell --format json >1.json; $DWELL slowest handle valued.dwell "
                 "--format json --columns values_text,values.n >2.json; " SCHEMAS "1.json 2.json");
    cr_expect(eq(str, text, "slowest\n"));
    free(text);
}

/* What mcp must not show is shown to nobody whom it serves. */
Test(golden_slowest_values, withheld)
{
    char *text = run_well("export DWELL_WITHHOLD_VALUES=1; for format in text csv json; do "
                          "$DWELL slowest handle valued.dwell --format $format >out.$format; done; "
                          "grep -c -i 'values\\|span\\|2000' out.text out.csv out.json; "
                          "sed -n 1p out.csv | cut -d, -f11-");
    cr_expect(eq(str, text, "out.text:0\nout.csv:0\nout.json:0\ncaller,thread_title\r\n"));
    free(text);
}
