/* Several recordings at once: dwell record --runs, and dwell compare of two programs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

/* $SAMPLES/fib calls fib() 465 times for 13, and 1219 times for 15. */
TestSuite(e2e_compare, .init = without_os_calls, .timeout = 300);

static uint64_t compare_calls(const char *session)
{
    struct report *r = report_of(session);
    const uint64_t calls = report_sum(r, "function", "fib", "calls");
    report_drop(r);
    return calls;
}

Test(e2e_compare, runs_of_one_program)
{
    struct ran r = run("$DWELL record --runs 10 --mode profile -q -o series.data $SAMPLES/fib 13");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(eq(str, r.err, ""));
    ran_drop(&r);
    char *sessions = run_well("ls *.data | tr '\\n' ' '");
    cr_assert(has(sessions, "series-01.data ") && has(sessions, "series-10.data "), "%s", sessions);
    free(sessions);
    char *mode = run_well("$DWELL info series-07.data | grep -c '^mode *profile'");
    free(mode);
    const uint64_t calls = compare_calls("series-01.data");
    cr_assert(eq(u64, calls, compare_calls("series-10.data")));
    r = run("$DWELL record --runs 2 $SAMPLES/fib 13");
    cr_assert(has(r.err, "dwell: 2 runs of ") && has(r.err, "; sessions: dwell-1.data to dwell-2.data\n"), "%s", r.err);
    ran_drop(&r);
    cr_assert(eq(u64, compare_calls("dwell-2.data"), calls));
}

/* The program appends its number to a file, so the order is known. */
Test(e2e_compare, the_order_alternates)
{
    free(
        run_well("for p in old new; do printf '#!/bin/sh\\necho %%s $1 >>order; exec '\"$SAMPLES\"'/fib $2\\n' $p >$p; "
                 "chmod +x $p; done; sed -i 's/\\$2/15/' new"));
    struct ran r = run("$DWELL compare --runs 3 -o pair.data ./old ./new -- x 13");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, "dwell: before: 3 runs of ./old took "), "%s", r.err);
    cr_assert(has(r.out, "pair-before-1.data") && has(r.out, "pair-after-3.data"), "%s", r.out);
    ran_drop(&r);
    char *order = run_well("tr '\\n' ' ' <order");
    cr_assert(eq(str, order, "old x new x new x old x old x new x "));
    free(order);
    const uint64_t before = compare_calls("pair-before-2.data"), after = compare_calls("pair-after-2.data");
    cr_assert(lt(u64, before, after));
    char *change =
        run_well("$DWELL diff 'pair-before-*' -- 'pair-after-*' --format json | python3 -c 'import json,sys; "
                 "print([(r[\"calls_before\"], r[\"calls_after\"]) for r in json.load(sys.stdin)[\"rows\"] "
                 "if r[\"function\"] == \"fib\"])'");
    char *wanted = run_well("echo '[(%lu, %lu)]'", before, after);
    cr_assert(eq(str, change, wanted));
    free(wanted);
    free(change);
}

Test(e2e_compare, conditions_and_formats)
{
    free(run_well("cp $SAMPLES/fib old; printf '#!/bin/sh\\nexec '\"$SAMPLES\"'/fib 15\\n' >new; chmod +x new"));
    struct ran r = run("$DWELL compare -q --runs 2 --fail-if 'calls > +0' --format junit ./old ./new -- 13");
    cr_assert(eq(int, r.status, 1), "%s", r.err);
    cr_assert(eq(int, strncmp(r.out, "<?xml", 5), 0), "only the report is on standard output: %s", r.out);
    cr_assert(has(r.out, "<failure"));
    cr_assert(has(r.err, "--fail-if 'calls > +0'"), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL compare -q --runs 2 --fail-if 'calls > +0' ./old ./old -- 13");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_compare, a_program_that_fails)
{
    free(run_well("printf '#!/bin/sh\\necho run >>runs\\nexit 3\\n' >bad; chmod +x bad; cp $SAMPLES/fib good"));
    struct ran r = run("$DWELL record -q --runs 4 ./bad");
    cr_assert(eq(int, r.status, 3));
    cr_assert(has(r.err, "dwell: run 1 of 4: ./bad ended with exit status 3; no other run follows\n"), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL compare -q --runs 4 ./good ./bad -- 5");
    cr_assert(eq(int, r.status, 3));
    cr_assert(has(r.err, "dwell: after run 1 of 4: ./bad ended with exit status 3; no other run follows\n"), "%s",
              r.err);
    ran_drop(&r);
    char *runs = run_well("wc -l <runs");
    cr_assert(eq(int, atoi(runs), 2));
    free(runs);
    r = run("$DWELL record -q --runs 4 sh -c 'kill -TERM $$'");
    cr_assert(has(r.err, "was ended by signal 15 (Terminated)"), "%s", r.err);
    ran_drop(&r);
}

/* Each run reads the whole file. A pipe can be read once. */
/* An earlier session of the name stays, and is not what is compared. */
Test(e2e_compare, a_run_that_records_nothing)
{
    static const char *const nothing[] = { "--keep-free 1000000G", "--keep-free 1000000G", "--only no_function" };
    static const char *const said[] = {
        "x-before-1.data: nothing was recorded; make room, or choose another place with -o",
        "x-before-1.data: nothing was recorded; make room, or choose another place with -o",
        "the filters match none of the calls"
    };
    for (size_t i = 0; i < 3; i++) {
        struct ran r = run("$DWELL compare --runs 2 -q -o x.data %s $SAMPLES/fib $SAMPLES/fib -- 13", nothing[i]);
        cr_expect(eq(int, r.status, 125), "%s", r.out);
        cr_expect(has(r.err, said[i]), "%s", r.err);
        cr_expect(
            has(r.err,
                "dwell: before run 1 of 2 recorded nothing, so there is nothing to compare; no other run follows\n"),
            "%s", r.err);
        cr_expect(not(has(r.out, "RAN")), "%s", r.out);
        ran_drop(&r);
        if (i == 0)
            free(run_well("$DWELL compare --runs 2 -q -o x.data $SAMPLES/fib $SAMPLES/fib -- 13"));
    }
}

Test(e2e_compare, standard_input)
{
    free(run_well("seq 5 >five; $DWELL record -q --runs 3 sh -c 'wc -l >>lines' <five"));
    char *lines = run_well("tr '\\n' ' ' <lines");
    cr_assert(eq(str, lines, "5 5 5 "));
    free(lines);
    struct ran r = run("seq 5 | $DWELL record --runs 2 sh -c 'wc -l >>none'");
    cr_assert(has(r.err, "standard input is a pipe"), "%s", r.err);
    ran_drop(&r);
    lines = run_well("tr '\\n' ' ' <none");
    cr_assert(eq(str, lines, "0 0 "));
    free(lines);
}

Test(e2e_compare, errors)
{
    static const struct {
        const char *arguments, *message;
        int status;
    } wrong[] = {
        { "compare ./one", "dwell: compare: which OLD and NEW program? See dwell compare --help\n", 125 },
        { "compare true true false",
          "dwell: compare: 'false' is a third program; write -- before the arguments of both\n", 125 },
        { "compare true no-such-program", "dwell: no-such-program: no such program\n", 127 },
        { "compare --fail-if calls true true",
          "dwell: --fail-if 'calls': a condition is a value, > or <, and a change, such as 'calls > +0' or "
          "'cpu_exclusive > +10%'\n",
          125 },
        { "record --runs 0 true", "dwell: --runs: '0' is not a number from 1 to 10000\n", 125 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran r = run("$DWELL %s", wrong[i].arguments);
        cr_assert(eq(str, r.err, (char *)wrong[i].message));
        cr_assert(eq(int, r.status, wrong[i].status), "%s", wrong[i].arguments);
        ran_drop(&r);
    }
}
