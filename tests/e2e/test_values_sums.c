/* Mode profile with values: the sums by value are those of the calls that the program prints. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_values_sums, .timeout = 300);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/values/"
#define RECORD "$DWELL record -q --mode profile "
#define ALL "kind,n,name,negative,part"

/* Rows of one value, as "value|calls", without those of the handler. */
#define ROWS(what, session)                                                                                            \
    "$DWELL values --each -n 0 --raw --format json 'handle:" what "' " session                                         \
    " | jq -r '.rows[] | \"\\(.values[\"" what                                                                         \
    "\"])|\\(.calls)\"' | grep -v -e '^99|' -e '^handler|' -e '^5|' | LC_ALL=C sort"

static void sums_build(const char *compile)
{
    free(run_well("%s -g -finstrument-functions -o summed " SOURCES "summed.c -lpthread", compile));
}

static void sums_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

static void sums_compare(const char *how, const char *rows, int column)
{
    char *ours = run_well("%s", rows),
         *theirs = run_well("cut -d'|' -f%d printed | sed 's/^-1$/%s/; s/^7$/%s/; s/^1000000$/%s/' | LC_ALL=C sort | "
                            "uniq -c | sed 's/^ *\\([0-9]*\\) \\(.*\\)/\\2|\\1/' | LC_ALL=C sort",
                            column, column == 1 ? "GET" : "-1", column == 1 ? "SET" : "7",
                            column == 1 ? "DELETE" : "1000000");
    cr_assert(eq(str, ours, theirs), "%s: %s", how, rows);
    cr_assert(ne(int, *theirs, 0));
    free(ours);
    free(theirs);
}

/* What was recorded, against `printed`. */
static void sums_check(const char *how, bool signals)
{
    sums_compare(how, ROWS("n", ""), 2);
    sums_compare(how, ROWS("negative", ""), 4);
    if (!signals)
        sums_compare(how, ROWS("kind", ""), 1);
    sums_compare(how, ROWS("name", "") " | sed 's/\\.\\.\\.|/|/'", 3);
    if (!signals)
        sums_compare(how, ROWS("part", "") " | sed 's/-1.0*[0-9]*e/-1e/'", 5);
}

static void sums_record(const char *how, const char *options, const char *program)
{
    free(run_well(RECORD "%s --values 'handle:" ALL "' %s > printed", options, program));
    sums_check(how, strstr(program, "signals") != NULL);
}

Test(e2e_values_sums, of_threads_and_forked_processes)
{
    static const char *const compile[] = { "gcc -O0", "gcc -O2", "clang -O2" };
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++) {
        sums_build(compile[i]);
        sums_record(compile[i], "", "./summed calls 20000");
    }
    static const char *const options[] = { "--call-sites",       "--os-events none", "--os-events rseq",
                                           "--histogram handle", "--overhead none",  "--overhead 1%",
                                           "--suppress leaf",    "--sample 1000",    "--level counted=leaf" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sums_record(options[i], options[i], "./summed calls 5000");
}

Test(e2e_values_sums, under_signals)
{
    sums_build("gcc -O2");
    sums_record("signals", "", "./summed signals 200000");
    sums_expect("$DWELL values handle:name --format json | jq '[.rows[] | select(.values.name == \"handler\")] | "
                "length'",
                "1\n");
}

/* A row has all amounts of its calls: together, they are those of the function. */
Test(e2e_values_sums, add_up_to_the_function)
{
    sums_build("gcc -O2");
    free(run_well(RECORD "--overhead none --values handle:kind ./summed calls 20000 > printed"));
    char *sums = run_well("$DWELL values handle:kind --raw --format json | jq -c '[(.rows | map(.calls) | add), "
                          "(.rows | map(.elapsed_inclusive_ns) | add)]'"),
         *function = run_well("$DWELL report --raw --format json | jq -c '.rows[] | select(.function == \"handle\") | "
                              "[.calls, .elapsed_inclusive_ns]'");
    long calls[2], elapsed[2];
    cr_assert(eq(int, sscanf(sums, "[%ld,%ld]", &calls[0], &elapsed[0]), 2), "%s", sums);
    cr_assert(eq(int, sscanf(function, "[%ld,%ld]", &calls[1], &elapsed[1]), 2), "%s", function);
    cr_assert(eq(long, calls[0], 80000));
    cr_assert(eq(long, calls[1], 80000));
    cr_assert(le(long, labs(elapsed[0] - elapsed[1]), 3)); /* each row is rounded to a nanosecond */
    free(sums);
    free(function);
}

Test(e2e_values_sums, survive_a_kill)
{
    sums_build("gcc -O2");
    free(run(RECORD "--values 'handle:" ALL "' ./summed kill 5000 > printed").out);
    sums_check("kill", false);
}

/* Of recursive calls, the outermost one counts, with all that it does. */
Test(e2e_values_sums, of_recursion)
{
    sums_build("gcc -O2 -fno-optimize-sibling-calls");
    free(run_well(RECORD "--values climb ./summed climb 12"));
    sums_expect("$DWELL values climb:steps --format json | jq -c '[.rows[] | [.values.steps, .calls]]'",
                "[[3,1],[12,2]]\n");
    sums_expect("$DWELL values climb:steps --format json | jq -r '.remarks[] | select(.code == "
                "\"calls-without-values\").text'",
                "932 calls of the function have no values, or are within another call of it, and are not shown\n");
}

/* A call path has 256 values, and one sum for the others. What came first goes on being counted. */
Test(e2e_values_sums, of_many_values)
{
    sums_build("gcc -O2");
    free(run_well(RECORD "--values other ./summed many 5000"));
    sums_expect("$DWELL values other --each -n 0 --format json | jq -c '[(.rows | length), .rows[0].values.n, "
                ".rows[0].calls, .rows[255].values.n, .rows[255].calls, .rows[256].values.n, .rows[256].calls]'",
                "[257,0,3,65025,3,null,14232]\n");
    sums_expect("$DWELL values other --each -n 0 | sed '/^$/,$d' | tail -n 1 | awk '{ print $1, $NF }'",
                "14232 (others)\n");
    sums_expect("$DWELL values other --format json | jq -r '.remarks[] | select(.code == "
                "\"calls-with-other-values\").text'",
                "14232 calls have values beyond the first ones of their call path (others)\n");
    /* The memory that they take does not grow. */
    free(run_well(RECORD "-o more.data --values other ./summed many 50000"));
    sums_expect("expr $(stat -c %s more.data) - $(stat -c %s dwell.data) '<' 65536", "1\n");
}

/* With the counters of --histogram, percentiles are known by value. */
Test(e2e_values_sums, have_percentiles)
{
    sums_build("gcc -O2");
    free(run_well(RECORD "--values handle:kind --histogram handle ./summed calls 2000 > printed"));
    sums_expect("$DWELL values handle:kind --raw --format json | jq -c '[.rows[] | .p50_ns > 0 and .p50_ns <= .p99_ns "
                "and .p99_ns <= .max_ns * 1.02]'",
                "[true,true,true]\n");
    free(run_well(RECORD "--values handle:kind ./summed calls 2000 > printed"));
    sums_expect("$DWELL values handle:kind --raw --format json | jq -c '[.rows[] | [.p50_ns, .max_ns > 0]]'",
                "[[null,true],[null,true],[null,true]]\n");
}

/* Merged sessions have the sums of both; without --with-values, none. */
Test(e2e_values_sums, merge_exactly)
{
    sums_build("gcc -O2");
    free(run_well(RECORD "-o 1.data --values 'handle:kind,n' ./summed calls 3000 > printed"));
    free(run_well(RECORD "-o 2.data --values 'handle:kind,n' ./summed calls 1000 >> printed"));
    free(run_well("$DWELL merge --with-values -o both.data 1.data 2.data"));
    sums_compare("merge", ROWS("kind", "both.data"), 1);
    sums_compare("merge", ROWS("n", "both.data"), 2);
    free(run_well("$DWELL merge -o none.data 1.data 2.data"));
    sums_expect("$DWELL values handle:kind none.data 2>&1; true",
                "dwell: no values of handle are recorded; dwell record --values 'handle' does so\n");
    sums_expect("grep -c DELETE 1.data; grep -c DELETE none.data; true", "1\n0\n");
    sums_expect("for f in both.data none.data; do $DWELL report --format json $f | jq '.rows[] | select(.function == "
                "\"handle\").calls'; done",
                "16000\n16000\n");
}

Test(e2e_values_sums, begin_while_the_program_runs)
{
    sums_build("gcc -O2");
    free(run_well("mkfifo in out; " RECORD "./summed wait 3000 < in > out & exec 3> in; read pid < out; "
                  "$DWELL control $pid values handle:n && echo >&3; exec 3>&-; wait"));
    sums_expect("$DWELL values handle:n --format json | jq -c '[.rows | map(.calls) | add]'", "[3000]\n");
    sums_expect("$DWELL report --format json | jq -c '.rows[] | select(.function == \"handle\").calls'", "6000\n");
}

/* Not what comes too late, or needs single calls. */
Test(e2e_values_sums, that_cannot_be)
{
    sums_build("gcc -O2 -fno-optimize-sibling-calls");
    sums_expect(RECORD "--values climb:return ./summed climb 3 2>&1; true",
                "dwell: --values: return of climb cannot be recorded: mode profile adds calls up before their results "
                "are known; use --mode trace or ring\n"
                "dwell: --values: nothing of that can be read; dwell values --list says why\n");
    free(run_well(RECORD "--values climb ./summed climb 3"));
    sums_expect("$DWELL info --format json | jq -c '.values.functions[] | [.values, .calls]'", "[[\"steps\"],null]\n");
    sums_expect("$DWELL info | grep ^values | sed 's/ *of summed.*//'", "values          steps in sums\n");
    sums_expect(
        "$DWELL scaling climb:steps 2>&1; $DWELL report --within 'climb: steps = 3' 2>&1; true",
        "dwell: dwell.data: recorded in mode profile, which keeps no single calls; record in mode trace or ring\n"
        "dwell: dwell.data: recorded in mode profile, so it has sums without times and cannot be cut by "
        "--within\n");
}
