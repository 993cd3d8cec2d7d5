/* Adds up times of all threads by cell. */
#include "view/heat_map.h"

#include <stdlib.h>

#include "base/memory.h"

/* A page is some thousand pixels wide. A map of one column would say nothing. */
enum { MOST_COLUMNS = 1024, LEAST_COLUMNS = 2 };

void heat_map_begin(struct heat_map *h, uint64_t length, uint64_t ticks_per_second)
{
    uint64_t seconds = 1;
    *h = (struct heat_map){ 0 };
    if (!ticks_per_second || length / ticks_per_second < LEAST_COLUMNS)
        return;
    while (length / seconds / ticks_per_second >= MOST_COLUMNS)
        seconds *= 2;
    h->width = ticks_per_second * seconds / HEAT_CELLS;
    if (!h->width)
        return;
    h->cells = (size_t)(length / h->width + (length % h->width != 0));
    h->bins = need_memory(h->cells, sizeof *h->bins);
}

void heat_map_add_calls(struct heat_map *h, uint64_t begin, uint64_t end)
{
    activity_bins_add(h->bins, h->cells, h->width, ACTIVITY_CPU, begin, end);
}

void heat_map_add_off_cpu(struct heat_map *h, bool preempted, uint64_t begin, uint64_t end)
{
    activity_bins_add(h->bins, h->cells, h->width, preempted ? ACTIVITY_PREEMPTED : ACTIVITY_BLOCKED, begin, end);
}

void heat_map_finish(struct heat_map *h)
{
    for (size_t i = 0; i < h->cells; i++) {
        activity_bin_finish(&h->bins[i]);
        const uint64_t *t = h->bins[i].times;
        if (!t[ACTIVITY_CPU] && !t[ACTIVITY_BLOCKED] && !t[ACTIVITY_PREEMPTED])
            continue;
        GROW(h->rows, h->row_count, h->room);
        h->rows[h->row_count++] =
            (struct heat_row){ (uint32_t)i, t[ACTIVITY_CPU], t[ACTIVITY_BLOCKED], t[ACTIVITY_PREEMPTED] };
    }
}

struct container_table heat_map_table(struct heat_map *h)
{
    static const struct heat_row none;
    const struct heat_row *first = h->rows ? h->rows : &none;
    const size_t stride = sizeof *first;
    h->columns[0] = (struct container_column){ "cell", &first->cell, stride, CONTAINER_U32, NULL };
    h->columns[1] = (struct container_column){ "cpu", &first->cpu, stride, CONTAINER_U64, NULL };
    h->columns[2] = (struct container_column){ "blocked", &first->blocked, stride, CONTAINER_U64, NULL };
    h->columns[3] = (struct container_column){ "preempted", &first->preempted, stride, CONTAINER_U64, NULL };
    return (struct container_table){ "heat", h->row_count, h->columns, HEAT_COLUMNS };
}

void heat_map_drop(struct heat_map *h)
{
    free(h->bins);
    free(h->rows);
}
