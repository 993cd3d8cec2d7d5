/*
 * Replays the recorded order on a number of processors. A thread needs a processor for its work. It gets one when it is
 * the first of those that are ready, and keeps it for a slice of time if others wait. Time in which it was preempted is
 * not copied: it comes from the others' work. Time outside of the program, such as a sleep, needs no processor.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "causes/what_if_run.h"

/* What a thread does next on its way to a point. */
enum run_phase { RUN_WORK, RUN_OUTSIDE, RUN_GAP, RUN_POINT };

struct run_thread {
    size_t next, end; /* its points, in the list of numbers */
    uint64_t work;    /* ticks that are left of the stretch */
    enum run_phase phase;
    bool listed;    /* the times of the stretch are known */
    uint32_t after; /* the thread that is ready after this one; WHAT_IF_NONE for the last one */
};

/* A thread goes on at a time. */
struct run_event {
    uint64_t time, order;
    uint32_t thread;
    bool frees; /* a processor */
};

struct run_edge {
    bool done;
    uint32_t waiter; /* a thread that is blocked; WHAT_IF_NONE if none is */
};

struct run {
    const struct what_if *w;
    struct run_thread *threads;
    uint32_t *points; /* numbers of points, by thread and time */
    uint64_t *work;   /* by stretch, in ticks */
    struct run_edge *edges;
    struct run_event *heap; /* the first event is the next one */
    size_t heap_count, heap_room;
    uint64_t order, now, slice, latency, end;
    unsigned free_cpus;
    uint32_t first_ready, last_ready;
};

/* ---- events ---- */

static bool run_is_before(const struct run_event *a, const struct run_event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void run_swap(struct run *r, size_t i, size_t j)
{
    const struct run_event event = r->heap[i];
    r->heap[i] = r->heap[j];
    r->heap[j] = event;
}

static void run_add_event(struct run *r, uint64_t time, uint32_t thread, bool frees)
{
    GROW(r->heap, r->heap_count, r->heap_room);
    size_t i = r->heap_count++;
    r->heap[i] = (struct run_event){ time, r->order++, thread, frees };
    for (; i > 0 && run_is_before(&r->heap[i], &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
        run_swap(r, i, (i - 1) / 2);
}

static struct run_event run_take_event(struct run *r)
{
    const struct run_event first = r->heap[0];
    r->heap[0] = r->heap[--r->heap_count];
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t below = 2 * i + 1; below <= 2 * i + 2 && below < r->heap_count; below++)
            if (run_is_before(&r->heap[below], &r->heap[least]))
                least = below;
        if (least == i)
            return first;
        run_swap(r, i, least);
        i = least;
    }
}

/* ---- processors ---- */

static void run_start_threads(struct run *r)
{
    while (r->free_cpus && r->first_ready != WHAT_IF_NONE) {
        const uint32_t thread = r->first_ready;
        struct run_thread *t = &r->threads[thread];
        const uint64_t length = smaller(t->work, r->slice);
        r->first_ready = t->after;
        r->free_cpus--;
        t->work -= length;
        run_add_event(r, r->now + length, thread, true);
    }
}

static void run_make_ready(struct run *r, uint32_t thread)
{
    r->threads[thread].after = WHAT_IF_NONE;
    if (r->first_ready == WHAT_IF_NONE)
        r->first_ready = thread;
    else
        r->threads[r->last_ready].after = thread;
    r->last_ready = thread;
}

/* ---- points ---- */

/* The recorded time between the act and the end of the wait, as far as waiting for a processor does not explain it. */
static uint64_t run_latency(const struct run *r, const struct what_if_point *p)
{
    return smaller(r->latency, p->time - r->w->edges[p->edge].time);
}

static void run_act(struct run *r, const struct what_if_point *p)
{
    struct run_edge *edge = &r->edges[p->edge];
    edge->done = true;
    if (edge->waiter == WHAT_IF_NONE)
        return;
    struct run_thread *waiter = &r->threads[edge->waiter];
    const struct what_if_point *wait = &r->w->points[r->points[waiter->next]];
    waiter->next++;
    waiter->listed = false;
    run_add_event(r, r->now + run_latency(r, wait), edge->waiter, false);
}

/* Whether the thread goes on behind the point. */
static bool run_pass(struct run *r, uint32_t thread, const struct what_if_point *p)
{
    if (p->kind == POINT_END) {
        r->end = r->now;
        return false;
    }
    if (p->kind == POINT_ACT) {
        run_act(r, p);
        return true;
    }
    if (p->kind == POINT_GAP)
        return true;
    if (p->edge == WHAT_IF_NONE) { /* a start: the thread waits for its recorded time */
        if (r->now >= p->time)
            return true;
        run_add_event(r, p->time, thread, false);
        return false;
    }
    if (r->edges[p->edge].done)
        return true;
    r->edges[p->edge].waiter = thread;
    return false;
}

/* When a gap ends, if the point is one. */
static uint64_t run_gap_end(const struct run *r, const struct what_if_point *p)
{
    if (p->kind != POINT_GAP || r->w->gaps == GAPS_CLOSED)
        return r->now;
    return r->w->gaps == GAPS_UNTIL_RECORDED ? p->time : r->now + (p->time - p->left);
}

/* Moves the thread on until it needs a processor, waits, or ends. */
static void run_go_on(struct run *r, uint32_t thread)
{
    struct run_thread *t = &r->threads[thread];
    while (t->next < t->end && !r->end) {
        const struct what_if_point *p = &r->w->points[r->points[t->next]];
        if (!t->listed) {
            t->listed = true;
            t->phase = RUN_WORK;
            t->work = p->work == WHAT_IF_NONE ? 0 : r->work[p->work];
        }
        if (t->phase == RUN_WORK) {
            if (t->work) {
                run_make_ready(r, thread);
                return;
            }
            t->phase = RUN_OUTSIDE;
        }
        if (t->phase == RUN_OUTSIDE) {
            const uint64_t outside = p->work == WHAT_IF_NONE ? 0 : r->w->scan.outside[p->work];
            t->phase = RUN_GAP;
            if (outside) {
                run_add_event(r, r->now + outside, thread, false);
                return;
            }
        }
        if (t->phase == RUN_GAP) {
            const uint64_t end = run_gap_end(r, p);
            t->phase = RUN_POINT;
            if (end > r->now) {
                run_add_event(r, end, thread, false);
                return;
            }
        }
        if (!run_pass(r, thread, p))
            return;
        t->next++;
        t->listed = false;
    }
}

/* ---- begin and end ---- */

/* The median: most waits end while a processor is free. */
static uint64_t run_usual_latency(const struct what_if *w)
{
    uint64_t *list = need_memory(w->point_count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < w->point_count; i++)
        if (w->points[i].kind == POINT_WAIT)
            list[count++] = w->points[i].time - w->edges[w->points[i].edge].time;
    if (count)
        qsort(list, count, sizeof *list, compare_numbers);
    const uint64_t latency = count ? list[count / 2] : 0;
    free(list);
    return latency;
}

static void run_sum_stretches(struct run *r, int lane)
{
    const struct what_if *w = r->w;
    r->work = need_memory(w->stretch_count + 1, sizeof *r->work);
    for (size_t f = 0; f < w->scan.functions; f++)
        for (size_t i = 0; i < w->scan.amounts[f].count;) {
            uint32_t stretch;
            const struct path_times times = path_amounts_next(&w->scan.amounts[f], &i, &stretch);
            r->work[stretch] += times.work;
        }
    uint64_t sum = 0;
    for (size_t i = 0; i < w->stretch_count; i++) {
        r->work[i] -= w->less[i].at[lane];
        sum += r->work[i];
    }
    enum { SLICES_PER_SECOND = 333, MAX_SLICES = 1 << 22 };
    r->slice = larger(1 + w->loaded->file->header.ticks_per_second / SLICES_PER_SECOND, sum / MAX_SLICES);
}

static void run_list_points(struct run *r)
{
    const struct what_if *w = r->w;
    const size_t threads = w->loaded->file->thread_count;
    r->threads = need_memory(threads + 1, sizeof *r->threads);
    r->points = need_memory(w->point_count + 1, sizeof *r->points);
    for (size_t i = 0; i < w->point_count; i++)
        r->threads[w->points[i].thread].end++;
    for (size_t i = 0, sum = 0; i < threads; i++) {
        sum += r->threads[i].end;
        r->threads[i].next = r->threads[i].end = sum - r->threads[i].end;
    }
    for (size_t i = 0; i < w->point_count; i++)
        r->points[r->threads[w->points[i].thread].end++] = (uint32_t)i;
}

static void run_drop(struct run *r)
{
    free(r->threads);
    free(r->points);
    free(r->work);
    free(r->edges);
    free(r->heap);
}

uint64_t what_if_run_on_cpus(const struct what_if *w, int lane)
{
    struct run r = { .w = w, .free_cpus = w->cpus, .now = w->part.from, .first_ready = WHAT_IF_NONE };
    run_list_points(&r);
    run_sum_stretches(&r, lane);
    r.latency = run_usual_latency(w);
    r.edges = need_memory(w->edge_count + 1, sizeof *r.edges);
    for (size_t i = 0; i < w->edge_count; i++)
        r.edges[i].waiter = WHAT_IF_NONE;
    for (uint32_t i = 0; i < w->loaded->file->thread_count; i++)
        if (r.threads[i].next < r.threads[i].end)
            run_add_event(&r, w->part.from, i, false);
    while (r.heap_count && !r.end) {
        const struct run_event event = run_take_event(&r);
        r.now = event.time;
        r.free_cpus += event.frees;
        run_go_on(&r, event.thread);
        run_start_threads(&r);
    }
    const uint64_t end = r.end ? r.end : r.now;
    run_drop(&r);
    return less(end, w->part.from);
}
