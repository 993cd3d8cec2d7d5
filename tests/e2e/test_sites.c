/* record --call-sites: the lines of calls, in programs with known calls, by both compilers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/event_bytes.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_sites, .timeout = 300, .init = without_os_calls);

struct from_line {
    const char *source, *called;
    uint64_t calls;
};

static const struct from_line lines_of_calls[] = {
    { "calls.c:100", "work", 11 }, /* in an inlined function, wherever that is */
    { "calls.c:105", "part", 1 },  /* inlined in an inlined one */
    { "calls.c:110", "down", 1 },       { "calls.c:111", "down", 5 },
    { "calls.c:120", "part", 2 }, /* inlined after alloca */
    { "calls.c:130", "work", 1 }, /* of a function that is not instrumented */
    { "calls.c:140", "leap", 12 },      { "calls.c:150", "work", 33 },
    { "calls.c:160", "work", 6 },       { "calls.c:170", "work", 1 },
    { "calls.c:300", "work", 1 },       { "calls.c:301", "work", 20 },
    { "calls.c:302", "work", 300 },     { "calls.c:310", "work", 10 }, /* a macro that calls twice */
    { "calls.c:320", "part", 7 },       { "calls.c:321", "part", 1 },
    { "calls.c:322", "whole", 1 },      { "calls.c:330", "down", 1 },
    { "calls.c:340", "room", 1 },       { "calls.c:341", "room", 1 },
    { "calls.c:360", "leap", 4 },       { "calls.c:390", "by_pointer", 1 },
    { "calls.c:391", "by_pointer", 1 }, { "calls.c:392", "work", 2 },
    { "calls.c:400", "forked", 1 },     { "calls.c:430", "various", 1 },
};

static const struct from_line lines_of_objects[] = {
    { "objects.cc:110", "Leaf::draw()", 4 }, /* three of them, and one of Group::draw */
    { "objects.cc:120", "climb(int)", 6 },
    { "objects.cc:130", "leaf(int)", 3 },
    { "objects.cc:140", "climb(int)", 3 },
    { "objects.cc:200", "int twice<int>(int)", 1 },
    { "objects.cc:201", "double twice<double>(double)", 1 },
    { "objects.cc:202", "double twice<double>(double)", 1 },
    { "objects.cc:220", "guarded()", 3 },
    { "objects.cc:230", "leaf(int)", 2 },
    { "objects.cc:210", "Group::draw()", 1 },
};

/* The compilers of the frame programs name them. */
static const char *const compilers[] = { "gcc", "clang" };
static const char *const variants[] = { "O0", "O1", "O2", "Os", "dwarf4" };
static const char *const modes[] = { "trace", "profile", "ring=1G" };

/* The sum over the lines equals that over the functions, in calls and in exclusive times. */
static void check_against_functions(void)
{
    struct report *lines = report_of("--by line --raw"), *functions = report_of("--raw");
    cr_assert(eq(u64, report_sum(lines, "source", NULL, "calls"), report_sum(functions, "function", NULL, "calls")));
    cr_assert(eq(u64, report_sum(lines, "source", "(unknown)", "calls"), 0));
    check_sums(lines, "source");
    report_drop(lines);
    report_drop(functions);
}

static void check_lines(const struct from_line *wanted, size_t count)
{
    struct report *r = report_of("--by line");
    char *csv = run_well("$DWELL report --by line --format csv");
    for (size_t i = 0; i < count; i++) {
        cr_assert(eq(u64, report_sum(r, "source", wanted[i].source, "calls"), wanted[i].calls), "%s\n%s",
                  wanted[i].source, csv);
        cr_assert(ge(u64, report_sum(r, "called", wanted[i].called, "calls"), wanted[i].calls), "%s\n%s",
                  wanted[i].called, csv);
    }
    free(csv);
    report_drop(r);
    check_against_functions();
}

static bool is_there(const char *program)
{
    struct ran r = run("test -x $PROGRAMS/sites/%s", program);
    ran_drop(&r);
    return r.status == 0;
}

static void sites_check_program(const char *program, const struct from_line *wanted, size_t count)
{
    for (size_t c = 0; c < 2; c++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            char name[64];
            snprintf(name, sizeof name, "%s-%s-%s", program, compilers[c], variants[v]);
            cr_assert(c == 1 || is_there(name), "%s", name);
            if (!is_there(name))
                continue; /* this compiler is not installed */
            for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
                free(run_well("$DWELL record -q --call-sites --mode %s $PROGRAMS/sites/%s", modes[m], name));
                check_lines(wanted, count);
            }
        }
}

Test(e2e_sites, lines_of_c)
{
    sites_check_program("calls", lines_of_calls, sizeof lines_of_calls / sizeof *lines_of_calls);
}

Test(e2e_sites, lines_of_cplusplus)
{
    sites_check_program("objects", lines_of_objects, sizeof lines_of_objects / sizeof *lines_of_objects);
}

/* Callers of one function: their lines and functions. */
Test(e2e_sites, callers_by_line)
{
    free(run_well("$DWELL record -q --call-sites $PROGRAMS/sites/calls-gcc-O2"));
    char *out =
        run_well("$DWELL callers --by line --format csv work | tr -d '\\r' | "
                 "awk -F, '$1 == \"caller\" && $4 != \"calls.c:100\" { print $2, $4, $5, $7 }' | LC_ALL=C sort -k2");
    cr_assert(eq(str, out,
                 "various calls.c:130 unseen 1\n"
                 "threaded calls.c:150 threaded 33\n"
                 "forked calls.c:160 forked 6\n"
                 "on_signal calls.c:170 on_signal 1\n"
                 "by_pointer calls.c:220 by_pointer 1\n"
                 "various calls.c:300 various 1\n"
                 "various calls.c:301 various 20\n"
                 "various calls.c:302 various 300\n"
                 "various calls.c:310 various 10\n"
                 "various calls.c:392 various 2\n"));
    free(out);
    out = run_well("$DWELL callers --by line --format csv work | tr -d '\\r' | sed 's/\"[^\"]*\"/-/g' | awk -F, '$1 == "
                   "\"caller\" { n += $7 } "
                   "$1 == \"function\" { f = $7 } END { print n, f }'");
    cr_assert(eq(str, out, "386 386\n"));
    free(out);
    out = run_well(
        "$DWELL tree --by line --min 0 --format csv | tr -d '\\r' | awk -F, '$3 == \"work\" && $5 != \"calls.c:100\" "
        "{ print $1, $5, $6, $7 }' | LC_ALL=C sort -k2");
    cr_assert(has(out, "3 calls.c:302 various 300\n"), "%s", out);
    cr_assert(has(out, "3 calls.c:310 various 10\n"), "%s", out);
    free(out);
}

/* A call may come from code outside its caller, which the line shows: a library calls back, the system calls a
 * handler. */
Test(e2e_sites, calls_from_libraries)
{
    free(run_well("$DWELL record -q --call-sites $PROGRAMS/sites/calls-gcc-O2"));
    static const char *const called[] = { "compare", "on_signal", "threaded", "main" };
    struct report *functions = report_of("--raw");
    for (int i = 0; i < 4; i++) {
        char *out =
            run_well("$DWELL report --by line --format csv | tr -d '\\r' | awk -F, '$3 == \"%s\" { n += $9; m = $5 } "
                     "END { print m, n }'",
                     called[i]);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "libc.so.6 %u\n",
                 (unsigned)report_sum(functions, "function", called[i], "calls"));
        cr_assert(eq(str, out, (char *)wanted), "%s", called[i]);
        free(out);
    }
    report_drop(functions);
}

/* Calls that are open where a chunk begins keep their lines. */
Test(e2e_sites, over_many_chunks)
{
    for (size_t m = 0; m < 2; m++) {
        free(run_well("$DWELL record -q --call-sites --mode %s $PROGRAMS/sites/calls-gcc-O2 dive", modes[m]));
        struct report *lines = report_of("--by line --raw"), *functions = report_of("--raw");
        cr_assert(eq(u64, report_sum(lines, "source", "calls.c:200", "calls"), 60000));
        cr_assert(eq(u64, report_sum(lines, "source", "calls.c:210", "calls"), 150));
        const char *const pairs[][2] = { { "calls.c:420", "dive" },
                                         { "calls.c:211", "bottom" },
                                         { "calls.c:200", "work" } };
        static const char *const times[] = { "elapsed_inclusive_ns", "elapsed_exclusive_ns",
                                             "application_inclusive_ns" };
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j += i == 0 ? 2 : 1) /* dive's own time is that of two lines */
                cr_assert(eq(u64, report_sum(lines, "source", pairs[i][0], times[j]),
                             report_sum(functions, "function", pairs[i][1], times[j])),
                          "%s %s", pairs[i][0], times[j]);
        report_drop(lines);
        report_drop(functions);
        check_against_functions();
    }
    char *out = run_well(
        "$DWELL record -q --call-sites $PROGRAMS/sites/calls-gcc-O2 dive; $DWELL info | grep -c damaged || true");
    cr_assert(eq(str, out, "0\n"));
    free(out);
}

/* The rest of a ring begins within calls whose enters are in discarded chunks. */
Test(e2e_sites, lines_of_a_full_ring)
{
    free(run_well("$DWELL record -q --call-sites --mode ring=64K $PROGRAMS/sites/calls-gcc-O2 dive"));
    struct report *lines = report_of("--by line --raw"), *functions = report_of("--raw");
    const uint64_t left = report_sum(lines, "source", "calls.c:200", "calls");
    cr_assert(gt(u64, left, 1000));
    cr_assert(lt(u64, left, 60000));
    cr_assert(eq(u64, report_sum(lines, "source", "calls.c:420", "calls"), 0));
    cr_assert(gt(u64, report_sum(lines, "source", "calls.c:420", "elapsed_inclusive_ns"), 0));
    cr_assert(eq(u64, report_sum(lines, "source", "calls.c:420", "elapsed_inclusive_ns"),
                 report_sum(functions, "function", "dive", "elapsed_inclusive_ns")));
    report_drop(lines);
    report_drop(functions);
    check_against_functions();
}

/* Calls that were entered in a pause and are open after it. */
Test(e2e_sites, over_a_pause)
{
    for (size_t m = 0; m < 3; m++) {
        free(run_well("$DWELL record -q --call-sites --mode %s $PROGRAMS/sites/calls-gcc-O2 pause", modes[m]));
        char *out = run_well("$DWELL tree --by line --min 0 --format csv | tr -d '\\r' | awk -F, 'NR > 1 && $1 > 1 { "
                             "print $1, $3, $5, $7 }'");
        cr_assert(eq(str, out, "2 asleep calls.c:410 0\n3 awake calls.c:190 1\n4 work calls.c:180 5\n"), "%s",
                  modes[m]);
        free(out);
    }
}

Test(e2e_sites, with_filters)
{
    static const char *const filters[] = { "--only work", "--suppress various --suppress threaded", "--min 0ns",
                                           "--depth 3" };
    for (size_t i = 0; i < 4; i++)
        for (size_t m = 0; m < 3; m += i == 2 ? 2 : 1) { /* mode profile has no --min */
            free(run_well("$DWELL record -q --call-sites %s --mode %s $PROGRAMS/sites/calls-gcc-O2", filters[i],
                          modes[m]));
            struct report *r = report_of("--by line");
            cr_assert(eq(u64, report_sum(r, "source", "calls.c:302", "calls"), 300), "%s", filters[i]);
            cr_assert(eq(u64, report_sum(r, "source", "calls.c:310", "calls"), 10), "%s", filters[i]);
            cr_assert(eq(u64, report_sum(r, "source", "calls.c:150", "calls"), 33), "%s", filters[i]);
            report_drop(r);
            check_against_functions();
        }
}

/* The recording itself has the lines. */
Test(e2e_sites, without_the_program)
{
    free(run_well("cp $PROGRAMS/sites/calls-gcc-O2 moved && $DWELL record -q --call-sites ./moved"));
    char *before = run_well("$DWELL report --by line");
    char *after = run_well("strip moved && mv moved elsewhere && $DWELL report --by line");
    cr_assert(eq(str, after, before));
    cr_assert(has(before, " calls.c:302 "));
    free(before);
    free(after);
}

Test(e2e_sites, without_lines)
{
    free(run_well("$DWELL record -q --call-sites $PROGRAMS/sites/calls-gcc-stripped"));
    char *out = run_well(
        "$DWELL report --by line --format csv | tr -d '\\r' | awk -F, '$5 == \"calls-gcc-stripped\" { n += $9; "
        "if ($1 !~ /^calls-gcc-stripped\\+0x[0-9a-f]+$/ || $2 != \"[calls-gcc-stripped]\" || $6 || $7) print } "
        "END { print n }'");
    struct report *r = report_of("");
    char wanted[32]; /* all but main, threads, the handler and the comparisons */
    snprintf(wanted, sizeof wanted, "%u\n",
             (unsigned)report_sum(r, "function", NULL, "calls") - 1 - 3 - 1 -
                 (unsigned)report_sum(report_of("--by line --filter 'module~libc.so.6' --filter 'calls>=8'"), "source",
                                      NULL, "calls"));
    cr_assert(eq(str, out, (char *)wanted));
    report_drop(r);
    free(out);
}

/* OS calls have lines as well. */
Test(e2e_sites, lines_of_os_calls)
{
    static const char *const sessions[] = { "trace", "profile" };
    for (int i = 0; i < 2; i++) {
        free(run_well("DWELL_OS_CALLS=on $DWELL record -q --call-sites --mode %s $SAMPLES/sleeper 3 1 1", sessions[i]));
        check_against_functions();
    }
}

Test(e2e_sites, enabled_by_the_environment)
{
    free(run_well("DWELL_CALL_SITES=1 DWELL_OUTPUT=dwell.data LD_PRELOAD=$RUNTIME $PROGRAMS/sites/calls-gcc-O2"));
    check_lines(lines_of_calls, sizeof lines_of_calls / sizeof *lines_of_calls);
    char *info = run_well("$DWELL info | grep '^call sites'");
    cr_assert(has(info, " recorded; see dwell report --by line\n"), "%s", info);
    free(info);
}

Test(e2e_sites, not_recorded)
{
    free(run_well("$DWELL record -q $PROGRAMS/sites/calls-gcc-O2"));
    static const char *const commands[] = { "report --by line", "tree --by line", "callers --by line dwell.data work" };
    for (int i = 0; i < 3; i++) {
        struct ran r = run("$DWELL %s", commands[i]);
        cr_assert(eq(int, r.status, 2));
        cr_assert(eq(str, r.out, ""));
        cr_assert(eq(str, r.err, "dwell: dwell.data: recorded without call sites; record again with --call-sites\n"));
        ran_drop(&r);
    }
    struct ran r = run("$DWELL tree --by function");
    cr_assert(eq(str, r.err, "dwell: --by: 'function' is none of thread, line\n"));
    ran_drop(&r);
}

/* In any program, each call has its line. Without --by line, reports equal those of other sessions. */
Test(e2e_sites, lines_of_all_kinds_of_programs)
{
    static const char *const programs[] = {
        "$SAMPLES/threads 4 2000",
        "$SAMPLES/processes 2 2",
        "$SAMPLES/cplusplus",
        "$PROGRAMS/stacks/stacks",
        "$PROGRAMS/deep",
        "$PROGRAMS/frames/leaving-gcc-O2",
        "$PROGRAMS/frames/exceptions-gcc-O2",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t m = 0; m < 3; m++) {
            struct ran alone = run("%s", programs[i]),
                       ran = run("$DWELL record -q --call-sites --mode %s %s", modes[m], programs[i]);
            cr_assert(eq(int, ran.status, alone.status), "%s %s: %s", modes[m], programs[i], ran.err);
            ran_drop(&alone);
            ran_drop(&ran);
            check_against_functions();
            struct report *r = report_of("");
            cr_assert(eq(u64, report_session(r, "lost_events"), 0));
            check_sums(r, "function");
            report_drop(r);
        }
}

/* Handlers that interrupt the probes do not change the lines of the interrupted calls. In trace, each call's line is
 * relative to the function of the open call. */
Test(e2e_sites, lines_with_signals)
{
    for (size_t m = 0; m < 3; m++) {
        char *out = run_well("$DWELL record -q --call-sites --mode %s $PROGRAMS/timer 1000000", modes[m]);
        char *lines =
            run_well("$DWELL report --by line --format csv | tr -d '\\r' | awk -F, 'NR > 1 && $3 !~ /handler/ "
                     "{ print $2, $3, $9 }' | LC_ALL=C sort");
        cr_assert(has(lines, "main middle 1000000\nmiddle leaf 1000000\nmiddle leaf 1000000\n"), "%s", lines);
        free(lines);
        lines = run_well(
            "$DWELL report --by line --format csv | tr -d '\\r' | awk -F, '$3 == \"handler_leaf\" { print $2, $9 }'");
        char wanted[64];
        snprintf(wanted, sizeof wanted, "handler %llu\n", (unsigned long long)truth(out, "handler_leaf"));
        cr_assert(eq(str, lines, (char *)wanted), "%s", modes[m]);
        free(lines);
        free(out);
    }
}

/* The bytes that docs/runtime.md gives: an enter has 10 bytes if its site is within 64 KiB of the caller. */
Test(e2e_sites, bytes_for_each_call)
{
    free(run_well("$DWELL record -q --call-sites -o with $SAMPLES/fib 30 && $DWELL record -q $SAMPLES/fib 30"));
    struct report *r = report_of("");
    const uint64_t calls = report_sum(r, "function", "fib", "calls");
    report_drop(r);
    const double usual = (double)event_bytes("dwell.data") / (double)calls;
    cr_assert(epsilon_eq(dbl, usual, 8, 0.1));
    cr_assert(epsilon_eq(dbl, (double)event_bytes("with") / (double)calls, usual + 4, 0.1));
}
