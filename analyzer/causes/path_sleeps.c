/* Adds up the timed waits that lie in the segments of a critical path. */
#include "causes/path_sleeps.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/units.h"

static int path_sleeps_compare(const void *a, const void *b)
{
    const struct critical_segment *x = a, *y = b;
    return ORDER_BY(x, y, thread, begin);
}

/* The part of the wait that is in the segments, which are sorted. */
static uint64_t path_sleeps_in(const struct critical_segment *segments, size_t count, const struct profile_wait *wait)
{
    const uint64_t begin = less(wait->back, wait->blocked);
    const uint32_t thread = wait->place.thread;
    size_t i = LOWER_BOUND(s, segments, count, s->thread < thread || (s->thread == thread && s->end <= begin));
    uint64_t ticks = 0;
    for (; i < count && segments[i].thread == thread && segments[i].begin < wait->back; i++)
        ticks += less(smaller(segments[i].end, wait->back), larger(segments[i].begin, begin));
    return ticks;
}

/* By node of the waiting calls. The caller frees it. */
static uint64_t *path_sleeps_by_node(const struct critical_path *path, const struct wait_causes *causes)
{
    uint64_t *ticks = need_memory(causes->waiting->node_count + 1, sizeof *ticks);
    struct critical_segment *sorted = need_memory(path->segment_count + 1, sizeof *sorted);
    for (size_t i = 0; i < path->segment_count; i++)
        sorted[i] = path->segments[i];
    qsort(sorted, path->segment_count, sizeof *sorted, path_sleeps_compare);
    for (size_t i = 0; i < causes->all_count; i++)
        if (wait_is_timed(&causes->list[i]))
            ticks[causes->list[i].wait.place.node] +=
                path_sleeps_in(sorted, path->segment_count, &causes->list[i].wait);
    free(sorted);
    return ticks;
}

/* The function that called the node's one; PROFILE_NONE if it is a thread's first one. */
static uint32_t path_sleeps_caller(const struct profile *p, uint32_t node)
{
    const uint32_t parent = p->nodes[node].parent;
    return parent == PROFILE_NONE || p->nodes[parent].parent == PROFILE_NONE ? PROFILE_NONE : p->nodes[parent].function;
}

/* The node that slept most, of the caller whose calls did. */
static uint32_t path_sleeps_longest(const struct profile *p, const uint64_t *ticks)
{
    const size_t others = p->function_count; /* the place for those without a caller */
    uint64_t *by_caller = need_memory(others + 1, sizeof *by_caller);
    uint32_t longest = PROFILE_NONE;
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->node_count; i++)
        by_caller[smaller(path_sleeps_caller(p, i), others)] += ticks[i];
    for (uint32_t i = 0; i < p->node_count; i++) {
        const uint64_t of_caller = by_caller[smaller(path_sleeps_caller(p, i), others)];
        if (!ticks[i] || of_caller < most || (of_caller == most && ticks[i] <= ticks[longest]))
            continue;
        longest = i;
        most = of_caller;
    }
    free(by_caller);
    return longest;
}

struct path_sleeps path_sleeps_find(const struct analysis *analysis, const struct critical_path *path,
                                    const struct wait_causes *causes)
{
    const struct profile *waiting = causes->waiting;
    struct path_sleeps s = { .caller = PROFILE_NONE, .function = PROFILE_NONE };
    uint64_t *ticks = path_sleeps_by_node(path, causes);
    for (size_t i = 0; i < waiting->node_count; i++)
        s.ticks += ticks[i];
    const uint32_t longest = path_sleeps_longest(waiting, ticks);
    free(ticks);
    if (longest == PROFILE_NONE || waiting->nodes[longest].parent == PROFILE_NONE)
        return s;
    const uint32_t caller = path_sleeps_caller(waiting, longest);
    s.function = profile_find_same_function(analysis->profile, waiting, waiting->nodes[longest].function);
    if (caller != PROFILE_NONE)
        s.caller = profile_find_same_function(analysis->profile, waiting, caller);
    return s;
}

void path_sleeps_remark(struct analysis *analysis, const struct path_sleeps *sleeps, const struct critical_part *part)
{
    enum { LEAST_PERCENT = 5 };
    const double percent = percent_of(sleeps->ticks, part->to - part->from);
    if (percent <= LEAST_PERCENT || sleeps->function == PROFILE_NONE)
        return;
    const char *by = analysis->names[sleeps->function].name;
    const bool called = sleeps->caller != PROFILE_NONE;
    summary_remark(&analysis->summary, "timed-sleep",
                   "%.1f %% of the path is timed sleep, most of it in %s%s%s%s. Sleeps are taken as fixed: a loop that "
                   "sleeps until another thread is ready does not get shorter with that thread here",
                   percent, called ? analysis->names[sleeps->caller].name : by, called ? " (" : "", called ? by : "",
                   called ? ")" : "");
}
