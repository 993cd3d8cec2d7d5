/* Walks back along the waits from the end of a part of a session, and adds up what the threads did on the way. */
#include "causes/critical.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "causes/thread_origins.h"

/* The key of a wait. Sessions have millions of them. */
struct critical_wait {
    uint64_t back;
    uint32_t thread; /* serial number */
    uint32_t number; /* in the list of all waits */
};

/* The waits of which it is known who ended them, by thread and time. */
struct critical_waits {
    const struct caused_wait *all;
    struct critical_wait *list;
    size_t count;
    size_t *next; /* by serial number of a thread: the number of its waits that can still be on the path */
    size_t *first;
    size_t thread_count;
};

struct critical_walk {
    const struct analysis *loaded;
    struct critical_waits waits;
    struct thread_origin *origins; /* by index of the file's threads */
    struct critical_path *path;
    uint64_t starting; /* ticks between the creation of threads and their start */
};

/* ---- waits of a thread ---- */

static int critical_compare_waits(const void *a, const void *b, void *context)
{
    const struct critical_wait *x = a, *y = b;
    const struct caused_wait *all = context;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->back != y->back)
        return x->back < y->back ? -1 : 1;
    const uint64_t one = all[x->number].wait.left, other = all[y->number].wait.left;
    return (one > other) - (one < other);
}

static struct critical_waits critical_sort_waits(const struct analysis *analysis, const struct wait_causes *causes)
{
    struct critical_waits w = { .all = causes->list, .thread_count = analysis->file->thread_count };
    w.list = need_memory(causes->all_count + 1, sizeof *w.list);
    for (size_t i = 0; i < causes->all_count; i++) {
        const struct profile_wait *wait = &causes->list[i].wait;
        if (causes->list[i].waker && session_file_thread(analysis->file, wait->place.thread))
            w.list[w.count++] = (struct critical_wait){ wait->back, wait->place.thread, (uint32_t)i };
    }
    if (w.count)
        qsort_r(w.list, w.count, sizeof *w.list, critical_compare_waits, causes->list);
    w.first = need_memory(w.thread_count + 1, sizeof *w.first);
    w.next = need_memory(w.thread_count + 1, sizeof *w.next);
    for (size_t i = w.count; i-- > 0;) {
        const size_t thread = session_file_thread_index(analysis->file, w.list[i].thread);
        w.first[thread] = i;
        if (!w.next[thread])
            w.next[thread] = i + 1;
    }
    return w;
}

/* Takes the last wait of the thread that had ended at that time. Each wait is taken once, so that the walk ends. */
static const struct caused_wait *critical_take_wait(struct critical_waits *w, size_t thread, uint64_t time)
{
    const size_t first = w->first[thread], next = w->next[thread];
    if (next <= first)
        return NULL;
    const size_t ended = first + LOWER_BOUND(wait, &w->list[first], next - first, wait->back <= time);
    if (ended == first)
        return NULL;
    w->next[thread] = ended - 1;
    return &w->all[w->list[ended - 1].number];
}

/* ---- the walk ---- */

static void critical_add_segment(struct critical_path *p, uint32_t thread, uint64_t begin, uint64_t end, uint64_t woken)
{
    if (begin >= end)
        return;
    GROW(p->segments, p->segment_count, p->segment_room);
    p->segments[p->segment_count++] = (struct critical_segment){
        .thread = thread, .begin = begin, .end = end, .woken = larger(begin, smaller(woken, end))
    };
}

/* A process that no recorded one has made begins before its first thread. */
static bool critical_is_first_of_run(const struct analysis *analysis, const struct trace_thread *t)
{
    const struct trace_process *p = session_file_process(analysis->file, t->process);
    return p && p->pid == t->tid && !p->parent_process;
}

/* The thread had not begun before: goes on with the one that made it. Returns false at the end of the path. */
static bool critical_leave_start(struct critical_walk *w, const struct trace_thread *t, struct critical_part *at)
{
    struct critical_path *p = w->path;
    const struct thread_origin origin = w->origins[session_file_thread_index(w->loaded->file, t->serial)];
    if (!origin.creator || origin.time > at->to) {
        p->unknown_origins += !critical_is_first_of_run(w->loaded, t);
        critical_add_segment(p, t->serial, at->from, at->to, 0);
        return false;
    }
    const uint64_t made = larger(origin.time, at->from);
    w->starting += less(smaller(t->start_time, at->to), made);
    critical_add_segment(p, t->serial, made, at->to, 0);
    at->thread = origin.creator;
    at->to = made;
    return made > at->from;
}

/* Goes back by one segment. Returns false at the end of the path. */
static bool critical_step(struct critical_walk *w, struct critical_part *at)
{
    const size_t index = session_file_thread_index(w->loaded->file, at->thread);
    const struct trace_thread *t = session_file_thread(w->loaded->file, at->thread);
    const struct caused_wait *wait = t ? critical_take_wait(&w->waits, index, at->to) : NULL;
    if (wait && wait->wait.back > at->from) {
        const uint64_t woken = larger(wait->woken, at->from);
        critical_add_segment(w->path, at->thread, woken, at->to, wait->wait.back);
        at->thread = wait->waker;
        at->to = woken;
        return woken > at->from;
    }
    if (t && t->start_time > at->from)
        return critical_leave_start(w, t, at);
    critical_add_segment(w->path, at->thread, at->from, at->to, 0);
    return false;
}

/* Segments are found from the last to the first. Those of one thread that follow each other are joined. */
static void critical_reverse(struct critical_path *p)
{
    for (size_t i = 0, j = p->segment_count; i + 1 < j; i++) {
        const struct critical_segment s = p->segments[i];
        p->segments[i] = p->segments[--j];
        p->segments[j] = s;
    }
}

/* ---- sums ---- */

static int critical_compare_ranges(const void *a, const void *b, void *context)
{
    const struct critical_segment *segments = context, *x = &segments[*(const size_t *)a],
                                  *y = &segments[*(const size_t *)b];
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static struct critical_what critical_what_of(const struct analysis *analysis, uint32_t function)
{
    if (function == PROFILE_NONE)
        return (struct critical_what){ CRITICAL_UNKNOWN, PROFILE_NONE };
    const bool known = function < analysis->profile->function_count;
    return (struct critical_what){ known ? CRITICAL_FUNCTION : CRITICAL_OUTSIDE, known ? function : PROFILE_NONE };
}

static void critical_add_row(struct critical_path *p, struct critical_what what, struct path_times times,
                             uint64_t *left)
{
    if (!path_times_total(&times))
        return;
    *left = less(*left, path_times_total(&times));
    p->rows[p->row_count++] = (struct critical_row){ what, times };
}

/* The names decide between equal times, as numbers of functions depend on how the work was split. */
static int critical_compare_rows(const void *a, const void *b, void *context)
{
    const struct critical_row *x = a, *y = b;
    const struct analysis *analysis = context;
    const uint64_t one = path_times_total(&x->times), other = path_times_total(&y->times);
    if (one != other)
        return one < other ? 1 : -1;
    if (x->what.place != y->what.place || x->what.place != CRITICAL_FUNCTION)
        return (x->what.place > y->what.place) - (x->what.place < y->what.place);
    const struct function_name *names = analysis->names;
    const int by_name = strcmp(names[x->what.function].name, names[y->what.function].name);
    return by_name ? by_name : strcmp(names[x->what.function].module, names[y->what.function].module);
}

/* Nothing was recorded in the rest of the path: the thread was paused, events were lost, or it did not live. */
static void critical_make_rows(struct critical_walk *w, const struct path_scan *scan)
{
    const struct analysis *analysis = w->loaded;
    struct critical_path *p = w->path;
    uint64_t left = less(p->part.to, p->part.from);
    p->rows = need_memory(analysis->profile->function_count + 3, sizeof *p->rows);
    for (uint32_t i = 0; i <= analysis->profile->function_count; i++)
        critical_add_row(p, critical_what_of(analysis, i), scan->sums[i], &left);
    const struct critical_what starting = { CRITICAL_STARTING, PROFILE_NONE };
    critical_add_row(p, starting, (struct path_times){ .runnable = smaller(w->starting, left) }, &left);
    critical_add_row(p, critical_what_of(analysis, PROFILE_NONE), (struct path_times){ .outside = left }, &left);
    qsort_r(p->rows, p->row_count, sizeof *p->rows, critical_compare_rows, (void *)analysis);
}

static void critical_scan(struct critical_walk *w, struct path_memory *memory)
{
    const struct analysis *analysis = w->loaded;
    struct critical_path *p = w->path;
    struct path_range *ranges = need_memory(p->segment_count + 1, sizeof *ranges);
    size_t *order = need_memory(p->segment_count + 1, sizeof *order);
    for (size_t i = 0; i < p->segment_count; i++)
        order[i] = i;
    qsort_r(order, p->segment_count, sizeof *order, critical_compare_ranges, p->segments);
    for (size_t i = 0; i < p->segment_count; i++) {
        const struct critical_segment *s = &p->segments[order[i]];
        ranges[i] = (struct path_range){ s->thread, s->begin, s->end, s->woken };
    }
    struct path_scan scan = path_scan_run(analysis->file, analysis->profile, analysis_jobs(analysis), ranges,
                                          p->segment_count, false, memory);
    for (size_t i = 0; i < p->segment_count; i++)
        p->segments[order[i]].longest = critical_what_of(analysis, scan.longest[i]);
    critical_make_rows(w, &scan);
    path_scan_drop(&scan);
    free(ranges);
    free(order);
}

/* ---- threads ---- */

/* The part of a time that is in the part of the session. */
static uint64_t critical_within(const struct critical_part *part, uint64_t begin, uint64_t end)
{
    return less(smaller(end, part->to), larger(begin, part->from));
}

static int critical_compare_threads(const void *a, const void *b, void *context)
{
    const struct critical_thread *x = a, *y = b;
    const struct trace_thread *s = session_file_thread(context, x->thread),
                              *t = session_file_thread(context, y->thread);
    if (s->start_time != t->start_time)
        return s->start_time < t->start_time ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* By index of the file's threads. */
static uint64_t *critical_find_slack(const struct critical_walk *w)
{
    const struct session_file *file = w->loaded->file;
    const struct critical_part *part = &w->path->part;
    uint64_t *slack = need_memory(file->thread_count + 1, sizeof *slack);
    for (size_t i = 0; i < w->waits.count; i++) {
        const struct caused_wait *wait = &w->waits.all[w->waits.list[i].number];
        slack[session_file_thread_index(w->loaded->file, wait->wait.place.thread)] +=
            critical_within(part, wait->wait.left, wait->woken);
    }
    for (size_t i = 0; i < file->thread_count; i++)
        if (file->threads[i].end_time)
            slack[i] += critical_within(part, file->threads[i].end_time, part->to);
    return slack;
}

static void critical_find_threads(struct critical_walk *w)
{
    struct session_file *file = w->loaded->file;
    struct critical_path *p = w->path;
    uint64_t *slack = critical_find_slack(w), *on_path = need_memory(file->thread_count + 1, sizeof *on_path);
    for (size_t i = 0; i < p->segment_count; i++)
        on_path[session_file_thread_index(w->loaded->file, p->segments[i].thread)] +=
            p->segments[i].end - p->segments[i].begin;
    p->threads = need_memory(file->thread_count + 1, sizeof *p->threads);
    for (size_t i = 0; i < file->thread_count; i++) {
        const struct trace_thread *t = &file->threads[i];
        if (t->start_time < p->part.to && (!t->end_time || t->end_time > p->part.from))
            p->threads[p->thread_count++] = (struct critical_thread){ t->serial, on_path[i], slack[i] };
    }
    qsort_r(p->threads, p->thread_count, sizeof *p->threads, critical_compare_threads, file);
    free(slack);
    free(on_path);
}

static struct critical_walk critical_walk_back(const struct analysis *analysis, struct critical_path *p,
                                               const struct wait_causes *causes)
{
    struct critical_walk w = { .loaded = analysis, .path = p };
    struct critical_part at = p->part;
    w.waits = critical_sort_waits(analysis, causes);
    w.origins = thread_origins_find(analysis->file, causes);
    while (critical_step(&w, &at))
        ;
    critical_reverse(p);
    return w;
}

static void critical_walk_drop(struct critical_walk *w)
{
    free(w->waits.list);
    free(w->waits.first);
    free(w->waits.next);
    free(w->origins);
}

struct critical_path critical_path_walk(const struct analysis *analysis, const struct critical_part *part,
                                        const struct wait_causes *causes)
{
    struct critical_path p = { .part = *part };
    struct critical_walk w = critical_walk_back(analysis, &p, causes);
    critical_walk_drop(&w);
    return p;
}

struct critical_path critical_path_find(const struct analysis *analysis, const struct critical_part *part,
                                        const struct wait_causes *causes, struct path_memory *memory)
{
    struct critical_path p = { .part = *part };
    struct critical_walk w = critical_walk_back(analysis, &p, causes);
    critical_scan(&w, memory);
    critical_find_threads(&w);
    critical_walk_drop(&w);
    return p;
}

void critical_path_drop(struct critical_path *p)
{
    free(p->rows);
    free(p->segments);
    free(p->threads);
}
