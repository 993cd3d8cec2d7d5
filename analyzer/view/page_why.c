/* Compares the slow calls of the functions with most time with their usual ones, as dwell why does. */
#include "view/page_why.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "causes/why_rows.h"
#include "tables/table_json.h"
#include "trace/session_file.h"

/* A comparison reads the events several times: those of a page add a second or two at most. */
enum { MAX_FUNCTIONS = 16, MAX_EVENTS = 20000000, MIN_CALLS = 20, MAX_ROWS = 100 };

struct page_why_duration {
    uint32_t function; /* number of the comparison */
    uint64_t ns, slow, usual;
};

struct page_why {
    struct json_object *list, *ranks;
    struct page_why_duration *durations;
    size_t count, duration_count, duration_room;
};

struct page_why_candidate {
    uint32_t function;
    uint64_t time;
};

/* ---- which functions ---- */

static int page_why_compare(const void *a, const void *b)
{
    const struct page_why_candidate *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return ORDER_BY(x, y, function);
}

/* Functions with calls enough, by their inclusive time. The caller frees them. */
static struct page_why_candidate *page_why_candidates(const struct analysis *analysis, size_t *count)
{
    const size_t functions = rollup_group_count(analysis->rollup, BY_FUNCTION);
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    struct page_why_candidate *list = need_memory(functions + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < functions; i++)
        if (sums[i].calls - sums[i].counted >= MIN_CALLS)
            list[(*count)++] = (struct page_why_candidate){ (uint32_t)i, sums[i].elapsed_inclusive };
    if (*count)
        qsort(list, *count, sizeof *list, page_why_compare);
    free(sums);
    return list;
}

/* ---- a comparison ---- */

/* Columns without a key are for people only. */
static struct json_object *page_why_rows(const struct table *t)
{
    size_t *order = need_memory(t->column_count, sizeof *order), count = 0;
    for (size_t i = 0; i < t->column_count; i++)
        if (*t->columns[i].key)
            order[count++] = i;
    struct json_object *list = table_json_rows(t, order, count, MAX_ROWS);
    free(order);
    return list;
}

static struct json_object *page_why_set(const struct why *why, const struct why_set *set)
{
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, "calls", json_object_new_uint64(set->calls));
    json_object_object_add(object, "min_ns", json_object_new_uint64(ticks_to_ns(set->least, why->rate)));
    json_object_object_add(object, "mean_ns", json_object_new_uint64(set->ns));
    return object;
}

static struct json_object *page_why_describe(const struct why *why, const struct why_session *session,
                                             const struct why_choice *choice, uint32_t rank)
{
    struct json_object *object = json_object_new_object();
    struct table rows = view_why(why), factors = view_why_factors(why);
    char *answer = why_answer(why, session, choice);
    json_object_object_add(object, "function", json_object_new_uint64(rank));
    json_object_object_add(object, "answer", json_new_text(answer));
    json_object_object_add(object, "calls", json_object_new_uint64(why->calls));
    json_object_object_add(object, "cut", json_object_new_uint64(why->scan.cut));
    json_object_object_add(object, "slow", page_why_set(why, &why->sets[WHY_SLOW]));
    json_object_object_add(object, "usual", page_why_set(why, &why->sets[WHY_USUAL]));
    json_object_object_add(object, "difference_ns",
                           json_object_new_int64((int64_t)(why->sets[WHY_SLOW].ns - why->sets[WHY_USUAL].ns)));
    json_object_object_add(object, "rows", page_why_rows(&rows));
    json_object_object_add(object, "left_out", json_object_new_uint64(less(rows.row_count, MAX_ROWS)));
    json_object_object_add(object, "factors", page_why_rows(&factors));
    free(answer);
    table_drop(&factors);
    table_drop(&rows);
    return object;
}

static void page_why_add_durations(struct page_why *p, const struct why *why)
{
    for (size_t i = 0; i < why->duration_count; i++) {
        const struct why_duration *duration = &why->durations[i];
        GROW(p->durations, p->duration_count, p->duration_room);
        p->durations[p->duration_count++] =
            (struct page_why_duration){ (uint32_t)p->count, ticks_to_ns(duration->ticks, why->rate),
                                        duration->calls[WHY_SLOW], duration->calls[WHY_USUAL] };
    }
}

static void page_why_add(struct page_why *p, const struct why_session *session, uint32_t rank, bool values)
{
    const struct why_choice choice = { .percent = 1, .values = values };
    struct why why;
    struct error error = { NULL };
    if (!why_find(&why, session->analysis, session->function, &choice, &error)) {
        error_drop(&error);
        return;
    }
    if (why_has_sets(&why)) {
        json_object_array_add(p->list, page_why_describe(&why, session, &choice, rank));
        json_object_array_add(p->ranks, json_object_new_uint64(rank));
        page_why_add_durations(p, &why);
        p->count++;
    }
    why_drop(&why);
}

/* ---- the block ---- */

static void page_why_pack(const struct page_why *p, struct blocks *blocks)
{
    static const struct page_why_duration none;
    const struct page_why_duration *first = p->durations ? p->durations : &none;
    const struct container_column columns[] = {
        { "function", &first->function, sizeof *first, CONTAINER_U32, NULL },
        { "ns", &first->ns, sizeof *first, CONTAINER_U64, NULL },
        { "slow", &first->slow, sizeof *first, CONTAINER_U64, NULL },
        { "usual", &first->usual, sizeof *first, CONTAINER_U64, NULL },
    };
    const struct container_table table = { "durations", p->duration_count, columns, sizeof columns / sizeof *columns };
    struct json_object *header = json_object_new_object();
    struct packed packed;
    json_object_object_add(header, "functions", p->list);
    container_pack(header, &table, 1, &packed);
    GROW(blocks->list, blocks->count, blocks->room);
    blocks->list[blocks->count++] = packed;
}

struct json_object *page_why_make(const struct analysis *analysis, const struct order *order, size_t detail,
                                  bool values, struct blocks *blocks)
{
    if (session_file_why_sums(analysis->file))
        return NULL;
    struct page_why p = { .list = json_object_new_array(), .ranks = json_object_new_array() };
    size_t count;
    struct page_why_candidate *list = page_why_candidates(analysis, &count);
    const uint64_t affordable = MAX_EVENTS / larger(analysis->summary.events, 1);
    const size_t most = detail ? smaller(affordable, MAX_FUNCTIONS) : 0;
    struct why_waits waits = { .count = 0 };
    if (most && count)
        waits = why_waits_find(analysis);
    for (size_t i = 0; i < count && p.count < most; i++) {
        const struct why_session session = { analysis, list[i].function, &waits };
        page_why_add(&p, &session, order->ranks[list[i].function], values);
    }
    why_waits_drop(&waits);
    struct json_object *facts = json_object_new_object();
    json_object_object_add(facts, "file", json_new_text(analysis->file->path));
    json_object_object_add(facts, "functions", p.ranks);
    json_object_object_add(facts, "block", p.count ? json_object_new_uint64(blocks->count) : NULL);
    if (p.count)
        page_why_pack(&p, blocks);
    else
        json_object_put(p.list);
    free(p.durations);
    free(list);
    return facts;
}
