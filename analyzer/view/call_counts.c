/* Counts completed calls by function, thread, period and duration. */
#include "view/call_counts.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/duration_buckets.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/units.h"
#include "profile/calls.h"
#include "view/thread_rank.h"

/* MIN_ROW is the minimum size of a row in a page, in bytes. A period is joined with 2^MAX_JOINED at most. */
enum { MIN_ROW = 4, MIN_ROWS = 4096, MAX_JOINED = 10 };

struct call_count {
    uint32_t function, thread, period, bucket;
    uint64_t calls;
};

/* Each worker counts the calls that it finds. */
struct call_counts {
    const struct analysis *session;
    const struct order *order;
    uint64_t *borders; /* of the parts, in ticks since the session's start; shared by the workers */
    size_t border_count;
    unsigned joined; /* 2^joined periods are one */
    struct number_index *places;
    struct call_count *rows;
    size_t count, room, most;
};

static struct index_slot *call_counts_slot(const struct call_counts *c, const struct call_count *row, uint64_t *key,
                                           uint32_t *second)
{
    *key = (uint64_t)row->function << 32 | row->thread;
    *second = row->period * DURATION_BUCKETS + row->bucket;
    return index_find(c->places, *key, *second);
}

static void call_counts_add(struct call_counts *c, const struct call_count *row)
{
    uint64_t key;
    uint32_t second;
    struct index_slot *slot = call_counts_slot(c, row, &key, &second);
    if (slot->value_plus_1) {
        c->rows[slot->value_plus_1 - 1].calls += row->calls;
        return;
    }
    GROW(c->rows, c->count, c->room);
    index_set(c->places, slot, key, second, (uint32_t)c->count);
    c->rows[c->count++] = *row;
}

/* Makes one period of two. */
static void call_counts_join(struct call_counts *c)
{
    const size_t count = c->count;
    index_free(c->places);
    c->places = index_new();
    c->count = 0;
    c->joined++;
    for (size_t i = 0; i < count; i++) {
        struct call_count row = c->rows[i];
        row.period /= 2;
        call_counts_add(c, &row);
    }
}

static uint32_t call_counts_period(const struct call_counts *c, uint64_t time)
{
    const uint64_t start = c->session->file->header.start_ticks;
    size_t low = 0, high = c->border_count; /* borders[low] <= time < borders[high] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (c->borders[middle] <= (time > start ? time - start : 0))
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)(low + 1 < c->border_count || low == 0 ? low : low - 1) >> c->joined;
}

/* Joins periods while there are too many rows. */
static void call_counts_shrink(struct call_counts *c)
{
    while (c->count > c->most && c->joined < MAX_JOINED)
        call_counts_join(c);
}

static void call_counts_take(void *context, const struct finished_call *call)
{
    struct call_counts *c = context;
    const int32_t thread = c->count > c->most ? -1 : thread_rank(c->order, call->process, call->thread);
    if (call->function >= c->session->profile->function_count || thread < 0)
        return;
    const uint64_t ns =
        ticks_to_ns(call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]), c->session->summary.ticks_per_second);
    call_counts_add(c, &(struct call_count){ c->order->ranks[call->function], (uint32_t)thread,
                                             call_counts_period(c, call->end), duration_bucket_of(ns), 1 });
    call_counts_shrink(c);
}

/* How many periods are joined in the end depends on the rows only, not on how the workers shared them. */
static void call_counts_merge(struct call_counts *into, const struct call_counts *from)
{
    while (into->joined < from->joined)
        call_counts_join(into);
    for (size_t i = 0; i < from->count; i++) {
        struct call_count row = from->rows[i];
        row.period >>= into->joined - from->joined;
        call_counts_add(into, &row);
    }
    call_counts_shrink(into);
}

static void call_counts_drop(struct call_counts *c)
{
    index_free(c->places);
    free(c->rows);
}

/* Follows all calls with several workers, and returns the sum of their counts. */
static struct call_counts call_counts_find(const struct call_counts *none)
{
    const unsigned jobs = analysis_jobs(none->session);
    struct call_counts *workers = need_memory(jobs, sizeof *workers);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        workers[i] = *none;
        workers[i].places = index_new();
        contexts[i] = &workers[i];
    }
    analysis_scan_calls(none->session, PROFILE_NONE, call_counts_take, contexts);
    struct call_counts all = workers[0];
    for (unsigned i = 1; i < jobs; i++) {
        call_counts_merge(&all, &workers[i]);
        call_counts_drop(&workers[i]);
    }
    free(contexts);
    free(workers);
    return all;
}

static int call_counts_compare(const void *a, const void *b)
{
    const struct call_count *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->period != y->period)
        return x->period < y->period ? -1 : 1;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

static struct packed call_counts_pack(const struct call_counts *c)
{
    static const struct call_count none;
    const struct call_count *first = c->rows ? c->rows : &none;
    const struct container_column columns[] = {
        { "function", &first->function, sizeof *first, CONTAINER_U32, NULL },
        { "thread", &first->thread, sizeof *first, CONTAINER_U32, NULL },
        { "period", &first->period, sizeof *first, CONTAINER_U32, NULL },
        { "bucket", &first->bucket, sizeof *first, CONTAINER_U32, NULL },
        { "calls", &first->calls, sizeof *first, CONTAINER_U64, NULL },
    };
    const struct container_table table = { "calls", c->count, columns, sizeof columns / sizeof *columns };
    struct packed packed = { 0 };
    if (c->rows)
        qsort(c->rows, c->count, sizeof *c->rows, call_counts_compare);
    container_pack(json_object_new_object(), &table, 1, &packed);
    return packed;
}

static void call_counts_read_borders(struct call_counts *c, struct json_object *parts)
{
    struct json_object *list = NULL;
    json_object_object_get_ex(parts, "borders", &list);
    c->border_count = list ? json_object_array_length(list) : 2;
    c->borders = need_memory(c->border_count, sizeof *c->borders);
    for (size_t i = 0; list && i < c->border_count; i++)
        c->borders[i] = json_object_get_uint64(json_object_array_get_idx(list, i));
}

static struct json_object *call_counts_describe(const struct call_counts *c, size_t block)
{
    struct json_object *object = json_object_new_object(), *begins = json_object_new_array();
    for (unsigned i = 0; i < DURATION_BUCKETS; i++)
        json_object_array_add(begins, json_object_new_uint64(duration_bucket_begin(i)));
    json_object_object_add(object, "block", json_object_new_uint64(block));
    json_object_object_add(object, "periods", json_object_new_uint64(1u << c->joined));
    json_object_object_add(object, "begins_ns", begins);
    return object;
}

struct json_object *call_counts_make(const struct analysis *l, const struct order *order, struct json_object *parts,
                                     size_t most, struct blocks *blocks)
{
    if (!most || l->summary.imported || l->file->header.mode == DWELL_MODE_PROFILE)
        return NULL;
    struct call_counts none = { .session = l, .order = order };
    struct json_object *described = NULL;
    none.most = most / MIN_ROW > MIN_ROWS ? most / MIN_ROW : MIN_ROWS;
    call_counts_read_borders(&none, parts);
    struct call_counts c = call_counts_find(&none);
    struct packed packed = call_counts_pack(&c);
    if (c.count && c.count <= c.most && blocks_page_size(&packed) <= most) {
        described = call_counts_describe(&c, blocks->count);
        GROW(blocks->list, blocks->count, blocks->room);
        blocks->list[blocks->count++] = packed;
    } else {
        packed_drop(&packed);
    }
    call_counts_drop(&c);
    free(none.borders);
    return described;
}
