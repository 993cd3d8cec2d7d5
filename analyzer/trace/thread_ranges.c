/* Ranges of time on threads: sorted once, and found by halving the list. */
#include "trace/thread_ranges.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

void thread_ranges_add(struct thread_ranges *ranges, uint32_t thread, uint64_t begin, uint64_t end)
{
    if (begin >= end)
        return;
    GROW(ranges->list, ranges->count, ranges->room);
    ranges->list[ranges->count++] = (struct thread_range){ thread, begin, end };
}

static int thread_ranges_compare(const void *a, const void *b)
{
    const struct thread_range *x = a, *y = b;
    return ORDER_BY(x, y, thread, begin);
}

void thread_ranges_join(struct thread_ranges *ranges, uint64_t begin, uint64_t end)
{
    size_t kept = 0;
    if (ranges->count)
        qsort(ranges->list, ranges->count, sizeof *ranges->list, thread_ranges_compare);
    for (size_t i = 0; i < ranges->count; i++) {
        struct thread_range range = ranges->list[i];
        struct thread_range *last = kept ? &ranges->list[kept - 1] : NULL;
        range.begin = range.begin < begin ? begin : range.begin;
        range.end = range.end > end ? end : range.end;
        if (range.begin >= range.end)
            continue;
        if (!last || last->thread != range.thread || last->end < range.begin)
            ranges->list[kept++] = range;
        else if (last->end < range.end)
            last->end = range.end;
    }
    ranges->count = kept;
}

/* The number of ranges before the thread's first one that ends after `time`. */
static size_t thread_ranges_before(const struct thread_ranges *ranges, uint32_t thread, uint64_t time)
{
    return LOWER_BOUND(range, ranges->list, ranges->count,
                       range->thread < thread || (range->thread == thread && range->end <= time));
}

void thread_ranges_keep(struct thread_ranges *ranges, const struct thread_ranges *kept)
{
    struct thread_ranges both = { .list = NULL };
    for (size_t i = 0; i < ranges->count; i++) {
        const struct thread_range *range = &ranges->list[i];
        for (size_t j = thread_ranges_before(kept, range->thread, range->begin); j < kept->count; j++) {
            const struct thread_range *other = &kept->list[j];
            if (other->thread != range->thread || other->begin >= range->end)
                break;
            thread_ranges_add(&both, range->thread, larger(range->begin, other->begin),
                              smaller(range->end, other->end));
        }
    }
    thread_ranges_free(ranges);
    *ranges = both;
}

const struct thread_range *thread_ranges_of(const struct thread_ranges *ranges, uint32_t thread, size_t *count)
{
    const size_t first = thread_ranges_before(ranges, thread, 0);
    *count = thread_ranges_before(ranges, thread, UINT64_MAX) - first;
    return ranges->list + first;
}

bool thread_ranges_hold(const struct thread_ranges *ranges, uint32_t thread, uint64_t time)
{
    const size_t at = thread_ranges_before(ranges, thread, time);
    return at < ranges->count && ranges->list[at].thread == thread && ranges->list[at].begin <= time;
}

void thread_ranges_free(struct thread_ranges *ranges)
{
    free(ranges->list);
    *ranges = (struct thread_ranges){ 0 };
}
