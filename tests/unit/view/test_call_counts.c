/* The durations of calls in a page: exact while they are few, within half a percent and the same for any number of
 * workers if they are many. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/histogram.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"
#include "support/viewed.h"
#include "view/page_session.h"

TestSuite(unit_call_counts, .timeout = 300);

enum { F = 0x1000, G = 0x2000, IN_CHUNK = 400, PLENTY = 64 << 20 };

/* Calls of F one after the other, of 1000, 1001, 1002 ... ticks, and one of G at the end. */
static void save_calls(unsigned count)
{
    struct writer *w = writer_new();
    uint64_t time = 1000;
    for (unsigned i = 0; i < count; i++) {
        if (i % IN_CHUNK == 0)
            begin_events(w, 1, 1, i / IN_CHUNK, time, NULL, 0);
        write_enter(w, time, F);
        write_exit(w, time += 1000 + i);
        if (i % IN_CHUNK == IN_CHUNK - 1)
            end_events(w, true);
    }
    if (count % IN_CHUNK == 0)
        begin_events(w, 1, 1, count / IN_CHUNK, time, NULL, 0);
    write_enter(w, time, G);
    write_exit(w, time += 7);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, time);
    writer_save(w, test_path("calls.dwell"));
    writer_free(w);
}

/* The block of calls, and its description. The caller drops both. */
static struct viewed calls_of(unsigned jobs, size_t detail, struct viewed *main)
{
    struct analysis analysis;
    struct view_session *view;
    load_whole(&analysis, test_path("calls.dwell"), jobs);
    EXPECT_SUCCESS(view = view_session_new(&(struct view_inputs){ .session = &analysis },
                                           &(struct view_options){ .detail = detail }, &error));
    *main = viewed_packed(view->main.bytes, view->main.length);
    const size_t block = json_object_get_uint64(viewed_get(viewed_get(main->header, "calls"), "block"));
    struct viewed calls = viewed_packed(view->blocks[block].bytes, view->blocks[block].length);
    view_session_free(view);
    analysis_drop(&analysis);
    return calls;
}

/* The sum of a column. */
static double sum_of(const struct viewed *v, const char *column)
{
    double sum = 0;
    for (size_t i = 0; i < viewed_rows(v, "calls"); i++)
        sum += viewed_number(v, "calls", column, i);
    return sum;
}

Test(unit_call_counts, few_are_exact)
{
    save_calls(900);
    struct viewed main, calls = calls_of(1, PLENTY, &main);
    struct json_object *described = viewed_get(main.header, "calls");
    cr_assert(not(json_object_get_boolean(viewed_get(described, "rounded"))));
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(described, "periods")), 1));
    cr_assert(eq(sz, viewed_rows(&calls, "calls"), 901));
    cr_assert(eq(dbl, sum_of(&calls, "calls"), 901));
    cr_assert(eq(dbl, sum_of(&calls, "ticks"), 900 * 1000 + 900 * 899 / 2 + 7));
    viewed_drop(&calls);
    viewed_drop(&main);
}

Test(unit_call_counts, many_are_rounded_whoever_counts_them)
{
    enum { CALLS = 40000 };
    save_calls(CALLS);
    struct viewed mains[2], calls[2];
    for (unsigned i = 0; i < 2; i++) {
        calls[i] = calls_of(1 + 3 * i, PLENTY, &mains[i]);
        cr_assert(json_object_get_boolean(viewed_get(viewed_get(mains[i].header, "calls"), "rounded")));
        cr_assert(eq(dbl, sum_of(&calls[i], "calls"), CALLS + 1));
    }
    const size_t rows = viewed_rows(&calls[0], "calls");
    cr_assert(eq(sz, rows, viewed_rows(&calls[1], "calls")));
    cr_assert(lt(sz, rows, CALLS / 4));
    for (size_t i = 0; i < rows; i++) {
        const uint64_t ticks = (uint64_t)viewed_number(&calls[0], "calls", "ticks", i);
        cr_assert(eq(u64, ticks, histogram_round(ticks)));
        cr_assert(eq(u64, ticks, (uint64_t)viewed_number(&calls[1], "calls", "ticks", i)));
        cr_assert(
            eq(dbl, viewed_number(&calls[0], "calls", "calls", i), viewed_number(&calls[1], "calls", "calls", i)));
    }
    for (unsigned i = 0; i < 2; i++) {
        viewed_drop(&calls[i]);
        viewed_drop(&mains[i]);
    }
}

/* Where even rounded rows do not fit, periods are joined, and no call is lost. */
Test(unit_call_counts, periods_are_joined_until_the_block_fits)
{
    enum { CALLS = 40000, SMALL = 160000 }; /* the block may have an eighth of it */
    save_calls(CALLS);
    struct viewed main, calls = calls_of(2, SMALL, &main);
    struct json_object *described = viewed_get(main.header, "calls");
    cr_assert(json_object_get_boolean(viewed_get(described, "rounded")));
    cr_assert(gt(u64, json_object_get_uint64(viewed_get(described, "periods")), 1));
    cr_assert(eq(dbl, sum_of(&calls, "calls"), CALLS + 1));
    viewed_drop(&calls);
    viewed_drop(&main);
}
