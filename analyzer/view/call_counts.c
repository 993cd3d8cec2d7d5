/* Counts completed calls by function, thread, period and duration. */
#include "view/call_counts.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "profile/call_scan.h"
#include "view/thread_rank.h"

/* MIN_ROW is the minimum size of a row in a page, in bytes. A period is joined with 2^MAX_JOINED at most. Durations are
 * exact while there are at most EXACT_ROWS rows. 2^RECENT_BITS calls that differ wait for others like them; they stay
 * in a core's cache, which the table of all rows does not. */
enum { MIN_ROW = 4, MIN_ROWS = 4096, EXACT_ROWS = 32768, MAX_JOINED = 10, RECENT_BITS = 11 };

struct call_count {
    uint32_t function, thread, period;
    uint64_t ticks, calls;
};

/* The functions of one thread in one period. Calls come thread by thread, so few groups are looked for. */
struct call_group {
    uint32_t number_plus_1;
    uint32_t thread, period; /* of the number */
};

/* Each worker counts the calls that it finds. */
struct call_counts {
    const struct analysis *session;
    const struct order *order;
    uint64_t *borders; /* of the parts, in ticks since the session's start; shared by the workers */
    size_t border_count;
    unsigned joined; /* 2^joined periods are one */
    bool rounded;    /* durations are within half a percent */
    struct number_index *groups, *places;
    uint32_t group_count;
    struct call_group *latest; /* by function, the group of its last call */
    const int32_t *threads;    /* by path: the rank of its thread, or -1; shared by the workers */
    size_t path_count;
    struct call_count *recent; /* calls that are alike, by their hash, before they are added; free if it has no calls */
    /* Of the last call, as calls of a thread follow each other: the period that it ended in. */
    uint32_t period; /* before any were joined; none is known if `period_end` is zero */
    uint64_t period_begin, period_end;
    struct call_count *rows;
    size_t count, room, most, most_bytes;
};

static void call_counts_begin(struct call_counts *c)
{
    c->groups = index_new();
    c->places = index_new();
    c->latest = need_memory(c->session->profile->function_count + 1, sizeof *c->latest);
    c->recent = need_memory((size_t)1 << RECENT_BITS, sizeof *c->recent);
}

static void call_counts_drop(struct call_counts *c)
{
    index_free(c->groups);
    index_free(c->places);
    free(c->latest);
    free(c->recent);
    free(c->rows);
}

/* A number for the function, thread and period of a row. */
static uint32_t call_counts_group(struct call_counts *c, const struct call_count *row)
{
    struct call_group *latest = &c->latest[row->function];
    if (latest->number_plus_1 && latest->thread == row->thread && latest->period == row->period)
        return latest->number_plus_1 - 1;
    const uint64_t key = (uint64_t)row->function << 32 | row->thread;
    struct index_slot *slot = index_find(c->groups, key, row->period);
    const uint32_t number = slot->value_plus_1 ? slot->value_plus_1 - 1 : c->group_count++;
    if (!slot->value_plus_1)
        index_set(c->groups, slot, key, row->period, number);
    *latest = (struct call_group){ number + 1, row->thread, row->period };
    return number;
}

static void call_counts_add(struct call_counts *c, const struct call_count *row)
{
    const uint64_t ticks = c->rounded ? histogram_round(row->ticks) : row->ticks;
    const uint32_t group = call_counts_group(c, row);
    struct index_slot *slot = index_find(c->places, ticks, group);
    if (slot->value_plus_1) {
        c->rows[slot->value_plus_1 - 1].calls += row->calls;
        return;
    }
    GROW(c->rows, c->count, c->room);
    index_set(c->places, slot, ticks, group, (uint32_t)c->count);
    c->rows[c->count] = *row;
    c->rows[c->count++].ticks = ticks;
}

/* Adds the rows again, with periods that are joined with so many others. */
static void call_counts_renew(struct call_counts *c, unsigned joined)
{
    const size_t count = c->count;
    index_clear(c->groups);
    index_clear(c->places);
    memset(c->latest, 0, c->session->profile->function_count * sizeof *c->latest);
    c->count = c->group_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct call_count row = c->rows[i];
        row.period >>= joined;
        call_counts_add(c, &row);
    }
    c->joined += joined;
}

/* Makes fewer rows of the same calls. Returns false if there are no fewer. */
static bool call_counts_coarsen(struct call_counts *c)
{
    if (c->rounded && c->joined == MAX_JOINED)
        return false;
    const unsigned joined = c->rounded;
    c->rounded = true;
    call_counts_renew(c, joined);
    return true;
}

/* Finds the period of a time since the session's start. Times before the first one and after the last one are theirs.
 */
static void call_counts_find_period(struct call_counts *c, uint64_t time)
{
    size_t low = 0, high = c->border_count; /* borders[low] <= time < borders[high] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (c->borders[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    c->period = (uint32_t)(low + 1 < c->border_count || low == 0 ? low : low - 1);
    c->period_begin = low ? c->borders[low] : 0;
    c->period_end = low + 1 < c->border_count ? c->borders[low + 1] : UINT64_MAX;
}

/* The period before any were joined. */
static inline uint32_t call_counts_period(struct call_counts *c, uint64_t time)
{
    const uint64_t since = less(time, c->session->file->header.start_ticks);
    if (since < c->period_begin || since >= c->period_end)
        call_counts_find_period(c, since);
    return c->period;
}

static void call_counts_shrink(struct call_counts *c)
{
    while (c->count > (c->rounded ? c->most : smaller(c->most, EXACT_ROWS)) && call_counts_coarsen(c))
        ;
}

/* Adds a place of the recent calls to the rows, and frees it. */
static void call_counts_settle(struct call_counts *c, struct call_count *recent)
{
    if (recent->calls && c->count <= c->most) {
        recent->period >>= c->joined;
        call_counts_add(c, recent);
        call_counts_shrink(c);
    }
    recent->calls = 0;
}

static void call_counts_settle_all(struct call_counts *c)
{
    for (size_t i = 0; i < (size_t)1 << RECENT_BITS; i++)
        call_counts_settle(c, &c->recent[i]);
}

static inline void call_counts_take_row(struct call_counts *c, uint32_t function, uint32_t thread, uint32_t period,
                                        uint64_t ticks)
{
    const uint64_t hash = (ticks ^ (uint64_t)function << 32) * UINT64_C(0x9e3779b97f4a7c15);
    struct call_count *recent = &c->recent[hash >> (64 - RECENT_BITS)];
    if (__builtin_expect(recent->ticks != ticks || recent->function != function || recent->thread != thread ||
                             recent->period != period || !recent->calls,
                         0)) {
        call_counts_settle(c, recent);
        *recent = (struct call_count){ function, thread, period, ticks, 0 };
    }
    recent->calls++;
}

static void call_counts_take(void *context, const struct call_amount *amounts, size_t count)
{
    struct call_counts *c = context;
    const uint32_t *ranks = c->order->ranks;
    const int32_t *threads = c->threads;
    const size_t functions = c->session->profile->function_count, paths = c->path_count;
    for (size_t i = 0; i < count; i++) {
        const struct call_amount *call = &amounts[i];
        const int32_t thread = call->path < paths ? threads[call->path] : -1;
        if (call->function < functions && thread >= 0)
            call_counts_take_row(c, ranks[call->function], (uint32_t)thread, call_counts_period(c, call->end),
                                 call_ticks(call->time));
    }
}

/* How coarse the rows are in the end depends on the calls only, not on how the workers shared them. */
static void call_counts_merge(struct call_counts *into, const struct call_counts *from)
{
    while (into->joined < from->joined || into->rounded < from->rounded)
        call_counts_coarsen(into);
    for (size_t i = 0; i < from->count; i++) {
        struct call_count row = from->rows[i];
        row.period >>= into->joined - from->joined;
        call_counts_add(into, &row);
    }
    call_counts_shrink(into);
}

/* Follows all calls with several workers, and returns the sum of their counts. */
static struct call_counts call_counts_find(struct analysis *session, const struct call_counts *none)
{
    const unsigned jobs = analysis_jobs(none->session);
    struct call_counts *workers = need_memory(jobs, sizeof *workers);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        workers[i] = *none;
        call_counts_begin(&workers[i]);
        contexts[i] = &workers[i];
    }
    analysis_scan_with_limits(session, call_counts_take, contexts);
    for (unsigned i = 0; i < jobs; i++)
        call_counts_settle_all(&workers[i]);
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
    return ORDER_BY(x, y, function, thread, period, ticks);
}

static struct packed call_counts_pack(const struct call_counts *c)
{
    static const struct call_count none;
    const struct call_count *first = c->rows ? c->rows : &none;
    const struct container_column columns[] = {
        { "function", &first->function, sizeof *first, CONTAINER_U32, NULL },
        { "thread", &first->thread, sizeof *first, CONTAINER_U32, NULL },
        { "period", &first->period, sizeof *first, CONTAINER_U32, NULL },
        { "ticks", &first->ticks, sizeof *first, CONTAINER_U64, NULL },
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
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, "block", json_object_new_uint64(block));
    json_object_object_add(object, "periods", json_object_new_uint64(1u << c->joined));
    json_object_object_add(object, "rounded", json_object_new_boolean(c->rounded));
    json_object_object_add(object, "resolution", json_object_new_uint64(c->session->summary.resolution));
    return object;
}

/* False if even the coarsest rows are too large. */
static bool call_counts_fit(struct call_counts *c, struct packed *packed)
{
    while (c->count && c->count <= c->most) {
        *packed = call_counts_pack(c);
        if (blocks_page_size(packed) <= c->most_bytes)
            return true;
        packed_drop(packed);
        if (!call_counts_coarsen(c))
            return false;
    }
    return false;
}

struct json_object *call_counts_make(struct analysis *analysis, const struct order *order, struct json_object *parts,
                                     size_t most, struct blocks *blocks)
{
    if (!most || analysis->summary.imported || analysis->file->header.mode == DWELL_MODE_PROFILE) {
        if (analysis->lacks_limits)
            analysis_scan_with_limits(analysis, NULL, NULL);
        return NULL;
    }
    struct call_counts none = { .session = analysis, .order = order, .most_bytes = most };
    struct json_object *described = NULL;
    none.most = most / MIN_ROW > MIN_ROWS ? most / MIN_ROW : MIN_ROWS;
    call_counts_read_borders(&none, parts);
    const struct profile *paths = analysis_call_paths(analysis);
    int32_t *threads = thread_ranks_of_paths(order, paths);
    none.threads = threads;
    none.path_count = paths->node_count;
    struct call_counts c = call_counts_find(analysis, &none);
    struct packed packed;
    if (call_counts_fit(&c, &packed)) {
        described = call_counts_describe(&c, blocks->count);
        GROW(blocks->list, blocks->count, blocks->room);
        blocks->list[blocks->count++] = packed;
    }
    call_counts_drop(&c);
    free(threads);
    free(none.borders);
    return described;
}
