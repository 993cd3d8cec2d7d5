/* dwell replay of the calls that have a recorded value, and the values beside the calls: whole outputs of a handmade
 * session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

enum { MAIN = 0x1000, HANDLE = 0x2000, PARSE = 0x3000, US = 1000 };

/* main { handle(3, -1) { parse }, blocked, handle(2000, 7) { parse, blocked }, parse }. The first parse is entered in
 * the tick of its handle, which alone has values. */
static void valued_save(void)
{
    static const char *const names[] = { "n", "req->len" };
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
    write_off_cpu(w, false, 40 * US, 5 * US);
    write_enter(w, 40 * US, HANDLE);
    write_enter(w, 45 * US, PARSE);
    write_exit(w, 50 * US);
    write_off_cpu(w, false, 70 * US, 15 * US);
    write_exit(w, 70 * US);
    write_enter(w, 80 * US, PARSE);
    write_exit(w, 81 * US);
    write_exit(w, 90 * US);
    end_events(w, true);
    writer_save(w, test_path("valued.dwell"));
    writer_free(w);
}

TestSuite(golden_replay_values, .init = valued_save, .timeout = 300);

static void valued_expect(const char *arguments, const char *wanted)
{
    struct ran r = run("$DWELL replay valued.dwell %s", arguments);
    cr_expect(eq(str, r.err, ""), "%s", arguments);
    cr_expect(eq(str, r.out, (char *)wanted), "%s", arguments);
    ran_drop(&r);
}

Test(golden_replay_values, beside_the_calls)
{
    valued_expect("", "    TIME us         TOOK   THREAD  CALL\n"
                      "      1.000                10 p  main() {\n"
                      "     10.000                10 p    handle() {  n=3, req->len=-1\n"
                      "     10.000     2.000 us   10 p      parse(char const*);\n"
                      "     20.000    10.000 us   10 p    }\n"
                      "                5.000 us   10 p    -- blocked\n"
                      "     40.000                10 p    handle() {  n=2000, req->len=7\n"
                      "     45.000     5.000 us   10 p      parse(char const*);\n"
                      "               15.000 us   10 p      -- blocked\n"
                      "     70.000    30.000 us   10 p    }\n"
                      "     80.000     1.000 us   10 p    parse(char const*);\n"
                      "     90.000    89.000 us   10 p  }\n");
    valued_expect(
        "--format csv --to 30us",
        "time_ns,duration_ns,process,tid,thread,depth,kind,function,note,mark,text,page_faults,values,thread_title\r\n"
        "1000,,10,10,p,0,begin,main,,,,,,p\r\n"
        "10000,,10,10,p,1,begin,handle,,,,,\"{\"\"n\"\":3,\"\"req->len\"\":-1}\",p\r\n"
        "10000,2000,10,10,p,2,call,parse(char const*),,,,,,p\r\n"
        "20000,10000,10,10,p,1,end,handle,,,,,,p\r\n"
        ",,10,10,p,0,end,main,goes_on,,,,,p\r\n");
    valued_expect("--format json --from 15us --to 42us | jq -c '[.kind, .function, .note, .values]'",
                  "[\"begin\",\"main\",\"began_before\",null]\n"
                  "[\"call\",\"handle\",\"began_before\",{\"n\":3,\"req->len\":-1}]\n"
                  "[\"blocked\",null,null,null]\n"
                  "[\"call\",\"handle\",\"goes_on\",{\"n\":2000,\"req->len\":7}]\n"
                  "[\"end\",\"main\",\"goes_on\",null]\n");
}

/* The wait that ended when the second handle began is that of its caller. */
Test(golden_replay_values, calls_with_a_value)
{
    valued_expect("--within 'handle: n > 1000'", "    TIME us         TOOK   THREAD  CALL\n"
                                                 "     40.000                10 p    handle() {  n=2000, req->len=7\n"
                                                 "     45.000     5.000 us   10 p      parse(char const*);\n"
                                                 "               15.000 us   10 p      -- blocked\n"
                                                 "     70.000    30.000 us   10 p    }\n");
    valued_expect("--filter 'handle.n < 1000'", "    TIME us         TOOK   THREAD  CALL\n"
                                                "     10.000                10 p    handle() {  n=3, req->len=-1\n"
                                                "     10.000     2.000 us   10 p      parse(char const*);\n"
                                                "     20.000    10.000 us   10 p    }\n");
    valued_expect("--filter 'handle: req->len = 7' --within 'handle: n != 3' --depth 2",
                  "    TIME us         TOOK   THREAD  CALL\n"
                  "     40.000                10 p    handle() {  n=2000, req->len=7\n"
                  "               15.000 us   10 p      -- blocked\n"
                  "     70.000    30.000 us   10 p    }\n");
    valued_expect("--within 'handle: n = 3' --within 'handle: n = 2000' --root parse --only parse",
                  "    TIME us         TOOK   THREAD  CALL\n"
                  "     10.000     2.000 us   10 p  parse(char const*);\n"
                  "     45.000     5.000 us   10 p  parse(char const*);\n");
}

/* What mcp must not show is not shown beside calls either. */
Test(golden_replay_values, withheld)
{
    char *text = run_well("DWELL_WITHHOLD_VALUES=1 $DWELL replay valued.dwell --format csv --depth 2 | "
                          "sed -n '1p;3p' | cut -d, -f7- | tr -d '\\r'; "
                          "DWELL_WITHHOLD_VALUES=1 $DWELL replay valued.dwell --within 'handle: n = 3' 2>&1; true");
    cr_expect(eq(str, text,
                 "kind,function,note,mark,text,page_faults,thread_title\ncall,handle,,,,,p\n"
                 "dwell: values are left out here: dwell mcp --with-values shows them\n"));
    free(text);
}

static void valued_refuse(const char *option, const char *wanted)
{
    struct ran r = run("$DWELL replay valued.dwell %s", option);
    cr_expect(eq(int, r.status, 2), "%s", option);
    cr_expect(eq(str, r.out, ""), "%s", option);
    cr_expect(eq(str, r.err, (char *)wanted), "%s", option);
    ran_drop(&r);
}

Test(golden_replay_values, conditions_that_cannot_be_met)
{
    valued_refuse("--within 'handle: n = 4'", "dwell: --within: no completed call has 'handle: n = 4'; dwell values "
                                              "'handle:n' lists what they have\n");
    valued_refuse("--filter 'handle.n = 3' --filter 'handle.n > 3'", "dwell: --filter: no call meets all conditions\n");
    valued_refuse("--filter 'calls > 3'",
                  "dwell: --filter: this view takes conditions on recorded values alone: 'FUNCTION.WHAT > VALUE'\n");
}
