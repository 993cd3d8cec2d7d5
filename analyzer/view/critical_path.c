/* Finds the critical path of the whole run and the ranking of its functions, and gives them the page's numbers of
 * threads and functions. */
#include "view/critical_path.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "profile/path_memory.h"
#include "view/thread_rank.h"

struct page_critical_row {
    int32_t function; /* -1 for other places */
    uint32_t place;   /* enum critical_place */
    uint64_t work, runnable, outside;
};

struct page_segment {
    int32_t thread, function;
    uint32_t place;
    uint64_t begin, end;
};

struct page_slack {
    int32_t thread;
    uint64_t on_path, slack;
};

struct page_rank {
    int32_t function;
    uint64_t time, predicted[WHAT_IF_STEPS], least;
};

static int32_t page_critical_thread(const struct analysis *analysis, const struct order *order, uint32_t serial)
{
    const struct trace_thread *t = session_file_thread(analysis->file, serial);
    return t ? thread_rank(order, t->process, serial) : -1;
}

static int32_t page_critical_function(const struct order *order, const struct critical_what *what)
{
    return what->place == CRITICAL_FUNCTION ? (int32_t)order->ranks[what->function] : -1;
}

static uint64_t page_critical_since_start(const struct analysis *analysis, uint64_t time)
{
    return less(time, analysis->file->header.start_ticks);
}

static int page_critical_compare_lengths(const void *a, const void *b, void *context)
{
    const struct critical_segment *list = context, *x = &list[*(const size_t *)a], *y = &list[*(const size_t *)b];
    const uint64_t one = x->end - x->begin, other = y->end - y->begin;
    if (one != other)
        return one < other ? 1 : -1;
    return ORDER_BY(x, y, begin);
}

/* Of too many segments, the longest ones. */
static void page_critical_add_segments(struct page_critical *c, const struct analysis *analysis,
                                       const struct order *order, const struct critical_path *p)
{
    size_t *chosen = need_memory(p->segment_count + 1, sizeof *chosen);
    for (size_t i = 0; i < p->segment_count; i++)
        chosen[i] = i;
    if (p->segment_count > MAX_PAGE_SEGMENTS)
        qsort_r(chosen, p->segment_count, sizeof *chosen, page_critical_compare_lengths, p->segments);
    c->all_segments = p->segment_count;
    c->segment_count = smaller(p->segment_count, MAX_PAGE_SEGMENTS);
    if (c->segment_count)
        qsort(chosen, c->segment_count, sizeof *chosen, compare_numbers);
    c->segments = need_memory(c->segment_count + 1, sizeof *c->segments);
    for (size_t i = 0; i < c->segment_count; i++) {
        const struct critical_segment *s = &p->segments[chosen[i]];
        c->segments[i] = (struct page_segment){
            .thread = page_critical_thread(analysis, order, s->thread),
            .function = page_critical_function(order, &s->longest),
            .place = s->longest.place,
            .begin = page_critical_since_start(analysis, s->begin),
            .end = page_critical_since_start(analysis, s->end),
        };
    }
    free(chosen);
}

static void page_critical_add_rows(struct page_critical *c, const struct analysis *analysis, const struct order *order,
                                   const struct critical_path *p)
{
    c->row_count = p->row_count;
    c->slack_count = p->thread_count;
    c->rows = need_memory(p->row_count + 1, sizeof *c->rows);
    for (size_t i = 0; i < p->row_count; i++) {
        const struct critical_row *row = &p->rows[i];
        c->rows[i] = (struct page_critical_row){ page_critical_function(order, &row->what), row->what.place,
                                                 row->times.work, row->times.runnable, row->times.outside };
    }
    c->slack = need_memory(p->thread_count + 1, sizeof *c->slack);
    for (size_t i = 0; i < p->thread_count; i++)
        c->slack[i] = (struct page_slack){ page_critical_thread(analysis, order, p->threads[i].thread),
                                           p->threads[i].on_path, p->threads[i].slack };
}

static void page_critical_add_ranks(struct page_critical *c, const struct analysis *analysis, const struct order *order,
                                    struct wait_causes *causes, struct path_memory *memory)
{
    struct what_if *w = what_if_new(analysis, &c->part, causes, memory);
    c->recorded = c->part.to - c->part.from;
    c->unknown = what_if_unknown(w);
    c->ranged = what_if_is_range(c->unknown, c->recorded);
    c->replayed = what_if_predict(w, NULL, 0);
    c->ranks = what_if_rank_functions(w, MAX_PAGE_RANKED, c->ranged, &c->rank_count);
    c->page_ranks = need_memory(c->rank_count + 1, sizeof *c->page_ranks);
    for (size_t i = 0; i < c->rank_count; i++) {
        c->page_ranks[i] = (struct page_rank){ .function = (int32_t)order->ranks[c->ranks[i].function],
                                               .time = c->ranks[i].time,
                                               .least = c->ranged ? c->ranks[i].least : c->ranks[i].predicted[1] };
        memcpy(c->page_ranks[i].predicted, c->ranks[i].predicted, sizeof c->ranks[i].predicted);
    }
    what_if_free(w);
}

/* Single segments may be many. They are freed before the ranking is made. */
static void page_critical_add_path(struct page_critical *c, const struct analysis *analysis, const struct order *order,
                                   const struct wait_causes *causes, struct path_memory *memory)
{
    struct critical_path p = critical_path_find(analysis, &c->part, causes, memory);
    c->unknown_origins = p.unknown_origins;
    page_critical_add_rows(c, analysis, order, &p);
    page_critical_add_segments(c, analysis, order, &p);
    critical_path_drop(&p);
}

void page_critical_find(struct page_critical *c, const struct analysis *analysis, const struct order *order,
                        struct wait_causes *causes)
{
    struct selection_request whole = { 0 };
    struct error error = { NULL };
    *c = (struct page_critical){ .known = false };
    c->known = !analysis->selection && !analysis->summary.imported &&
               analysis->file->header.mode != DWELL_MODE_PROFILE && analysis->file->header.also & DWELL_ALSO_CAUSES &&
               critical_find_part(analysis, &whole, &c->part, &error);
    if (!c->known) {
        error_drop(&error);
        wait_causes_drop(causes);
        return;
    }
    struct path_memory *memory = path_memory_new(analysis->file);
    page_critical_add_path(c, analysis, order, causes, memory);
    page_critical_add_ranks(c, analysis, order, causes, memory);
    path_memory_free(memory);
}

static struct container_table page_critical_table(struct page_critical *c, int number, const char *name, size_t rows,
                                                  const struct container_column *columns, size_t count)
{
    memcpy(c->columns[number], columns, count * sizeof *columns);
    return (struct container_table){ name, rows, c->columns[number], count };
}

size_t page_critical_tables(struct page_critical *c, struct container_table *tables)
{
    if (!c->known)
        return 0;
    const struct container_column rows[] = {
        { "function", &c->rows->function, sizeof *c->rows, CONTAINER_I32, NULL },
        { "place", &c->rows->place, sizeof *c->rows, CONTAINER_U32, NULL },
        { "work", &c->rows->work, sizeof *c->rows, CONTAINER_U64, NULL },
        { "runnable", &c->rows->runnable, sizeof *c->rows, CONTAINER_U64, NULL },
        { "outside", &c->rows->outside, sizeof *c->rows, CONTAINER_U64, NULL },
    };
    const struct container_column segments[] = {
        { "thread", &c->segments->thread, sizeof *c->segments, CONTAINER_I32, NULL },
        { "begin", &c->segments->begin, sizeof *c->segments, CONTAINER_U64, NULL },
        { "end", &c->segments->end, sizeof *c->segments, CONTAINER_U64, NULL },
        { "function", &c->segments->function, sizeof *c->segments, CONTAINER_I32, NULL },
        { "place", &c->segments->place, sizeof *c->segments, CONTAINER_U32, NULL },
    };
    const struct container_column slack[] = {
        { "thread", &c->slack->thread, sizeof *c->slack, CONTAINER_I32, NULL },
        { "on_path", &c->slack->on_path, sizeof *c->slack, CONTAINER_U64, NULL },
        { "slack", &c->slack->slack, sizeof *c->slack, CONTAINER_U64, NULL },
    };
    const struct container_column ranks[] = {
        { "function", &c->page_ranks->function, sizeof *c->page_ranks, CONTAINER_I32, NULL },
        { "time", &c->page_ranks->time, sizeof *c->page_ranks, CONTAINER_U64, NULL },
        { "less_10", &c->page_ranks->predicted[0], sizeof *c->page_ranks, CONTAINER_U64, NULL },
        { "less_50", &c->page_ranks->predicted[1], sizeof *c->page_ranks, CONTAINER_U64, NULL },
        { "less_100", &c->page_ranks->predicted[2], sizeof *c->page_ranks, CONTAINER_U64, NULL },
        { "least_50", &c->page_ranks->least, sizeof *c->page_ranks, CONTAINER_U64, NULL },
    };
    tables[0] = page_critical_table(c, 0, "critical", c->row_count, rows, sizeof rows / sizeof *rows);
    tables[1] = page_critical_table(c, 1, "segments", c->segment_count, segments, sizeof segments / sizeof *segments);
    tables[2] = page_critical_table(c, 2, "slack", c->slack_count, slack, sizeof slack / sizeof *slack);
    tables[3] = page_critical_table(c, 3, "ranking", c->rank_count, ranks, sizeof ranks / sizeof *ranks);
    return CRITICAL_TABLES;
}

struct json_object *page_critical_facts(const struct page_critical *c, const struct analysis *analysis,
                                        const struct order *order)
{
    if (!c->known)
        return NULL;
    struct json_object *object = json_object_new_object();
    const struct {
        const char *key;
        uint64_t number;
    } members[] = {
        { "from", page_critical_since_start(analysis, c->part.from) },
        { "to", page_critical_since_start(analysis, c->part.to) },
        { "replayed", c->replayed },
        { "unknown", c->unknown },
        { "segments", c->all_segments },
        { "unknown_origins", c->unknown_origins },
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_object_add(object, members[i].key, json_object_new_uint64(members[i].number));
    json_object_object_add(object, "ranged", json_object_new_boolean(c->ranged));
    json_object_object_add(object, "thread",
                           json_object_new_int(page_critical_thread(analysis, order, c->part.thread)));
    return object;
}

void page_critical_drop(struct page_critical *c)
{
    free(c->ranks);
    free(c->rows);
    free(c->segments);
    free(c->slack);
    free(c->page_ranks);
}
