/* The lines of a page of `dwell view`: with call sites the rows of `dwell report --by line`, and none without. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed_report.h"

TestSuite(e2e_view_lines, .timeout = 300);

static void view_lines_check(const char *session)
{
    free(run_well("$DWELL view --no-config --no-open -o page.html %s", session));
    struct viewed_page page = viewed_page(test_path("page.html"));
    check_viewed_lines(&page, session);
    viewed_page_drop(&page);
}

Test(e2e_view_lines, values_of_the_report)
{
    static const char *const programs[] = { "$SAMPLES/fib 15", "$SAMPLES/cplusplus", "$SAMPLES/threads 3 300",
                                            "$SAMPLES/processes 2 50", "$PROGRAMS/sites/objects-gcc-O2" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        free(run_well("$DWELL record -q --call-sites %s", programs[i]));
        view_lines_check("dwell.data");
    }
}

Test(e2e_view_lines, modes_and_parts)
{
    free(run_well("$DWELL record -q --call-sites --mode profile $SAMPLES/cplusplus"));
    view_lines_check("dwell.data");
    free(run_well("$DWELL record -q --call-sites --mode ring=64K $SAMPLES/fib 20"));
    /* The callees of a recursive function are below the call site that a worker sees first. With several workers, times
     * without probes then differ by some nanoseconds from run to run. */
    view_lines_check("--jobs 1 dwell.data");
    free(run_well("$DWELL record -q --call-sites $SAMPLES/threads 3 3000"));
    view_lines_check("--raw dwell.data");
    view_lines_check("--from 200us --to 700us dwell.data");
    view_lines_check("--root worker dwell.data");
    view_lines_check("--suppress run_wave dwell.data");
}

/* The innermost instrumented function is the caller of the lines from which it calls. */
Test(e2e_view_lines, callers)
{
    free(run_well("$DWELL record -q --call-sites $SAMPLES/fib 10 && $DWELL view --no-open -o page.html"));
    struct viewed_page page = viewed_page(test_path("page.html"));
    struct json_object *header = viewed_session(&page, 0)->header;
    struct json_object *functions = viewed_get(header, "functions");
    const struct viewed *block =
        viewed_block(&page, 0, (unsigned)json_object_get_int(viewed_get(viewed_get(header, "lines"), "block")));
    size_t own = 0;
    for (size_t i = 0; i < viewed_rows(block, "calls"); i++) {
        const double caller = viewed_number(block, "calls", "caller", i);
        struct json_object *line = json_object_array_get_idx(viewed_get(block->header, "lines"),
                                                             (size_t)viewed_number(block, "calls", "line", i));
        cr_assert(lt(dbl, caller, (double)json_object_array_length(functions)));
        if (caller < 0)
            continue;
        struct json_object *function = json_object_array_get_idx(functions, (size_t)caller);
        cr_assert(eq(str, (char *)viewed_text(line, "function"), (char *)viewed_text(function, "name")));
        own++;
    }
    cr_assert(ge(sz, own, 2)); /* main calls fib, and fib calls itself */
    viewed_page_drop(&page);
}

Test(e2e_view_lines, without_call_sites)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 10"));
    check_page("dwell.data");
    struct viewed_page page = viewed_page(test_path("page.html"));
    cr_assert(viewed_get(viewed_session(&page, 0)->header, "lines") == NULL);
    viewed_page_drop(&page);
}
