/* The timeline of a page: exact spans of handmade sessions, and of random ones with any chunks. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/selection_request.h"
#include "base/numbers.h"
#include "support/exported.h"
#include "support/load.h"
#include "support/model.h"
#include "support/scenario.h"
#include "support/success.h"
#include "support/viewed.h"
#include "support/wakes.h"
#include "view/page_session.h"

TestSuite(unit_view_timeline, .timeout = 300);

enum { F = 0x1000, G = 0x2000, H = 0x3000, PLENTY = 64 << 20 };

/* A session as a page has it, unpacked. */
struct shown {
    struct viewed main;
    struct viewed *blocks;
    size_t block_count;
};

static struct json_object *timeline_of(const struct shown *s)
{
    return viewed_get(s->main.header, "timeline");
}

static uint64_t number_of(struct json_object *object, const char *key)
{
    return json_object_get_uint64(viewed_get(object, key));
}

/* The sums of a thread's bins are its values in the table of threads. */
static void expect_sums_of_activity(const struct shown *s, size_t thread)
{
    uint64_t cpu = 0, blocked = 0, preempted = 0;
    for (size_t i = 0; i < viewed_rows(&s->main, "activity"); i++) {
        if ((size_t)viewed_number(&s->main, "activity", "thread", i) != thread)
            continue;
        const uint64_t own[] = { (uint64_t)viewed_number(&s->main, "activity", "cpu", i),
                                 (uint64_t)viewed_number(&s->main, "activity", "blocked", i),
                                 (uint64_t)viewed_number(&s->main, "activity", "preempted", i) };
        cpu += own[0];
        blocked += own[1];
        preempted += own[2];
    }
    const uint64_t elapsed = (uint64_t)viewed_number(&s->main, "threads", "elapsed_inclusive", thread);
    cr_assert(eq(u64, blocked, (uint64_t)viewed_number(&s->main, "threads", "blocked_inclusive", thread)));
    cr_assert(eq(u64, preempted, (uint64_t)viewed_number(&s->main, "threads", "preempted_inclusive", thread)));
    cr_assert(eq(u64, cpu, less(less(elapsed, blocked), preempted)));
}

static struct shown shown_of(struct analysis *analysis, size_t detail)
{
    struct view_session *view;
    EXPECT_SUCCESS(view = view_session_new(&(struct view_inputs){ .session = analysis },
                                           &(struct view_options){ .detail = detail }, &error));
    struct shown s = { .main = viewed_packed(view->main.bytes, view->main.length), .block_count = view->block_count };
    static const char *const others[] = { "parts", "calls", "sources" }; /* their blocks follow */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        s.block_count -= viewed_get(s.main.header, others[i]) != NULL;
    struct json_object *why = viewed_get(s.main.header, "why");
    s.block_count -= why && viewed_get(why, "block");
    s.blocks = calloc(s.block_count + 1, sizeof *s.blocks);
    for (size_t i = 0; i < s.block_count; i++)
        s.blocks[i] = viewed_packed(view->blocks[i].bytes, view->blocks[i].length);
    view_session_free(view);
    for (size_t i = 0; timeline_of(&s) && i < viewed_rows(&s.main, "threads"); i++)
        expect_sums_of_activity(&s, i);
    return s;
}

static void shown_drop(struct shown *s)
{
    viewed_drop(&s->main);
    for (size_t i = 0; i < s->block_count; i++)
        viewed_drop(&s->blocks[i]);
    free(s->blocks);
}

/* A span before it was cut at the borders of stretches. */
struct span {
    unsigned thread, depth; /* for times off the CPU, the depth is their kind */
    int function;
    uint64_t start, length;
    unsigned count;
};

static struct span span_of(const struct viewed *block, const char *table, size_t row)
{
    const bool calls = strcmp(table, "spans") == 0;
    const uint64_t stretch = number_of(block->header, "stretch"), begin = number_of(block->header, "begin");
    const uint64_t start = (uint64_t)viewed_number(block, table, "start", row);
    const uint64_t length = (uint64_t)viewed_number(block, table, "length", row);
    const uint64_t before = (uint64_t)viewed_number(block, table, "before", row);
    const uint64_t after = (uint64_t)viewed_number(block, table, "after", row);
    cr_assert(le(u64, start + length, stretch));
    cr_assert(before == 0 || start == 0);
    cr_assert(after == 0 || start + length == stretch);
    return (struct span){
        .thread = (unsigned)viewed_number(block, table, "thread", row),
        .depth = (unsigned)viewed_number(block, table, calls ? "depth" : "kind", row),
        .function = calls ? (int)viewed_number(block, table, "function", row) : 0,
        .start = begin + start - before,
        .length = before + length + after,
        .count = (unsigned)viewed_number(block, table, "count", row),
    };
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->length > y->length) - (x->length < y->length);
}

/* The block that a page shows for a place: the one of the finest level that has one. */
static const struct viewed *finest_block(const struct shown *s, uint64_t place)
{
    struct json_object *levels = viewed_get(timeline_of(s), "levels");
    const struct viewed *found = NULL;
    for (size_t i = 0; i < json_object_array_length(levels); i++) {
        struct json_object *level = json_object_array_get_idx(levels, i), *block;
        char segment[24];
        snprintf(segment, sizeof segment, "%ju", (uintmax_t)(place / number_of(level, "stretch")));
        if (json_object_object_get_ex(viewed_get(level, "blocks"), segment, &block))
            found = &s->blocks[json_object_get_uint64(block)];
    }
    return found;
}

/* Everything that the finest blocks show, once each. */
static struct span *finest_spans(const struct shown *s, const char *table, size_t *count)
{
    struct json_object *timeline = timeline_of(s);
    const uint64_t start = number_of(timeline, "start"), end = number_of(timeline, "end");
    size_t room = 1024, all = 0;
    struct span *spans = malloc(room * sizeof *spans);
    const struct viewed *last = NULL;
    for (uint64_t place = 0; place < end - start;) {
        const struct viewed *block = finest_block(s, place);
        cr_assert(block != NULL);
        for (size_t i = 0; block != last && i < viewed_rows(block, table); i++) {
            if (all == room)
                spans = realloc(spans, (room *= 2) * sizeof *spans);
            spans[all++] = span_of(block, table, i);
        }
        last = block;
        place++; /* tick by tick: these sessions are short */
    }
    qsort(spans, all, sizeof *spans, compare_spans);
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (i == 0 || compare_spans(&spans[i], &spans[*count - 1]) != 0)
            spans[(*count)++] = spans[i];
    return spans;
}

static const char *function_name(const struct shown *s, int number)
{
    if (number < 0)
        return "-";
    return viewed_text(json_object_array_get_idx(viewed_get(s->main.header, "functions"), (size_t)number), "address");
}

/* "thread.depth address start+length", and "*count" for merged spans. The caller frees it. */
static char *view_timeline_describe(const struct shown *s, const char *table)
{
    char *text;
    size_t length, count;
    struct span *spans = finest_spans(s, table, &count);
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        fprintf(out, "%u.%u ", span->thread, span->depth);
        if (strcmp(table, "spans") == 0)
            fprintf(out, "%s ", function_name(s, span->function));
        fprintf(out, "%ju+%ju", (uintmax_t)span->start, (uintmax_t)span->length);
        fprintf(out, span->count > 1 ? "*%u\n" : "\n", span->count);
    }
    fclose(out);
    free(spans);
    return text;
}

static void view_timeline_expect(const struct shown *s, const char *table, const char *wanted)
{
    char *text = view_timeline_describe(s, table);
    cr_assert(eq(str, text, (char *)wanted));
    free(text);
}

static struct writer *two_threads(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/opt/t");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "one");
    write_thread(w, 1, 2, 101, SOURCE_PERF, "two");
    write_thread_end(w, 1, 1, false, 6000);
    write_thread_end(w, 1, 2, false, 5000);
    begin_events(w, 1, 1, 0, 1000, NULL, 0);
    write_enter(w, 1000, F);
    write_enter(w, 1010, G);
    write_off_cpu(w, false, 1012, 100); /* blocked in G */
    write_exit(w, 1200);
    write_enter(w, 1300, G);
    write_off_cpu(w, true, 1305, 5);
    write_off_cpu(w, false, 1320, 30);
    write_exit(w, 1400);
    write_exit(w, 5900);
    end_events(w, true);
    begin_events(w, 1, 2, 0, 2000, NULL, 0);
    write_enter(w, 2000, H);
    write_enter(w, 2100, F); /* these two are open when the thread ends */
    end_events(w, true);
    return w;
}

Test(unit_view_timeline, calls_and_times_off_the_cpu)
{
    struct analysis analysis = loaded_of(two_threads());
    struct shown s = shown_of(&analysis, PLENTY);
    struct json_object *timeline = timeline_of(&s);
    view_timeline_expect(&s, "spans",
                         "0.0 0x1000 1000+4900\n0.1 0x2000 1010+190\n0.1 0x2000 1300+100\n"
                         "1.0 0x3000 2000+3000\n1.1 0x1000 2100+2900\n");
    view_timeline_expect(&s, "off_cpu", "0.0 1012+100\n0.0 1320+30\n0.1 1305+5\n");
    cr_assert(eq(u64, number_of(timeline, "start"), 1000));
    cr_assert(eq(u64, number_of(timeline, "end"), 6000));
    cr_assert(json_object_get_boolean(viewed_get(timeline, "complete")));
    struct json_object *lanes = viewed_get(timeline, "lanes");
    cr_assert(eq(sz, json_object_array_length(lanes), 2));
    for (size_t i = 0; i < 2; i++) {
        cr_assert(eq(u64, number_of(json_object_array_get_idx(lanes, i), "thread"), i));
        cr_assert(eq(u64, number_of(json_object_array_get_idx(lanes, i), "depth"), 2));
    }
    shown_drop(&s);
    analysis_drop(&analysis);
}

/* Thread one has bins of 8 ticks: in bin 1, it is blocked from the 12th tick on; in bin 38, it is preempted at first.
 */
Test(unit_view_timeline, activity_of_threads)
{
    struct analysis analysis = loaded_of(two_threads());
    struct shown s = shown_of(&analysis, PLENTY);
    cr_assert(eq(u64, number_of(timeline_of(&s), "bin"), 8));
    static const struct {
        size_t row;
        double thread, bin, cpu, blocked, preempted;
    } wanted[] = {
        { 0, 0, 0, 8, 0, 0 },   { 1, 0, 1, 4, 4, 0 },     { 2, 0, 2, 0, 8, 0 },
        { 38, 0, 38, 3, 0, 5 }, { 612, 0, 612, 4, 0, 0 }, { 613, 1, 125, 8, 0, 0 },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        cr_assert(eq(dbl, viewed_number(&s.main, "activity", "thread", wanted[i].row), wanted[i].thread));
        cr_assert(eq(dbl, viewed_number(&s.main, "activity", "bin", wanted[i].row), wanted[i].bin));
        cr_assert(eq(dbl, viewed_number(&s.main, "activity", "cpu", wanted[i].row), wanted[i].cpu));
        cr_assert(eq(dbl, viewed_number(&s.main, "activity", "blocked", wanted[i].row), wanted[i].blocked));
        cr_assert(eq(dbl, viewed_number(&s.main, "activity", "preempted", wanted[i].row), wanted[i].preempted));
    }
    struct json_object *lanes = viewed_get(timeline_of(&s), "lanes");
    cr_assert(eq(u64, number_of(json_object_array_get_idx(lanes, 0), "start"), 1000));
    cr_assert(eq(u64, number_of(json_object_array_get_idx(lanes, 1), "start"), 2000));
    shown_drop(&s);
    analysis_drop(&analysis);
}

/* A thread waits when it is killed, as those of servers do: it is blocked from the call on, not in its first bin. */
Test(unit_view_timeline, a_wait_until_the_end)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 1000, WAKES_WORK);
    write_enter(w, 5000, WAKES_WAIT);
    end_events(w, true);
    write_thread_end_off_cpu(w, 1, 1, 9000, 4000, 0);
    struct analysis analysis = loaded_of(w);
    struct shown s = shown_of(&analysis, PLENTY);
    view_timeline_expect(&s, "off_cpu", "0.0 5000+4000\n");
    for (size_t i = 0; i < viewed_rows(&s.main, "activity"); i++) { /* bins of 8 ticks */
        const bool waits = viewed_number(&s.main, "activity", "bin", i) >= 500;
        cr_assert(eq(dbl, viewed_number(&s.main, "activity", "blocked", i), waits ? 8 : 0));
    }
    shown_drop(&s);
    analysis_drop(&analysis);
}

/* Level 0 has a column of 4 ticks. Shorter calls are merged there, and separate in the next level's stretches. */
Test(unit_view_timeline, levels_and_stretches)
{
    struct writer *w = writer_new();
    write_thread_end(w, 1, 1, false, 8000);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    for (uint64_t i = 0; i < 10; i++) { /* around the border between the first two stretches of level 1 */
        write_enter(w, 2038 + 2 * i, G);
        write_exit(w, 2039 + 2 * i);
    }
    write_exit(w, 8000);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    struct shown s = shown_of(&analysis, PLENTY);
    struct json_object *levels = viewed_get(timeline_of(&s), "levels");
    cr_assert(eq(sz, json_object_array_length(levels), 2));
    struct json_object *first = json_object_array_get_idx(levels, 0), *second = json_object_array_get_idx(levels, 1);
    cr_assert(eq(u64, number_of(first, "stretch"), 8192));
    cr_assert(eq(u64, number_of(first, "resolution"), 4));
    cr_assert(eq(u64, number_of(first, "segments"), 1));
    cr_assert(eq(u64, number_of(second, "stretch"), 2048));
    cr_assert(eq(u64, number_of(second, "resolution"), 1));
    cr_assert(eq(str, (char *)json_object_to_json_string_ext(viewed_get(first, "blocks"), 0), "{\"0\":0}"));
    cr_assert(eq(str, (char *)json_object_to_json_string_ext(viewed_get(second, "blocks"), 0), "{\"0\":1,\"1\":2}"));
    cr_assert(eq(sz, s.block_count, 3));
    cr_assert(eq(sz, viewed_rows(&s.blocks[0], "spans"), 2));
    const struct span merged = span_of(&s.blocks[0], "spans", 1);
    cr_assert(eq(u64, merged.start, 2038));
    cr_assert(eq(u64, merged.length, 19));
    cr_assert(eq(u32, merged.count, 10));
    cr_assert(eq(str, (char *)function_name(&s, merged.function), "0x2000"));
    cr_assert(eq(sz, viewed_rows(&s.blocks[1], "spans"), 6));
    cr_assert(eq(sz, viewed_rows(&s.blocks[2], "spans"), 6));
    cr_assert(eq(u64, number_of(s.blocks[2].header, "segment"), 1));
    cr_assert(eq(u64, number_of(s.blocks[2].header, "begin"), 2048));
    cr_assert(eq(dbl, viewed_number(&s.blocks[2], "spans", "before", 0), 2048));
    cr_assert(eq(dbl, viewed_number(&s.blocks[2], "spans", "start", 0), 0));
    cr_assert(eq(dbl, viewed_number(&s.blocks[2], "spans", "length", 0), 2048));
    cr_assert(eq(dbl, viewed_number(&s.blocks[2], "spans", "after", 0), 8000 - 4096));
    shown_drop(&s);
    s = shown_of(&analysis, 1); /* next to no room */
    cr_assert(eq(sz, s.block_count, 0));
    cr_assert(eq(int, json_object_get_boolean(viewed_get(timeline_of(&s), "complete")), false));
    shown_drop(&s);
    s = shown_of(&analysis, 1000); /* for the first level */
    cr_assert(eq(sz, s.block_count, 1));
    cr_assert(eq(int, json_object_get_boolean(viewed_get(timeline_of(&s), "complete")), false));
    shown_drop(&s);
    s = shown_of(&analysis, 0);
    cr_assert(timeline_of(&s) == NULL);
    shown_drop(&s);
    analysis_drop(&analysis);
}

/* Spans merged from different functions have no function. */
Test(unit_view_timeline, runs_of_several_functions)
{
    struct writer *w = writer_new();
    write_thread_end(w, 1, 1, false, 8000);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    write_enter(w, 10, G);
    write_exit(w, 11);
    write_enter(w, 12, H);
    write_exit(w, 13);
    write_exit(w, 8000);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    struct shown s = shown_of(&analysis, PLENTY);
    const struct span merged = span_of(&s.blocks[0], "spans", 1);
    cr_assert(eq(i32, merged.function, -1));
    cr_assert(eq(u32, merged.count, 2));
    cr_assert(eq(u64, merged.start, 10));
    cr_assert(eq(u64, merged.length, 3));
    shown_drop(&s);
    analysis_drop(&analysis);
}

static void view_timeline_take(struct analysis *analysis, const struct analysis_options *options)
{
    struct writer *w = two_threads();
    writer_save(w, test_path("part.dwell"));
    writer_free(w);
    load_with(analysis, test_path("part.dwell"), options);
}

Test(unit_view_timeline, a_part_of_the_session)
{
    struct analysis_options options = { .jobs = 1,
                                        .selection = { .from = { true, NULL, 1100 }, .to = { true, NULL, 2500 } } };
    struct analysis analysis;
    view_timeline_take(&analysis, &options);
    struct shown s = shown_of(&analysis, PLENTY);
    view_timeline_expect(
        &s, "spans",
        "0.0 0x1000 1100+1400\n0.1 0x2000 1100+100\n0.1 0x2000 1300+100\n1.0 0x3000 2000+500\n1.1 0x1000 2100+400\n");
    view_timeline_expect(&s, "off_cpu", "0.0 1100+12\n0.0 1320+30\n0.1 1305+5\n");
    cr_assert(eq(u64, number_of(timeline_of(&s), "start"), 1100));
    cr_assert(eq(u64, number_of(timeline_of(&s), "end"), 2500));
    shown_drop(&s);
    analysis_drop(&analysis);
    selection_request_drop(&options.selection);
}

Test(unit_view_timeline, one_thread)
{
    struct analysis_options options = { .jobs = 1 };
    struct analysis analysis;
    selection_add_name(&options.selection.selection.threads, "two");
    view_timeline_take(&analysis, &options);
    struct shown s = shown_of(&analysis, PLENTY);
    view_timeline_expect(&s, "spans", "0.0 0x3000 2000+3000\n0.1 0x1000 2100+2900\n");
    view_timeline_expect(&s, "off_cpu", "");
    cr_assert(eq(u64, number_of(timeline_of(&s), "start"), 2000));
    shown_drop(&s);
    analysis_drop(&analysis);
    selection_request_drop(&options.selection);
}

Test(unit_view_timeline, calls_of_a_function)
{
    struct analysis_options options = { .jobs = 1 };
    struct analysis analysis;
    selection_add_name(&options.selection.roots, "0x2000");
    view_timeline_take(&analysis, &options);
    struct shown s = shown_of(&analysis, PLENTY);
    view_timeline_expect(&s, "spans", "0.1 0x2000 1010+190\n0.1 0x2000 1300+100\n");
    shown_drop(&s);
    analysis_drop(&analysis);
    selection_request_drop(&options.selection);
}

/* A call that leaves its stack and comes back appears twice. So does one around a missing chunk. */
Test(unit_view_timeline, stacks_that_go_and_come_back)
{
    struct writer *w = writer_new();
    write_thread_end(w, 1, 1, false, 900);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 100, F);
    end_events(w, true);
    const struct open_call g = { G, 50 };
    begin_events(w, 1, 1, 2, 300, &g, 1); /* the second chunk is missing */
    write_exit(w, 400);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    struct shown s = shown_of(&analysis, PLENTY);
    view_timeline_expect(&s, "spans", "0.0 0x1000 100+200\n0.0 0x2000 300+100\n");
    shown_drop(&s);
    analysis_drop(&analysis);
}

Test(unit_view_timeline, another_stack_and_back)
{
    struct writer *w = writer_new();
    write_thread_end(w, 1, 1, false, 90);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 30, 0, 0, 1, 0 }, 6); /* to stack number 1 */
    w->last = 30;
    write_enter(w, 40, H);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, F, 0, 0, 0, 40, 0, 0 }, 8); /* back, where these two are open */
    write_words(w, (uint16_t[]){ 14u << 8 | 7, G, 0, 0, 0, 50, 0, 0 }, 8);
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 60, 0, 0, 0, 0 }, 6);
    w->last = 60;
    write_exit(w, 75);
    write_exit(w, 90);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    struct shown s = shown_of(&analysis, PLENTY);
    view_timeline_expect(&s, "spans",
                         "0.0 0x1000 10+20\n0.0 0x3000 40+20\n0.0 0x1000 60+30\n0.1 0x2000 20+10\n0.1 0x2000 60+15\n");
    shown_drop(&s);
    analysis_drop(&analysis);
}

/* Rows that are too deep to scroll to are dropped. */
Test(unit_view_timeline, very_deep_calls)
{
    enum { DEPTH = 3000, SHOWN = 1024 };
    struct writer *w = writer_new();
    write_thread_end(w, 1, 1, false, 2 * DEPTH);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < DEPTH; i++)
        write_enter(w, i, F);
    for (uint64_t i = 0; i < DEPTH; i++)
        write_exit(w, DEPTH + i);
    end_events(w, true);
    struct analysis analysis = loaded_of(w);
    struct shown s = shown_of(&analysis, PLENTY);
    cr_assert(eq(u64, number_of(json_object_array_get_idx(viewed_get(timeline_of(&s), "lanes"), 0), "depth"), SHOWN));
    size_t count;
    struct span *spans = finest_spans(&s, "spans", &count);
    cr_assert(eq(sz, count, SHOWN));
    for (size_t i = 0; i < count; i++) {
        cr_assert(eq(u32, spans[i].depth, i));
        cr_assert(eq(u64, spans[i].start, i));
        cr_assert(eq(u64, spans[i].length, 2 * (DEPTH - i) - 1));
    }
    free(spans);
    shown_drop(&s);
    analysis_drop(&analysis);
}

/* ---- random sessions ---- */

struct reference {
    struct span *list;
    size_t count, room;
};

static void reference_add(struct reference *r, unsigned thread, unsigned depth, uint64_t start, uint64_t end)
{
    if (r->count == r->room)
        r->list = realloc(r->list, (r->room = r->room * 2 + 16) * sizeof *r->list);
    r->list[r->count++] =
        (struct span){ .thread = thread, .depth = depth, .start = start, .length = end - start, .count = 1 };
}

/* The model's calls, by a stack of their starts. */
static struct reference reference_of(const struct model *m)
{
    struct reference r = { NULL, 0, 0 };
    for (unsigned t = 0; t < MODEL_THREADS; t++) {
        uint64_t open[MODEL_DEEPEST + 1];
        unsigned depth = 0;
        for (unsigned i = 0; i < MODEL_EVENTS; i++) {
            const struct model_event *e = &m->events[t][i];
            for (unsigned n = e->unwound; n > 0 && depth; n--, depth--)
                reference_add(&r, t, depth - 1, open[depth - 1], e->time);
            if (e->function >= 0) {
                open[depth++] = e->time;
            } else if (depth) {
                depth--;
                reference_add(&r, t, depth, open[depth], e->time);
            }
        }
        const uint64_t end = m->end[t];
        for (; depth; depth--)
            reference_add(&r, t, depth - 1, open[depth - 1], end);
    }
    qsort(r.list, r.count, sizeof *r.list, compare_spans);
    return r;
}

static struct span *all_blocks(const struct shown *s, size_t *count)
{
    size_t all = 0;
    *count = 0;
    for (size_t i = 0; i < s->block_count; i++)
        all += viewed_rows(&s->blocks[i], "spans");
    struct span *spans = malloc((all + 1) * sizeof *spans);
    for (size_t i = 0; i < s->block_count; i++)
        for (size_t row = 0; row < viewed_rows(&s->blocks[i], "spans"); row++)
            spans[(*count)++] = span_of(&s->blocks[i], "spans", row);
    return spans;
}

/* Unmerged spans are calls, and all calls are among them. */
static void check_random(uint64_t seed, unsigned pieces)
{
    struct model *m = model_new(seed);
    struct analysis analysis = loaded_of(model_write(m, pieces, 0));
    struct shown s = shown_of(&analysis, PLENTY);
    struct reference r = reference_of(m);
    size_t count;
    struct span *spans = all_blocks(&s, &count);
    bool *found = calloc(r.count + 1, sizeof *found);
    cr_assert(json_object_get_boolean(viewed_get(timeline_of(&s), "complete")));
    for (size_t i = 0; i < count; i++) {
        if (spans[i].count > 1)
            continue;
        struct span *call = bsearch(&spans[i], r.list, r.count, sizeof *r.list, compare_spans);
        cr_assert(call != NULL, "seed %ju: %u.%u %ju+%ju", (uintmax_t)seed, spans[i].thread, spans[i].depth,
                  (uintmax_t)spans[i].start, (uintmax_t)spans[i].length);
        for (size_t at = (size_t)(call - r.list); at < r.count && compare_spans(&r.list[at], call) == 0; at++)
            found[at] = true;
        for (size_t at = (size_t)(call - r.list) + 1; at-- > 0 && compare_spans(&r.list[at], call) == 0;)
            found[at] = true;
    }
    for (size_t i = 0; i < r.count; i++)
        cr_assert(found[i]);
    free(found);
    free(spans);
    free(r.list);
    shown_drop(&s);
    analysis_drop(&analysis);
    model_free(m);
}

Test(unit_view_timeline, every_call_of_random_sessions)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        check_random(seed, 0);
        check_random(seed, 5);
        check_random(seed, 50);
    }
}
