/* Chooses the longest waits of a session, finds where their arrows begin, and adds waits up for the graph of threads
 * and objects. */
#include "view/longest_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "causes/wait_arrows.h"
#include "view/thread_rank.h"

struct page_wait {
    uint64_t begin, end, woken; /* `woken` is zero without an arrow */
    int32_t thread, waker;      /* -1: not in the page; without an arrow */
    int32_t by_path, by_lock;
    uint32_t cause;
};

struct page_edge {
    uint64_t total, longest, waits;
    int32_t thread, by_lock, cause_thread;
    uint32_t cause;
};

static int page_wait_compare(const void *a, const void *b, void *context)
{
    const struct caused_wait *list = context, *x = &list[*(const uint32_t *)a], *y = &list[*(const uint32_t *)b];
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return ORDER_BY(x, y, wait.left, wait.place.thread);
}

/* The process of a thread; zero if the session does not have the thread. */
static uint32_t page_wait_process(const struct analysis *analysis, uint32_t thread)
{
    const struct trace_thread *t = thread ? session_file_thread(analysis->file, thread) : NULL;
    return t ? t->process : 0;
}

static int32_t page_wait_row(const uint32_t *rows, size_t wait)
{
    return rows[wait] == UINT32_MAX ? -1 : (int32_t)rows[wait];
}

static struct page_wait page_wait_of(const struct analysis *analysis, const struct order *order,
                                     const struct caused_wait *w)
{
    const uint64_t start = analysis->file->header.start_ticks;
    struct page_wait page = {
        .begin = less(w->wait.left, start),
        .end = less(w->wait.back, start),
        .thread = thread_rank(order, w->wait.place.process, w->wait.place.thread),
        .waker = -1,
        .cause = w->cause,
    };
    struct wait_arrow arrow;
    if (wait_arrow_of(analysis, w, &arrow)) {
        page.waker = thread_rank(order, arrow.from_process, arrow.from_thread);
        page.woken = page.waker < 0 ? 0 : less(arrow.from, start);
    }
    return page;
}

static void page_waits_choose(struct page_waits *waits, const struct analysis *analysis, const struct order *order,
                              const struct wait_causes *causes, const struct wait_places *places, size_t most)
{
    uint32_t *chosen = need_memory(causes->count + 1, sizeof *chosen);
    for (size_t i = 0; i < causes->count; i++)
        chosen[i] = (uint32_t)i;
    if (causes->count)
        qsort_r(chosen, causes->count, sizeof *chosen, page_wait_compare, causes->list);
    waits->count = smaller(smaller(causes->count, MAX_PAGE_WAITS), most);
    waits->list = need_memory(waits->count + 1, sizeof *waits->list);
    for (size_t i = 0; i < waits->count; i++) {
        waits->list[i] = page_wait_of(analysis, order, &causes->list[chosen[i]]);
        waits->list[i].by_path = page_wait_row(places->by_path, chosen[i]);
        waits->list[i].by_lock = page_wait_row(places->by_lock, chosen[i]);
    }
    free(chosen);
}

/* ---- the graph ---- */

static int page_edge_compare(const void *a, const void *b)
{
    const struct page_edge *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return ORDER_BY(x, y, thread, by_lock, cause_thread, cause);
}

static struct page_edge page_edge_of(const struct analysis *analysis, const struct order *order,
                                     const struct caused_wait *w)
{
    return (struct page_edge){
        .thread = thread_rank(order, w->wait.place.process, w->wait.place.thread),
        .cause_thread = w->thread ? thread_rank(order, page_wait_process(analysis, w->thread), w->thread) : -1,
        .cause = w->cause,
    };
}

static void page_waits_add_edges(struct page_waits *waits, const struct analysis *analysis, const struct order *order,
                                 const struct wait_causes *causes, const struct wait_places *places)
{
    struct intern keys = { 0 };
    size_t room = 1;
    waits->edges = need_memory(room, sizeof *waits->edges);
    for (size_t i = 0; i < causes->count; i++) {
        struct page_edge edge = page_edge_of(analysis, order, &causes->list[i]);
        edge.by_lock = page_wait_row(places->by_lock, i);
        if (edge.thread < 0 || edge.by_lock < 0)
            continue;
        const int32_t key[] = { edge.thread, edge.by_lock, edge.cause_thread, (int32_t)edge.cause };
        const uint32_t number = intern(&keys, key, sizeof key);
        if (number == waits->edge_count) {
            GROW(waits->edges, waits->edge_count, room);
            waits->edges[waits->edge_count++] = edge;
        }
        struct page_edge *sum = &waits->edges[number];
        sum->total += causes->list[i].ticks;
        sum->longest = larger(sum->longest, causes->list[i].longest);
        sum->waits += causes->list[i].count;
    }
    intern_drop(&keys);
    if (waits->edge_count)
        qsort(waits->edges, waits->edge_count, sizeof *waits->edges, page_edge_compare);
    waits->edges_left_out = less(waits->edge_count, MAX_WAIT_EDGES);
    waits->edge_count -= waits->edges_left_out;
}

void page_waits_find(struct page_waits *waits, const struct analysis *analysis, const struct order *order,
                     const struct wait_causes *causes, const struct wait_places *places, size_t most)
{
    *waits = (struct page_waits){ 0 };
    page_waits_choose(waits, analysis, order, causes, places,
                      analysis->file->header.mode == DWELL_MODE_PROFILE ? 0 : most);
    page_waits_add_edges(waits, analysis, order, causes, places);
}

struct container_table page_waits_table(struct page_waits *w)
{
    const struct container_column columns[WAIT_COLUMNS] = {
        { "thread", &w->list->thread, sizeof *w->list, CONTAINER_I32, NULL },
        { "begin", &w->list->begin, sizeof *w->list, CONTAINER_U64, NULL },
        { "end", &w->list->end, sizeof *w->list, CONTAINER_U64, NULL },
        { "waker", &w->list->waker, sizeof *w->list, CONTAINER_I32, NULL },
        { "woken", &w->list->woken, sizeof *w->list, CONTAINER_U64, NULL },
        { "cause", &w->list->cause, sizeof *w->list, CONTAINER_U32, NULL },
        { "by_path", &w->list->by_path, sizeof *w->list, CONTAINER_I32, NULL },
        { "by_lock", &w->list->by_lock, sizeof *w->list, CONTAINER_I32, NULL },
    };
    memcpy(w->columns, columns, sizeof columns);
    return (struct container_table){ "waits", w->count, w->columns, WAIT_COLUMNS };
}

struct container_table page_waits_edge_table(struct page_waits *w)
{
    const struct container_column columns[WAIT_EDGE_COLUMNS] = {
        { "thread", &w->edges->thread, sizeof *w->edges, CONTAINER_I32, NULL },
        { "by_lock", &w->edges->by_lock, sizeof *w->edges, CONTAINER_I32, NULL },
        { "cause_thread", &w->edges->cause_thread, sizeof *w->edges, CONTAINER_I32, NULL },
        { "cause", &w->edges->cause, sizeof *w->edges, CONTAINER_U32, NULL },
        { "waits", &w->edges->waits, sizeof *w->edges, CONTAINER_U64, NULL },
        { "total", &w->edges->total, sizeof *w->edges, CONTAINER_U64, NULL },
        { "max", &w->edges->longest, sizeof *w->edges, CONTAINER_U64, NULL },
    };
    memcpy(w->edge_columns, columns, sizeof columns);
    return (struct container_table){ "edges", w->edge_count, w->edge_columns, WAIT_EDGE_COLUMNS };
}

void page_waits_drop(struct page_waits *w)
{
    free(w->list);
    free(w->edges);
}
