/* dwell scaling, byte for byte, on hand-written sessions: a function whose pairs take n^2 nanoseconds. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

enum { MAIN = 0x401000, SORT = 0x401100, COMPARE = 0x401200, SWAP = 0x401300, CALLS = 6, OWN = 1000 };

static void scaling_write_names(struct writer *w)
{
    static const char *const names[] = { "main", "sort", "compare", "swap" };
    write_process(w, 1, 100, "/bin/program");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/program");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 0, "main");
    write_symbol_module(w, 0, "/bin/program");
    for (uint64_t i = 0; i < sizeof names / sizeof *names; i++)
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x100, names[i]);
}

static bool scaling_is_linear, scaling_is_off_cpu;

/* How long the call compares. Another program disturbs all calls with 400. */
static uint64_t scaling_compares(uint64_t n)
{
    return scaling_is_linear ? 100 * n : n == 400 ? 4 * n * n : n * n;
}

/* A call takes 1 us, n^2 ns in compare, and 10 n ns in swap. Returns its end. */
static uint64_t scaling_write_sort(struct writer *w, uint64_t begin, uint64_t n)
{
    uint64_t now = begin;
    write_enter(w, now, SORT);
    if (scaling_is_off_cpu)
        write_off_cpu(w, false, now, 400);
    write_enter(w, now += OWN, COMPARE);
    write_exit(w, now += scaling_compares(n));
    write_enter(w, now, SWAP);
    if (scaling_is_off_cpu && n)
        write_off_cpu(w, n == 100, now, 3 * n);
    write_exit(w, now += 10 * n);
    write_exit(w, now);
    return now;
}

struct scaling_call {
    uint64_t begin;
    int64_t values[2]; /* n, and how often it was called */
};

/* Sizes from `first`, doubled `sizes` - 1 times. A last call has the size 0. */
static void scaling_save(const char *name, uint64_t first, int sizes)
{
    static const char *const values[] = { "n", "number" };
    struct scaling_call calls[100];
    size_t count = 0;
    uint64_t now = 10;
    struct writer *w = writer_new();
    write_values_plan(w, 0x1100, values, 2);
    scaling_write_names(w);
    begin_events(w, 1, 1, 0, now, NULL, 0);
    write_enter(w, now, MAIN);
    for (int size = 0; size <= sizes; size++)
        for (int call = 0; call < (size < sizes ? CALLS : 1); call++) {
            const uint64_t n = size < sizes ? first << size : 0;
            calls[count] = (struct scaling_call){ now += 100, { (int64_t)n, (int64_t)count } };
            count++;
            now = scaling_write_sort(w, now, n);
        }
    write_exit(w, now += 100);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, now);
    begin_values(w, 1, 1);
    for (size_t i = 0; i < count; i++)
        write_values(w, calls[i].begin, calls[i].values, 2);
    end_values(w);
    writer_save(w, test_path(name));
    writer_free(w);
}

TestSuite(golden_scaling, .timeout = 300);

Test(golden_scaling, formats)
{
    scaling_save("small", 100, 7);
    check_golden("scaling sort:n small --predict 1000000 --predict 1600", "scaling.txt");
    check_golden("scaling sort:n small --format csv", "scaling.csv");
    check_golden("scaling sort:n small --format json --predict 1000000", "scaling.json");
}

Test(golden_scaling, models)
{
    scaling_save("small", 100, 7);
    check_golden("scaling sort:n small --model usual --predict 1000000", "scaling-usual.txt");
    check_golden("scaling sort:n small --model usual --format json", "scaling-usual.json");
}

/* swap does not get n. */
Test(golden_scaling, total)
{
    scaling_save("small", 100, 7);
    check_golden("scaling --total swap sort:n small", "scaling-total.txt");
}

Test(golden_scaling, several_sessions)
{
    scaling_save("small", 100, 2);
    scaling_save("large", 800, 4);
    check_golden("scaling sort:n small large", "scaling-several.txt");
}

/* Each of 42 calls has a number of its own: ranges. */
Test(golden_scaling, ranges)
{
    scaling_save("small", 100, 7);
    check_golden("scaling sort:number small --format csv", "scaling-ranges.csv");
}

Test(golden_scaling, values_of_the_calls)
{
    scaling_save("small", 100, 2);
    check_golden("values sort:n small --format json", "values.json");
    check_golden("values sort:n small", "values.txt");
    check_golden("values sort:number,n small --format json --limit 4", "values-by-two.json");
    check_golden("values sort --by n,number small --limit 9", "values-by-two.txt");
}

/* ---- diff --fail-if ---- */

static void scaling_save_sides(void)
{
    scaling_save("small", 100, 2);
    scaling_save("large", 400, 5);
    scaling_is_linear = true;
    scaling_save("small-1", 100, 2);
    scaling_save("large-1", 400, 5);
    scaling_is_linear = false;
}

static void scaling_compare(const char *arguments, int status, const char *said)
{
    struct ran r = run("$DWELL diff %s", arguments);
    cr_expect(eq(int, r.status, status), "%s", arguments);
    cr_expect(eq(str, r.err, (char *)said), "%s", arguments);
    ran_drop(&r);
}

Test(golden_scaling, an_exponent_that_grows_fails)
{
    scaling_save_sides();
    scaling_compare("small-1 large-1 -- small large --fail-if 'exponent(sort:n) > +0.2'", 1,
                    "dwell: --fail-if 'exponent(sort:n) > +0.2': the exponent has changed\n"
                    "  sort: n^1.00 (95 %: 1.00 to 1.00) -> n^1.99 (95 %: 1.98 to 2.00) (+0.99)\n");
    scaling_compare("small large -- small-1 large-1 --fail-if 'exponent(sort:n) < -0.5'", 1,
                    "dwell: --fail-if 'exponent(sort:n) < -0.5': the exponent has changed\n"
                    "  sort: n^1.99 (95 %: 1.98 to 2.00) -> n^1.00 (95 %: 1.00 to 1.00) (-0.99)\n");
    scaling_compare("small large -- small-1 large-1 --fail-if 'exponent(sort:n) > +0.2'", 0, "");
    scaling_compare("small-1 large-1 -- small large --fail-if 'exponent(sort:n) > 1.5'", 0, "");
}

Test(golden_scaling, chance_fails_no_exponent)
{
    scaling_save("one", 100, 7);
    scaling_save("other", 110, 7);
    scaling_compare("one other --fail-if 'exponent(sort:n) > -0.5'", 0,
                    "dwell: --fail-if 'exponent(sort:n) > -0.5': left out, as the intervals overlap\n"
                    "  sort: n^1.99 (95 %: 1.98 to 2.00) -> n^1.99 (95 %: 1.99 to 2.00) (+0.00)\n");
}

Test(golden_scaling, exponents_that_cannot_be_compared)
{
    scaling_save_sides();
    scaling_compare(
        "large large-1 --fail-if 'exponent(sort:n)'", 2,
        "dwell: --fail-if 'exponent(sort:n)': such a condition is a function, a value, > or <, and a change of "
        "the exponent, as in 'exponent(sort:n) > +0.2'\n");
    scaling_compare(
        "large large-1 --fail-if 'exponent(sort:n) = 1'", 2,
        "dwell: --fail-if 'exponent(sort:n) = 1': such a condition is a function, a value, > or <, and a change of "
        "the exponent, as in 'exponent(sort:n) > +0.2'\n");
    scaling_compare(
        "small large --fail-if 'exponent(sort:n) > 1'", 2,
        "dwell: --fail-if 'exponent(sort:n) > 1': before: a law needs calls with three different values above zero, "
        "and times above those of the probes; there are 2\n");
    scaling_compare(
        "large large-1 --fail-if 'exponent(sort:size) > 1'", 2,
        "dwell: --fail-if 'exponent(sort:size) > 1': large: 'size' is not recorded of that function; what is: n, "
        "number\n");
    scaling_compare(
        "large large-1 --fail-if 'exponent(swap:n) > 1'", 2,
        "dwell: --fail-if 'exponent(swap:n) > 1': large: no values of swap are recorded; dwell record --values 'swap' "
        "does so\n");
}

static void scaling_refuses(const char *arguments, const char *said)
{
    struct ran r = run("$DWELL scaling %s", arguments);
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, (char *)said));
    ran_drop(&r);
}

Test(golden_scaling, errors)
{
    scaling_save("small", 100, 7);
    scaling_save("few", 100, 2);
    scaling_refuses("sort small",
                    "dwell: several values are recorded of that function; name one as FUNCTION:WHAT: n, number\n");
    scaling_refuses("swap:n small", "dwell: no values of swap are recorded; dwell record --values 'swap' does so\n");
    scaling_refuses("sort:size small", "dwell: 'size' is not recorded of that function; what is: n, number\n");
    scaling_refuses("sort:n few",
                    "dwell: a law needs calls with three different values above zero, and times above those of the "
                    "probes; there are 2\n");
    scaling_refuses("sort:n small --predict 0", "dwell: --predict: '0' is no number above zero\n");
}

/* sort is blocked for 400 ns, and its swap for 3 n, which is preempted if n is 100. The rows add up to the report. */
Test(golden_scaling, values_have_cpu_times)
{
    scaling_is_off_cpu = true;
    scaling_save("small", 100, 2);
    char *text = run_well("$DWELL values sort:n small --format json | jq -c '[.rows[] | .cpu_inclusive_ns]'");
    cr_assert(eq(str, text, "[600,67800,252000]\n"));
    free(text);
    text = run_well("$DWELL values sort:n small --format json | jq '[.rows[].cpu_inclusive_ns] | add'; "
                    "$DWELL report small --format json | jq '.rows[] | select(.function == \"sort\") | "
                    ".cpu_inclusive_ns'");
    cr_assert(eq(str, text, "320400\n320400\n"));
    free(text);
    text = run_well("$DWELL values sort:n small --format json | jq -c '[.rows[].blocked_inclusive_ns]'");
    cr_assert(eq(str, text, "[400,2400,6000]\n"));
    free(text);
}
