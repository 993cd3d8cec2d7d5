/* Replays the recorded order of acts and waits in one pass over them, by recorded time: an act comes before the wait
 * that it ends. */
#include "causes/what_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "causes/path_sleeps.h"
#include "causes/thread_origins.h"
#include "causes/what_if_run.h"
#include "profile/collect.h"

const double what_if_factors[WHAT_IF_STEPS] = { 0.9, 0.5, 0 };

/* ---- points ---- */

uint32_t what_if_thread(const struct what_if *w, uint32_t serial)
{
    const struct trace_thread *t = session_file_thread(w->loaded->file, serial);
    return t ? (uint32_t)(t - w->loaded->file->threads) : WHAT_IF_NONE;
}

static void what_if_add_point(struct what_if *w, enum point_kind kind, uint32_t thread, uint64_t left, uint64_t time,
                              uint32_t edge)
{
    GROW(w->points, w->point_count, w->point_room);
    w->points[w->point_count++] = (struct what_if_point){ time, left, kind, edge, thread, WHAT_IF_NONE };
}

/* Adds an act of a thread, and returns its edge. */
static uint32_t what_if_add_act(struct what_if *w, uint32_t thread, uint64_t time)
{
    const uint32_t edge = (uint32_t)w->edge_count;
    GROW(w->edges, w->edge_count, w->edge_room);
    w->edges[w->edge_count++] = (struct what_if_edge){ .time = time };
    what_if_add_point(w, POINT_ACT, thread, time, time, edge);
    return edge;
}

/* Whether nothing is known of what ended the wait. Time, and what is outside of all programs, are known to. */
static bool what_if_is_gap(const struct caused_wait *c)
{
    return !c->waker && !wait_is_timed(c) && c->wait.kind != DWELL_OBJECT_FILE;
}

/* Of several times off the CPU, the last ones count: they end the wait. */
static void what_if_add_gap(struct what_if *w, const struct caused_wait *c, const struct profile *waiting,
                            uint32_t waiter)
{
    const uint64_t blocked = c->wait.blocked, left = less(c->wait.back, blocked);
    if (!blocked || left < w->part.from || c->wait.back > w->part.to)
        return;
    what_if_add_point(w, POINT_GAP, waiter, left, c->wait.back, WHAT_IF_NONE);
    const struct profile_node *node = &waiting->nodes[c->wait.place.node];
    if (c->wait.kind || node->parent == PROFILE_NONE)
        return;
    const uint32_t function = profile_find_same_function(w->loaded->profile, waiting, node->function);
    if (function != PROFILE_NONE)
        w->blocked[function] += blocked;
}

static void what_if_add_waits(struct what_if *w, const struct wait_causes *causes)
{
    for (size_t i = 0; i < causes->all_count; i++) {
        const struct caused_wait *c = &causes->list[i];
        const uint32_t waiter = what_if_thread(w, c->wait.place.thread), waker = what_if_thread(w, c->waker);
        if (waiter == WHAT_IF_NONE)
            continue;
        if (what_if_is_gap(c))
            what_if_add_gap(w, c, causes->waiting, waiter);
        if (!c->waker || waker == WHAT_IF_NONE || c->wait.back > w->part.to || c->woken < w->part.from)
            continue;
        what_if_add_point(w, POINT_WAIT, waiter, c->wait.left, c->wait.back, what_if_add_act(w, waker, c->woken));
    }
}

static void what_if_add_starts(struct what_if *w, const struct wait_causes *causes)
{
    const struct session_file *file = w->loaded->file;
    struct thread_origin *origins = thread_origins_find(file, causes);
    for (uint32_t i = 0; i < file->thread_count; i++) {
        const uint64_t start = file->threads[i].start_time;
        const uint32_t maker = origins[i].creator ? what_if_thread(w, origins[i].creator) : WHAT_IF_NONE;
        const bool known = maker != WHAT_IF_NONE && origins[i].time >= w->part.from && origins[i].time <= start;
        if (start < w->part.to)
            what_if_add_point(w, POINT_START, i, start, start,
                              known ? what_if_add_act(w, maker, origins[i].time) : WHAT_IF_NONE);
    }
    free(origins);
}

/* What threads do that nobody waits for is of the run, too: an empty gap ends it. */
static void what_if_add_ends(struct what_if *w)
{
    const struct session_file *file = w->loaded->file;
    for (uint32_t i = 0; i < file->thread_count; i++) {
        const struct trace_thread *t = &file->threads[i];
        const uint64_t end = t->end_time ? smaller(t->end_time, w->part.to) : w->part.to;
        if (t->serial != w->part.thread && t->start_time < end && end > w->part.from)
            what_if_add_point(w, POINT_GAP, i, end, end, WHAT_IF_NONE);
    }
}

static int what_if_compare_points(const void *a, const void *b)
{
    const struct what_if_point *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

/* ---- stretches ---- */

/* Threads are followed from the beginning of the part, or from their start. */
static void what_if_reset(struct what_if *w)
{
    const struct session_file *file = w->loaded->file;
    for (size_t i = 0; i < file->thread_count; i++) {
        w->recorded[i] = larger(w->part.from, file->threads[i].start_time);
        for (int lane = 0; lane < WHAT_IF_STEPS; lane++)
            w->replayed[i].at[lane] = w->recorded[i];
    }
}

/* The stretch of the thread before the point. It may be empty. Points are asked for in their order. */
static struct path_range what_if_stretch(struct what_if *w, const struct what_if_point *p)
{
    const uint64_t begin = w->recorded[p->thread];
    w->recorded[p->thread] = larger(begin, p->time);
    return (struct path_range){ w->loaded->file->threads[p->thread].serial, begin, larger(begin, p->left), begin };
}

/* Numbers what the threads do between the points, by thread and time. The caller frees the list. */
static struct path_range *what_if_make_stretches(struct what_if *w)
{
    const size_t threads = w->loaded->file->thread_count;
    size_t *next = need_memory(threads + 1, sizeof *next);
    what_if_reset(w);
    for (size_t i = 0; i < w->point_count; i++) {
        const struct path_range s = what_if_stretch(w, &w->points[i]);
        next[w->points[i].thread] += s.begin < s.end;
    }
    for (size_t i = 0; i < threads; i++) {
        w->stretch_count += next[i];
        next[i] = w->stretch_count - next[i];
    }
    struct path_range *list = need_memory(w->stretch_count + 1, sizeof *list);
    what_if_reset(w);
    for (size_t i = 0; i < w->point_count; i++) {
        struct what_if_point *p = &w->points[i];
        const struct path_range s = what_if_stretch(w, p);
        if (s.begin == s.end)
            continue;
        p->work = (uint32_t)next[p->thread]++;
        list[p->work] = s;
    }
    free(next);
    return list;
}

/* A thread that gives up its processor again and again waits for something that nobody knows. */
static void what_if_find_yields(struct what_if *w)
{
    static const char *const names[] = { "sched_yield", "thrd_yield" };
    const struct analysis *analysis = w->loaded;
    w->yields = need_memory(w->stretch_count + 1, sizeof *w->yields);
    for (uint32_t f = 0; f < analysis->profile->function_count; f++) {
        const struct path_amounts *amounts = &w->scan.amounts[f];
        if (strcmp(analysis->names[f].name, names[0]) != 0 && strcmp(analysis->names[f].name, names[1]) != 0)
            continue;
        for (size_t i = 0; i < amounts->count;) {
            uint32_t stretch;
            const struct path_times times = path_amounts_next(amounts, &i, &stretch);
            w->yields[stretch] += times.work + times.runnable;
        }
    }
}

struct what_if *what_if_new(const struct analysis *analysis, const struct critical_part *part,
                            struct wait_causes *causes, struct path_memory *memory)
{
    struct what_if *w = need_memory(1, sizeof *w);
    *w = (struct what_if){ .loaded = analysis, .part = *part };
    w->recorded = need_memory(analysis->file->thread_count + 1, sizeof *w->recorded);
    w->replayed = need_memory(analysis->file->thread_count + 1, sizeof *w->replayed);
    w->gap_times = need_memory(analysis->file->thread_count + 1, sizeof *w->gap_times);
    w->blocked = need_memory(analysis->profile->function_count + 1, sizeof *w->blocked);
    what_if_add_waits(w, causes);
    what_if_add_starts(w, causes);
    what_if_add_ends(w);
    what_if_add_point(w, POINT_END, what_if_thread(w, part->thread), part->to, part->to, WHAT_IF_NONE);
    wait_causes_drop(causes);
    qsort(w->points, w->point_count, sizeof *w->points, what_if_compare_points);
    struct path_range *stretches = what_if_make_stretches(w);
    w->scan = path_scan_run(analysis->file, analysis->profile, analysis_jobs(analysis), stretches, w->stretch_count,
                            true, memory);
    free(stretches);
    w->less = need_memory(w->stretch_count + 1, sizeof *w->less);
    what_if_find_yields(w);
    return w;
}

void what_if_free(struct what_if *w)
{
    free(w->points);
    free(w->edges);
    path_scan_drop(&w->scan);
    free(w->less);
    free(w->yields);
    free(w->gap_times);
    free(w->blocked);
    free(w->recorded);
    free(w->replayed);
    free(w);
}

/* ---- replaying ---- */

static uint64_t what_if_end_gap(const struct what_if *w, const struct what_if_point *p, uint64_t reached)
{
    if (w->gaps == GAPS_CLOSED)
        return reached;
    return w->gaps == GAPS_AS_RECORDED ? reached + (p->time - p->left) : larger(reached, p->time);
}

/* The ticks of gaps on the longest way to the point, as recorded. `waited`: an act decided when the thread got there.
 */
static void what_if_follow_gaps(struct what_if *w, const struct what_if_point *p, bool waited)
{
    uint64_t *gaps = &w->gap_times[p->thread];
    *gaps += p->work == WHAT_IF_NONE ? 0 : w->yields[p->work];
    if (p->kind == POINT_GAP)
        *gaps += p->time - p->left;
    else if (p->kind == POINT_ACT)
        w->edges[p->edge].gaps = *gaps;
    else if (waited)
        *gaps = w->edges[p->edge].gaps;
}

/* Moves the thread to the point: what it did before took less than recorded, or more. A wait ends when the act has
 * come, and as long after it as in the recording. It is none if the act comes first. */
static void what_if_replay_point(struct what_if *w, const struct what_if_point *p)
{
    const uint64_t length = less(p->left, w->recorded[p->thread]);
    const struct what_if_lanes nothing = { { 0 } }, *left_out = p->work == WHAT_IF_NONE ? &nothing : &w->less[p->work];
    struct what_if_edge *edge = p->edge == WHAT_IF_NONE ? NULL : &w->edges[p->edge];
    struct what_if_lanes *replayed = &w->replayed[p->thread];
    const uint64_t yields = w->gaps == GAPS_CLOSED && p->work != WHAT_IF_NONE ? w->yields[p->work] : 0;
    bool waited = false;
    for (int lane = 0; lane < WHAT_IF_STEPS; lane++) {
        uint64_t reached = replayed->at[lane] + less(length - left_out->at[lane], yields);
        if (edge && p->kind == POINT_ACT)
            edge->replayed.at[lane] = reached;
        else if (p->kind == POINT_GAP)
            reached = what_if_end_gap(w, p, reached);
        else if (edge && (p->kind == POINT_START || edge->replayed.at[lane] > reached)) {
            reached = edge->replayed.at[lane] + (p->time - edge->time);
            waited = waited || lane == 0;
        }
        replayed->at[lane] = reached;
    }
    what_if_follow_gaps(w, p, waited);
    w->recorded[p->thread] = larger(w->recorded[p->thread], p->time);
}

/* The lengths of the part. */
static struct what_if_lanes what_if_replay(struct what_if *w)
{
    const uint32_t last = what_if_thread(w, w->part.thread);
    struct what_if_lanes lengths;
    what_if_reset(w);
    memset(w->gap_times, 0, w->loaded->file->thread_count * sizeof *w->gap_times);
    for (size_t i = 0; i < w->point_count; i++) {
        what_if_replay_point(w, &w->points[i]);
        if (w->points[i].kind == POINT_END)
            break;
    }
    for (int lane = 0; lane < WHAT_IF_STEPS; lane++)
        lengths.at[lane] = less(w->replayed[last].at[lane], w->part.from);
    return lengths;
}

/* With a number of processors, threads are ready as long as the replay makes them wait for one. */
static uint64_t what_if_scaled_time(const struct what_if *w, const struct path_times *times)
{
    return times->work + (w->cpus ? 0 : times->runnable);
}

static void what_if_scale_function(struct what_if *w, uint32_t function, const double factors[WHAT_IF_STEPS])
{
    const struct path_amounts *amounts = &w->scan.amounts[function];
    for (size_t i = 0; i < amounts->count;) {
        uint32_t stretch;
        const struct path_times times = path_amounts_next(amounts, &i, &stretch);
        const double time = (double)what_if_scaled_time(w, &times);
        for (int lane = 0; lane < WHAT_IF_STEPS; lane++)
            w->less[stretch].at[lane] += (uint64_t)llround(time * (1 - factors[lane]));
    }
}

uint64_t what_if_predict(struct what_if *w, const struct what_if_scale *scales, size_t count)
{
    memset(w->less, 0, w->stretch_count * sizeof *w->less);
    for (size_t i = 0; i < count; i++) {
        double factors[WHAT_IF_STEPS];
        for (int lane = 0; lane < WHAT_IF_STEPS; lane++)
            factors[lane] = scales[i].factor;
        what_if_scale_function(w, scales[i].function, factors);
    }
    return w->cpus ? what_if_run_on_cpus(w, 0) : what_if_replay(w).at[0];
}

/* ---- limits ---- */

uint64_t what_if_unknown(struct what_if *w)
{
    memset(w->less, 0, w->stretch_count * sizeof *w->less);
    what_if_replay(w);
    return w->gap_times[what_if_thread(w, w->part.thread)];
}

uint64_t what_if_blocked(const struct what_if *w, uint32_t function)
{
    return w->blocked[function];
}

static uint64_t what_if_predict_with(struct what_if *w, const struct what_if_scale *scales, size_t count,
                                     enum what_if_gaps gaps)
{
    w->gaps = gaps;
    const uint64_t length = what_if_predict(w, scales, count);
    w->gaps = GAPS_AS_RECORDED;
    return length;
}

/* However threads depend on each other, a run becomes shorter at most by all time that is saved, and by the greatest
 * factor; and longer likewise. If nothing is slower, no wait ends later than recorded; if nothing is faster, none ends
 * earlier. */
static struct what_if_range what_if_bounds(const struct what_if *w, const struct what_if_scale *scales, size_t count,
                                           uint64_t length)
{
    double saved = 0, added = 0, least = 1, most = 1;
    for (size_t i = 0; i < count; i++) {
        const double time = (double)what_if_scaled_time(w, &w->scan.sums[scales[i].function]),
                     factor = scales[i].factor;
        saved += factor < 1 ? time * (1 - factor) : 0;
        added += factor > 1 ? time * (factor - 1) : 0;
        least = factor < least ? factor : least;
        most = factor > most ? factor : most;
    }
    const double shortest = fmax((double)length - saved, (double)length * least),
                 longest = fmin((double)length + added, (double)length * most);
    return (struct what_if_range){ (uint64_t)llround(shortest), (uint64_t)llround(longest) };
}

bool what_if_is_range(uint64_t unknown, uint64_t recorded)
{
    enum { MOST_UNKNOWN_PERCENT = 5 };
    return (double)unknown * 100 > (double)recorded * MOST_UNKNOWN_PERCENT;
}

struct what_if_range what_if_limit(struct what_if *w, const struct what_if_scale *scales, size_t count)
{
    const struct what_if_range bounds = what_if_bounds(w, scales, count, what_if_predict(w, NULL, 0));
    const uint64_t predicted = what_if_predict(w, scales, count),
                   closed = what_if_predict_with(w, scales, count, GAPS_CLOSED),
                   late = what_if_predict_with(w, scales, count, GAPS_UNTIL_RECORDED);
    bool slower = false, faster = false;
    for (size_t i = 0; i < count; i++) {
        slower = slower || scales[i].factor > 1;
        faster = faster || scales[i].factor < 1;
    }
    const uint64_t least = w->cpus || !count ? closed : faster ? larger(bounds.least, closed) : late;
    return (struct what_if_range){ smaller(predicted, least), larger(predicted, slower ? bounds.most : late) };
}

void what_if_set_cpus(struct what_if *w, unsigned cpus)
{
    w->cpus = cpus;
}

/* ---- ranking ---- */

static void what_if_predict_rank(struct what_if *w, struct what_if_rank *rank)
{
    memset(w->less, 0, w->stretch_count * sizeof *w->less);
    what_if_scale_function(w, rank->function, what_if_factors);
    struct what_if_lanes lengths = { { 0 } };
    if (!w->cpus)
        lengths = what_if_replay(w);
    for (int lane = 0; lane < WHAT_IF_STEPS; lane++)
        rank->predicted[lane] = w->cpus ? what_if_run_on_cpus(w, lane) : lengths.at[lane];
}

static int what_if_compare_times(const void *a, const void *b, void *context)
{
    const struct what_if_rank *x = a, *y = b;
    const struct function_name *names = context;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return strcmp(names[x->function].name, names[y->function].name);
}

static int what_if_compare_ranks(const void *a, const void *b, void *context)
{
    const struct what_if_rank *x = a, *y = b;
    if (x->predicted[1] != y->predicted[1])
        return x->predicted[1] < y->predicted[1] ? -1 : 1;
    return what_if_compare_times(a, b, context);
}

struct what_if_rank *what_if_rank_functions(struct what_if *w, size_t limit, bool limits, size_t *count)
{
    const size_t functions = w->loaded->profile->function_count;
    struct what_if_rank *ranks = need_memory(functions + 1, sizeof *ranks);
    *count = 0;
    for (uint32_t i = 0; i < functions; i++) {
        const uint64_t time = w->scan.sums[i].work + w->scan.sums[i].runnable;
        if (time)
            ranks[(*count)++] = (struct what_if_rank){ .function = i, .time = time };
    }
    qsort_r(ranks, *count, sizeof *ranks, what_if_compare_times, w->loaded->names);
    *count = smaller(*count, limit);
    for (size_t i = 0; i < *count; i++) {
        what_if_predict_rank(w, &ranks[i]);
        if (limits)
            ranks[i].least =
                what_if_limit(w, &(struct what_if_scale){ ranks[i].function, what_if_factors[1] }, 1).least;
    }
    qsort_r(ranks, *count, sizeof *ranks, what_if_compare_ranks, w->loaded->names);
    return ranks;
}
