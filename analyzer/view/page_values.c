/* Packs what is known of recorded values: how long the calls with each value took, and single calls for a picture. */
#include "view/page_values.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/loaded_values.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/units.h"
#include "profile/call_scan.h"
#include "tables/calls_by_value.h"
#include "tables/recorded_argument.h"
#include "tables/table_json.h"
#include "tables/value_ranges.h"
#include "trace/session_file.h"

/* All tables of a page together read so many events at most, a second or two of work. */
enum { MAX_EVENTS = 50000000, MAX_ROWS = 200, MAX_CALLS = 2000 };

struct page_values {
    const struct analysis *analysis;
    uint64_t tables; /* that may still be made */
    struct json_object *list, *ranks;
};

/* ---- single calls ---- */

struct page_valued_call {
    const struct recorded_row *row;
    uint64_t thread, begin, ns;
};

/* What a worker finds. */
struct page_call_finder {
    struct recorded_argument argument;
    uint64_t calls; /* with values, about */
    uint64_t rate;
    struct page_valued_call *list;
    size_t count, room;
};

/* Spreads moments evenly, whatever their distance: the same calls are taken in each run. */
static uint64_t page_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void page_take_call(void *context, const struct finished_call *call)
{
    struct page_call_finder *f = context;
    if (page_mix(call->begin + call->thread) % larger(f->calls, 1) >= MAX_CALLS)
        return;
    const struct recorded_row *row = recorded_argument_row(&f->argument, call->thread, call->begin);
    if (!row)
        return;
    GROW(f->list, f->count, f->room);
    f->list[f->count++] =
        (struct page_valued_call){ row, call->thread, call->begin,
                                   ticks_to_ns(call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]), f->rate) };
}

static struct json_object *page_value_json(const struct recorded_value *v, const uint64_t *words)
{
    if (!words)
        return NULL;
    if (recorded_value_is_number(v) && isfinite(recorded_value_number(v, *words)))
        return json_object_new_double(recorded_value_number(v, *words));
    char *text = recorded_value_data(v, words);
    struct json_object *object = json_new_text(text);
    free(text);
    return object;
}

static int page_compare_calls(const void *a, const void *b)
{
    const struct page_valued_call *x = a, *y = b;
    return ORDER_BY(x, y, begin, thread);
}

/* Lists of a time and the values, in the order of the calls. */
static struct json_object *page_values_calls(const struct analysis *analysis, const struct recorded_argument *argument,
                                             const struct recorded_function *r)
{
    const unsigned jobs = analysis_jobs(analysis);
    struct page_call_finder *finders = need_memory(jobs, sizeof *finders);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        finders[i] = (struct page_call_finder){ .argument = *argument,
                                                .calls = r->rows,
                                                .rate = analysis->summary.ticks_per_second };
        contexts[i] = &finders[i];
    }
    analysis_scan_calls(analysis, argument->function, page_take_call, contexts);
    struct page_call_finder all = { .count = 0 };
    for (unsigned i = 0; i < jobs; i++) {
        for (size_t j = 0; j < finders[i].count; j++) {
            GROW(all.list, all.count, all.room);
            all.list[all.count++] = finders[i].list[j];
        }
        free(finders[i].list);
    }
    free(contexts);
    free(finders);
    if (all.count)
        qsort(all.list, all.count, sizeof *all.list, page_compare_calls);
    struct json_object *calls = json_object_new_array();
    for (size_t i = 0; i < all.count; i++) {
        struct json_object *call = json_object_new_array();
        json_object_array_add(call, json_object_new_uint64(all.list[i].ns));
        for (uint32_t j = 0; j < r->value_count; j++)
            json_object_array_add(
                call, page_value_json(&r->values[j], recorded_value_words(argument->values, all.list[i].row, j)));
        json_object_array_add(calls, call);
    }
    free(all.list);
    return calls;
}

/* ---- tables ---- */

/* As JSON has them, and the value as people read it, which is the first column. */
static struct json_object *page_values_rows(const struct table *t)
{
    size_t *order = need_memory(1 + table_max_columns(t), sizeof *order);
    order[0] = 0;
    const size_t count = 1 + table_order(t, false, order + 1);
    struct json_object *list = table_json_rows(t, order, count, MAX_ROWS);
    free(order);
    return list;
}

static struct json_object *page_values_of(const struct analysis *analysis, const struct recorded_values *values,
                                          uint32_t function, const struct recorded_value *v)
{
    struct by_value by = { .function = function, .what = v->name };
    struct table table;
    struct error error = { NULL };
    if (!view_by_value(analysis, values, &by, &table, &error)) {
        error_drop(&error);
        return NULL;
    }
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, "name", json_new_text(v->name));
    json_object_object_add(object, "number", json_object_new_boolean(recorded_value_is_number(v)));
    json_object_object_add(object, "calls", json_object_new_uint64(by.valued));
    json_object_object_add(object, "without", json_object_new_uint64(by.valueless));
    json_object_object_add(object, "rows", page_values_rows(&table));
    json_object_object_add(object, "left_out", json_object_new_uint64(less(table.row_count, MAX_ROWS)));
    table_drop(&table);
    return object;
}

static void page_values_add(struct page_values *p, const struct recorded_argument *argument,
                            const struct recorded_function *r, uint32_t rank)
{
    struct json_object *function = json_object_new_object(), *list = json_object_new_array();
    p->tables -= r->value_count + 1;
    for (uint32_t i = 0; i < r->value_count; i++) {
        struct json_object *value = page_values_of(p->analysis, argument->values, argument->function, &r->values[i]);
        if (value)
            json_object_array_add(list, value);
    }
    json_object_object_add(function, "function", json_object_new_uint64(rank));
    json_object_object_add(function, "values", list);
    json_object_object_add(function, "calls", page_values_calls(p->analysis, argument, r));
    json_object_array_add(p->list, function);
    json_object_array_add(p->ranks, json_object_new_uint64(rank));
}

/* ---- the block ---- */

static void page_values_pack(const struct page_values *p, struct blocks *blocks)
{
    struct json_object *header = json_object_new_object();
    struct packed packed;
    json_object_object_add(header, "functions", p->list);
    container_pack(header, NULL, 0, &packed);
    GROW(blocks->list, blocks->count, blocks->room);
    blocks->list[blocks->count++] = packed;
}

struct json_object *page_values_make(const struct analysis *analysis, const struct order *order, size_t detail,
                                     struct blocks *blocks)
{
    const struct recorded_values *values = loaded_values(analysis);
    if (session_file_why_sums(analysis->file) || !values || !values->function_count)
        return NULL;
    struct page_values p = { analysis, detail ? MAX_EVENTS / larger(analysis->summary.events, 1) : 0,
                             json_object_new_array(), json_object_new_array() };
    for (uint32_t i = 0; i < analysis->profile->function_count; i++) {
        struct recorded_argument argument = { .values = values, .function = i };
        const struct recorded_function *r = recorded_argument_function(&argument, analysis);
        if (r && r->rows && r->value_count < p.tables)
            page_values_add(&p, &argument, r, order->ranks[i]);
    }
    const bool any = json_object_array_length(p.list) > 0;
    struct json_object *facts = json_object_new_object();
    json_object_object_add(facts, "file", json_new_text(analysis->file->path));
    json_object_object_add(facts, "functions", p.ranks);
    json_object_object_add(facts, "block", any ? json_object_new_uint64(blocks->count) : NULL);
    if (any)
        page_values_pack(&p, blocks);
    else
        json_object_put(p.list);
    return facts;
}
