/* Adds up times by thread and bin, and shares the threads' values among the bins. */
#include "view/activity.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/wide.h"

/* A page has a few thousand pixels at most. With many threads, bins are wider, so that the table stays small. */
enum { MAX_BINS = 1024, MIN_BINS = 16, MAX_ROWS = 1 << 18 };

void activity_begin(struct activity *a, uint64_t length, size_t lanes)
{
    size_t most = MAX_BINS;
    while (most > MIN_BINS && lanes * most > MAX_ROWS)
        most /= 2;
    *a = (struct activity){ .width = 1, .lanes = lanes };
    while (length / most > a->width || (length / most == a->width && length % most))
        a->width *= 2;
    a->bins = (size_t)(length / a->width + (length % a->width != 0));
    a->raw = need_memory(lanes + 1, sizeof(struct activity_bin *));
}

void activity_bins_add(struct activity_bin *bins, size_t count, uint64_t width, enum activity_kind kind, uint64_t begin,
                       uint64_t end)
{
    end = smaller(end, width * count);
    while (begin < end) {
        const uint64_t bin = begin / width, until = smaller((bin + 1) * width, end);
        bins[bin].times[kind] += until - begin;
        begin = until;
    }
}

void activity_bin_finish(struct activity_bin *bin)
{
    uint64_t *t = bin->times;
    t[ACTIVITY_CPU] = less(less(t[ACTIVITY_CPU], t[ACTIVITY_BLOCKED]), t[ACTIVITY_PREEMPTED]);
}

static void activity_add(struct activity *a, size_t lane, enum activity_kind kind, uint64_t begin, uint64_t end)
{
    if (!a->raw[lane])
        a->raw[lane] = need_memory(a->bins + 1, sizeof *a->raw[lane]);
    activity_bins_add(a->raw[lane], a->bins, a->width, kind, begin, end);
}

void activity_add_calls(struct activity *a, size_t lane, uint64_t begin, uint64_t end)
{
    activity_add(a, lane, ACTIVITY_CPU, begin, end);
}

void activity_add_off_cpu(struct activity *a, size_t lane, bool preempted, uint64_t begin, uint64_t end)
{
    activity_add(a, lane, preempted ? ACTIVITY_PREEMPTED : ACTIVITY_BLOCKED, begin, end);
}

/* Replaces the times of a kind by shares of the sum, in proportion to them. The shares add up to the sum. If there are
 * no times, the first bin gets it all. */
static void activity_deal(struct activity_bin *bins, size_t count, enum activity_kind kind, uint64_t sum)
{
    uint64_t whole = 0, before = 0, dealt = 0;
    for (size_t i = 0; i < count; i++)
        whole += bins[i].times[kind];
    if (!whole) {
        bins[0].times[kind] = sum;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        before += bins[i].times[kind];
        const uint64_t until = multiply_divide(sum, before, whole);
        bins[i].times[kind] = until - dealt;
        dealt = until;
    }
}

void activity_share(struct activity *a, size_t lane, const struct times *times)
{
    struct activity_bin *bins = a->raw[lane];
    if (!bins || !a->bins)
        return;
    for (size_t i = 0; i < a->bins; i++)
        activity_bin_finish(&bins[i]);
    activity_deal(bins, a->bins, ACTIVITY_CPU, times_value(times, VALUE_CPU, INCLUSIVE));
    activity_deal(bins, a->bins, ACTIVITY_BLOCKED, times_value(times, VALUE_BLOCKED, INCLUSIVE));
    activity_deal(bins, a->bins, ACTIVITY_PREEMPTED, times_value(times, VALUE_PREEMPTED, INCLUSIVE));
    for (size_t i = 0; i < a->bins; i++) {
        const uint64_t *t = bins[i].times;
        if (!t[ACTIVITY_CPU] && !t[ACTIVITY_BLOCKED] && !t[ACTIVITY_PREEMPTED])
            continue;
        GROW(a->rows, a->row_count, a->room);
        a->rows[a->row_count++] = (struct activity_row){ (uint32_t)lane, (uint32_t)i, t[ACTIVITY_CPU],
                                                         t[ACTIVITY_BLOCKED], t[ACTIVITY_PREEMPTED] };
    }
    free(bins);
    a->raw[lane] = NULL;
}

struct container_table activity_table(struct activity *a)
{
    static const struct activity_row none;
    const struct activity_row *first = a->rows ? a->rows : &none;
    const size_t stride = sizeof *first;
    a->columns[0] = (struct container_column){ "thread", &first->thread, stride, CONTAINER_U32, NULL };
    a->columns[1] = (struct container_column){ "bin", &first->bin, stride, CONTAINER_U32, NULL };
    a->columns[2] = (struct container_column){ "cpu", &first->cpu, stride, CONTAINER_U64, NULL };
    a->columns[3] = (struct container_column){ "blocked", &first->blocked, stride, CONTAINER_U64, NULL };
    a->columns[4] = (struct container_column){ "preempted", &first->preempted, stride, CONTAINER_U64, NULL };
    return (struct container_table){ "activity", a->row_count, a->columns, ACTIVITY_COLUMNS };
}

void activity_drop(struct activity *a)
{
    for (size_t i = 0; i < a->lanes; i++)
        free(a->raw[i]);
    free(a->raw);
    free(a->rows);
}
