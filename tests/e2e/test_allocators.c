/* dwell with another allocator than libc's, which users preload for all their programs: it works as without. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_allocators, .timeout = 300, .init = without_os_calls);

/* Memory that is not its own ends a program in jemalloc's free. */
#define OTHER "LD_PRELOAD=libjemalloc.so.2 "

static void allocators_compare(const char *command)
{
    char *usual = run_well("$DWELL %s", command), *other = run_well(OTHER "$DWELL %s", command);
    cr_assert(eq(str, other, usual), "%s", command);
    free(other);
    free(usual);
}

Test(e2e_allocators, one_that_is_preloaded)
{
    char *loaded = run_well(OTHER "grep -c jemalloc /proc/self/maps || true");
    if (atoi(loaded) == 0)
        cr_skip_test("libjemalloc2 is not installed");
    free(loaded);
    char *out = run_well(OTHER "$DWELL record -q --sample 1000 $SAMPLES/fib 12; $DWELL profile dwell.data -o sums");
    cr_assert(eq(str, out, "fib(12) = 144\ncalls fib 465\ncalls main 1\n"));
    free(out);
    struct report *r = report_of("");
    check_counts("calls fib 465\ncalls main 1\n", r, 2);
    report_drop(r);
    static const char *const commands[] = { "--help",
                                            "record --help",
                                            "report",
                                            "tree --format json sums",
                                            "callers fib",
                                            "events",
                                            "waits",
                                            "critical",
                                            "diff dwell.data sums",
                                            "info",
                                            "annotate main",
                                            "export callgrind",
                                            "export perfetto | md5sum",
                                            "export sqlite -o x.db && sqlite3 x.db .schema",
                                            "view --no-open -o page.html && wc -c <page.html" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        allocators_compare(commands[i]);
}
