/* The waits in a page of dwell view: what dwell waits, dwell critical and dwell whatif say of a hand-written session.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed.h"
#include "support/wakes.h"

TestSuite(e2e_view_waits, .timeout = 300);

static void view_waits_save(struct writer *w)
{
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
}

/* The third thread holds a mutex that the second one waits for, and wakes the first one. That one then waits for nobody
 * that is known. */
static void view_waits_write(void)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    wakes_call(w, 110, 200, OBJECT_CONDITION, 0x5000, 0);
    wakes_call(w, 210, 240, OBJECT_CONDITION, 0x7000, 0);
    wakes_thread_ends(w, 1, 300);
    wakes_thread_begins(w, 2, 10, WAKES_MAIN);
    wakes_call(w, 20, 100, OBJECT_MUTEX, 0x6000, 102);
    wakes_thread_ends(w, 2, 300);
    wakes_thread_begins(w, 3, 10, WAKES_WORK);
    wakes_act(w, 70, 80, OBJECT_MUTEX, 0x6000);
    wakes_act(w, 170, 180, OBJECT_CONDITION, 0x5000);
    wakes_thread_ends(w, 3, 250);
    view_waits_save(w);
}

static struct viewed_page view_waits_page(const char *options)
{
    free(run_well("$DWELL view --no-open --force -o page.html %s", options));
    return viewed_page(test_path("page.html"));
}

/* NULL if the page has none. */
static const struct viewed *view_waits_block(const struct viewed_page *page)
{
    struct json_object *at = viewed_get(viewed_session(page, 0)->header, "waits");
    return at ? viewed_block(page, 0, (unsigned)json_object_get_uint64(viewed_get(at, "block"))) : NULL;
}

/* The columns of all rows of a table, as in "1 2 3, 4 5 6". */
static void view_waits_expect(const struct viewed *v, const char *table, const char *const *columns, const char *wanted)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (size_t row = 0; row < viewed_rows(v, table); row++)
        for (size_t i = 0; columns[i]; i++)
            fprintf(out, "%s%.0f", i ? " " : row ? ", " : "", viewed_number(v, table, columns[i], row));
    need_stream_end(out);
    cr_assert(eq(str, text, (char *)wanted), "%s", table);
    free(text);
}

static const char *view_waits_text(const struct viewed *v, const char *table, const char *column, size_t row)
{
    const size_t number = (size_t)viewed_number(v, table, column, row);
    return number ? json_object_get_string(json_object_array_get_idx(viewed_get(v->header, "texts"), number - 1)) : "";
}

Test(e2e_view_waits, single_waits_and_sums)
{
    view_waits_write();
    struct viewed_page page = view_waits_page("");
    const struct viewed *v = view_waits_block(&page);
    cr_assert(json_object_get_boolean(viewed_get(v->header, "causes")));
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(v->header, "waits")), 3));
    view_waits_expect(
        v, "waits",
        (const char *const[]){ "thread", "begin", "end", "waker", "woken", "cause", "by_path", "by_lock", NULL },
        "0 115 195 2 180 2 0 0, 1 25 95 2 80 1 1 1, 0 215 235 -1 0 0 2 2");
    view_waits_expect(
        v, "edges",
        (const char *const[]){ "thread", "by_lock", "cause_thread", "cause", "waits", "total", "max", NULL },
        "0 0 2 2 1 80 80, 1 1 2 1 1 70 70, 0 2 -1 0 1 20 20");
    view_waits_expect(v, "by_path", (const char *const[]){ "waits", "total", "max", NULL },
                      "1 80 80, 1 70 70, 1 20 20");
    cr_assert(eq(str, (char *)view_waits_text(v, "by_path", "waits_for", 1), "mutex 0x6000"));
    cr_assert(eq(str, (char *)view_waits_text(v, "by_path", "cause_path", 1), "work"));
    cr_assert(eq(str, (char *)view_waits_text(v, "by_path", "cause", 2), "none"));
    cr_assert(eq(str, (char *)view_waits_text(v, "by_thread", "thread", 0), "main#1"));
    cr_assert(eq(str, (char *)view_waits_text(v, "by_path", "thread", 1), "main#2"));
    cr_assert(eq(str, (char *)view_waits_text(v, "by_path", "cause_thread", 1), "work#3"));
    viewed_page_drop(&page);
}

/* The path of the first thread goes over the act of the third one. */
Test(e2e_view_waits, critical_path_and_ranking)
{
    view_waits_write();
    struct viewed_page page = view_waits_page("");
    const struct viewed *v = view_waits_block(&page);
    struct json_object *critical = viewed_get(v->header, "critical");
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(critical, "from")), 10));
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(critical, "to")), 300));
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(critical, "replayed")), 290));
    view_waits_expect(v, "segments", (const char *const[]){ "thread", "begin", "end", "place", NULL },
                      "2 10 180 0, 0 180 300 0");
    view_waits_expect(v, "critical", (const char *const[]){ "place", "work", "runnable", "outside", NULL },
                      "0 150 0 0, 0 70 0 0, 0 15 15 20, 0 20 0 0");
    view_waits_expect(v, "slack", (const char *const[]){ "thread", "on_path", "slack", NULL },
                      "0 120 65, 1 0 55, 2 170 50");
    view_waits_expect(v, "ranking", (const char *const[]){ "time", "less_10", "less_50", "least_50", "less_100", NULL },
                      "220 275 210 190 210, 380 283 255 235 220, 20 288 280 280 270, 30 289 282 275 275");
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(critical, "unknown")), 20));
    cr_assert(json_object_get_boolean(viewed_get(critical, "ranged")));
    viewed_page_drop(&page);
}

/* The path needs the whole session. A part has its own waits. */
Test(e2e_view_waits, parts)
{
    view_waits_write();
    struct viewed_page page = view_waits_page("--from 105ns");
    const struct viewed *v = view_waits_block(&page);
    view_waits_expect(v, "waits", (const char *const[]){ "thread", "begin", "waker", "woken", NULL },
                      "0 115 2 180, 0 215 -1 0");
    cr_assert(viewed_get(v->header, "critical") == NULL);
    viewed_page_drop(&page);
    page = view_waits_page("--thread 100 --thread 101");
    v = view_waits_block(&page);
    view_waits_expect(v, "waits", (const char *const[]){ "thread", "waker", "cause", NULL }, "0 -1 2, 1 -1 1, 0 -1 0");
    view_waits_expect(v, "edges", (const char *const[]){ "thread", "cause_thread", "cause", NULL },
                      "0 -1 2, 1 -1 1, 0 -1 0");
    viewed_page_drop(&page);
    page = view_waits_page("--detail 0");
    v = view_waits_block(&page);
    cr_assert(eq(sz, viewed_rows(v, "waits"), 0));
    cr_assert(eq(sz, viewed_rows(v, "by_path"), 3));
    viewed_page_drop(&page);
}

/* Old sessions have no causes, and mode profile has no single waits. */
Test(e2e_view_waits, without_causes)
{
    struct writer *w = wakes_new();
    write_header(w, 176, 0, 4);
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    wakes_call(w, 110, 200, 0, 0, 0);
    wakes_thread_ends(w, 1, 300);
    view_waits_save(w);
    struct viewed_page page = view_waits_page("");
    const struct viewed *v = view_waits_block(&page);
    cr_assert(not(json_object_get_boolean(viewed_get(v->header, "causes"))));
    cr_assert(json_object_get_boolean(viewed_get(v->header, "counted")));
    view_waits_expect(v, "waits", (const char *const[]){ "begin", "end", "waker", "cause", NULL }, "115 195 -1 0");
    cr_assert(viewed_get(v->header, "critical") == NULL);
    viewed_page_drop(&page);
    free(run_well("$DWELL record -q --mode=profile $SAMPLES/threads 2 10"));
    page = view_waits_page("");
    v = view_waits_block(&page);
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(v->header, "waits")), 0));
    cr_assert(eq(sz, viewed_rows(v, "waits"), 0));
    viewed_page_drop(&page);
}

/* The page holds the longest waits only, and the largest rows. */
Test(e2e_view_waits, many_waits)
{
    enum { WAITS = 21000, LENGTH = 100 };
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    for (uint64_t i = 0; i < WAITS; i++)
        wakes_call(w, 1000 * (i + 1), 1000 * (i + 1) + LENGTH + i % 700, OBJECT_CONDITION, 0x5000 + i, 0);
    wakes_thread_ends(w, 1, 1000 * (WAITS + 2));
    view_waits_save(w);
    struct viewed_page page = view_waits_page("");
    const struct viewed *v = view_waits_block(&page);
    struct json_object *left_out = viewed_get(v->header, "left_out");
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(v->header, "waits")), WAITS));
    cr_assert(eq(sz, viewed_rows(v, "waits"), 20000));
    cr_assert(eq(dbl, viewed_number(v, "waits", "end", 0) - viewed_number(v, "waits", "begin", 0), LENGTH + 699 - 10));
    cr_assert(eq(sz, viewed_rows(v, "by_path"), 1));
    cr_assert(eq(sz, viewed_rows(v, "by_lock"), 2000));
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(left_out, "by_lock")), WAITS - 2000));
    cr_assert(eq(sz, viewed_rows(v, "edges"), 2000));
    viewed_page_drop(&page);
    page = view_waits_page("--detail 64K");
    cr_assert(eq(sz, viewed_rows(view_waits_block(&page), "waits"), (64 << 10) / 8 / 32));
    viewed_page_drop(&page);
}
