/* Keeps amounts by call path and period, joins periods, and makes them from the events of a session. */
#include "profile/periods.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/sorted.h"
#include "profile/chunk_ends.h"
#include "profile/collector.h"
#include "profile/sampled_trees.h"
#include "profile/threads.h"
#include "profile/trees.h"

/* ---- rows ---- */

static void periods_add_row(struct periods *p, struct number_index *places, uint32_t period, uint32_t path,
                            const struct profile_node *amounts)
{
    struct index_slot *slot = index_find(places, path, period);
    if (slot->value_plus_1) {
        profile_add_values(&p->rows[slot->value_plus_1 - 1].amounts, amounts);
        return;
    }
    GROW(p->rows, p->row_count, p->room);
    index_set(places, slot, path, period, (uint32_t)p->row_count);
    p->rows[p->row_count++] = (struct period_row){ period, path, *amounts };
}

/* Adds up the rows that have the same new path and period. NULL keeps the numbers. Returns the places of the rows. */
static struct number_index *periods_renumber(struct periods *p, const uint32_t *paths, const uint32_t *numbers)
{
    struct number_index *places = index_new();
    const size_t count = p->row_count;
    p->row_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct period_row row = p->rows[i];
        periods_add_row(p, places, numbers ? numbers[row.period] : row.period, paths ? paths[row.path] : row.path,
                        &row.amounts);
    }
    return places;
}

static int periods_compare_rows(const void *a, const void *b)
{
    const struct period_row *x = a, *y = b;
    return ORDER_BY(x, y, period, path);
}

static void periods_sort(struct periods *p)
{
    if (p->row_count)
        qsort(p->rows, p->row_count, sizeof *p->rows, periods_compare_rows);
}

/* ---- joining ---- */

/* By period, its number after joining. */
static uint32_t *periods_join_borders(struct periods *p)
{
    uint32_t *numbers = need_memory(p->count, sizeof *numbers);
    for (uint32_t i = 0; i < p->count; i++) {
        numbers[i] = (uint32_t)((p->first + i) / 2 - p->first / 2);
        if (i && numbers[i] != numbers[i - 1])
            p->borders[numbers[i]] = p->borders[i];
    }
    const uint64_t end = p->borders[p->count];
    p->count = numbers[p->count - 1] + 1;
    p->borders[p->count] = end;
    p->first /= 2;
    p->joined++;
    return numbers;
}

bool periods_join(struct periods *p)
{
    if (p->count == 1)
        return false;
    uint32_t *numbers = periods_join_borders(p);
    index_free(periods_renumber(p, NULL, numbers));
    free(numbers);
    periods_sort(p);
    return true;
}

/* ---- sums of the collector ---- */

void period_sums_grow(struct period_sums *s, uint32_t node)
{
    if (node >= s->since_room) {
        const size_t before = s->since_room;
        while (s->since_room <= node)
            s->since_room = s->since_room ? 2 * s->since_room : 256;
        s->since = need_more(s->since, s->since_room, sizeof *s->since);
        memset(s->since + before, 0, (s->since_room - before) * sizeof *s->since);
    }
    GROW(s->touched, s->touched_count, s->touched_room);
    s->touched[s->touched_count++] = node;
    s->since[node] = s->turn;
}

static void period_sums_join(struct period_sums *s)
{
    uint32_t *numbers = periods_join_borders(s->into);
    index_free(s->places);
    s->places = periods_renumber(s->into, NULL, numbers);
    if (s->period != PERIOD_OUTSIDE)
        s->period = numbers[s->period];
    free(numbers);
}

void period_sums_move(struct period_sums *s, struct profile *from)
{
    for (size_t i = 0; i < s->touched_count; i++) {
        struct profile_node *node = &from->nodes[s->touched[i]];
        if (s->period != PERIOD_OUTSIDE && node->parent != PROFILE_NONE)
            periods_add_row(s->into, s->places, s->period, s->touched[i], node);
        amounts_clear(node);
        while (s->into->row_count > s->most && s->into->count > 1)
            period_sums_join(s);
    }
    s->touched_count = 0;
    s->turn++;
}

void period_sums_find(struct period_sums *s, uint64_t time, uint64_t *from, uint64_t *to)
{
    const struct periods *p = s->into;
    const uint32_t next = (uint32_t)LOWER_BOUND(border, p->borders, p->count + 1, *border <= time);
    *from = next ? p->borders[next - 1] : 0;
    *to = next <= p->count ? p->borders[next] : UINT64_MAX;
    s->period = next && next <= p->count ? next - 1 : PERIOD_OUTSIDE;
}

/* ---- a session ---- */

static void periods_read_chunks(struct periods *p, const struct session_file *file,
                                const struct session_samples *samples, const struct selection *selection, size_t most)
{
    struct period_sums sums = { .into = p, .places = index_new(), .turn = 1, .most = most };
    uint64_t *ends = chunk_ends(file);
    struct collector collector;
    collector_begin(&collector, file, samples, NULL, false);
    collector.periods = collector.sampled.periods = &sums;
    progress_begin("reading periods", file->path, file->chunk_count);
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        progress_add(1);
        if (chunk->kind == DWELL_CHUNK_EVENTS && selection_takes(selection, file, chunk->process, chunk->thread) &&
            ends[i] >= p->borders[0] && chunk->start_time < p->borders[p->count])
            collector_add_chunk(&collector, chunk, true);
    }
    progress_end();
    uint32_t *paths = profile_add_nodes(p->profile, collector.profile);
    index_free(periods_renumber(p, paths, NULL));
    free(paths);
    collector_end(&collector);
    free(ends);
    index_free(sums.places);
    free(sums.touched);
    free(sums.since);
}

/* Call trees have no times. */
static void periods_add_trees(struct periods *p, const struct session_file *file, const struct session_samples *samples,
                              const struct selection *selection)
{
    struct profile *trees = trees_profile(file, selection, false);
    if (trees->node_count > trees->thread_count) {
        if (samples)
            sampled_trees_add(trees, file, samples);
        while (periods_join(p))
            ;
        uint32_t *paths = profile_add_nodes(p->profile, trees);
        struct number_index *places = periods_renumber(p, NULL, NULL);
        for (size_t i = 0; i < trees->node_count; i++)
            if (trees->nodes[i].parent != PROFILE_NONE)
                periods_add_row(p, places, 0, paths[i], &trees->nodes[i]);
        index_free(places);
        free(paths);
    }
    profile_free(trees);
}

static void periods_flag_blind(struct periods *p, const struct session_file *file)
{
    bool *blind = threads_find_blind(p->profile, file);
    for (size_t i = 0; i < p->row_count; i++)
        if (blind[p->rows[i].path])
            p->rows[i].amounts.flagged = p->rows[i].amounts.elapsed;
    free(blind);
}

struct periods *periods_collect(const struct session_file *file, const struct session_samples *samples,
                                const struct selection *selection, uint64_t *borders, uint32_t count, uint64_t first,
                                size_t most)
{
    struct periods *p = need_memory(1, sizeof *p);
    *p = (struct periods){ .profile = profile_new(), .borders = borders, .count = count, .first = first };
    periods_read_chunks(p, file, samples, selection, most);
    periods_add_trees(p, file, samples, selection);
    periods_flag_blind(p, file);
    periods_sort(p);
    return p;
}

void periods_free(struct periods *p)
{
    profile_free(p->profile);
    free(p->borders);
    free(p->rows);
    free(p);
}
