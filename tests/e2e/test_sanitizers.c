/* Programs built with sanitizers run undisturbed under the runtime, and the sanitizers find the same errors. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_sanitizers, .timeout = 300);

static const char *const compilers[] = { "gcc", "clang" };
static const char *const sanitizers[] = { "address", "thread", "undefined" };

/* No message of a sanitizer, and exact counts. */
static void sanitizers_check(const char *program, const char *arguments, int least)
{
    for (int c = 0; c < 2; c++) {
        for (int s = 0; s < 3; s++) {
            struct ran r = run("$DWELL record -q $PROGRAMS/sanitized/%s-%s-%s %s", program, compilers[c], sanitizers[s],
                               arguments);
            cr_assert(eq(int, r.status, 0), "%s %s %s: %s", program, compilers[c], sanitizers[s], r.err);
            cr_assert(eq(str, r.err, ""), "%s %s %s", program, compilers[c], sanitizers[s]);
            if (least) {
                struct report *report = report_of("");
                check_counts(r.out, report, least);
                cr_assert(eq(u64, report_session(report, "lost_events"), 0));
                report_drop(report);
            }
            ran_drop(&r);
        }
    }
}

Test(e2e_sanitizers, threads_under_the_thread_sanitizer)
{
    sanitizers_check("threads", "8 2000", 4);
}

Test(e2e_sanitizers, exceptions)
{
    sanitizers_check("exceptions", "", 0);
}

static void check_found(const char *sanitizer, const char *fault, const char *message)
{
    for (int c = 0; c < 2; c++) {
        struct ran alone = run("$PROGRAMS/sanitized/faulty-%s-%s %s", compilers[c], sanitizer, fault);
        struct ran r = run("$DWELL record -q $PROGRAMS/sanitized/faulty-%s-%s %s", compilers[c], sanitizer, fault);
        cr_assert(has(alone.err, message), "%s %s alone: %s", compilers[c], fault, alone.err);
        cr_assert(has(r.err, message), "%s %s: %s", compilers[c], fault, r.err);
        cr_assert(eq(int, r.status, alone.status));
        ran_drop(&alone);
        ran_drop(&r);
    }
}

Test(e2e_sanitizers, sanitizers_find_the_same_errors)
{
    check_found("address", "leak", "100 byte(s) leaked in 1 allocation(s)");
    check_found("address", "use", "heap-use-after-free");
    check_found("thread", "race", "data race");
}
