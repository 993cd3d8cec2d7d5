/* Reads rows of durations, each of which is checked before it is added. */
#include "profile/tree_durations.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/path_probes.h"

bool tree_durations_can_be(const struct dwell_duration_row *row)
{
    return row->counter == DWELL_DURATION_ONE ||
           (row->counter < DWELL_DURATION_COUNTERS && row->calls && !(row->calls >> DURATION_COUNT_BITS));
}

bool tree_durations_add_row(struct durations **d, const struct dwell_duration_row *row)
{
    if (!tree_durations_can_be(row)) /* such a counter has no middle */
        return false;
    if (row->counter != DWELL_DURATION_ONE)
        return durations_add_counter(d, row->counter, row->calls,
                                     durations_middle(row->counter) * row->calls * DWELL_PROBE_FRACTION);
    durations_add(d, call_ticks(row->calls), 1, row->calls);
    return true;
}

struct tree_durations_reader {
    struct profile *profile;
    const uint32_t *nodes;
    size_t count;
    bool damaged;
};

static bool tree_durations_take(void *context, const void *bytes)
{
    struct tree_durations_reader *r = context;
    struct dwell_duration_row row;
    memcpy(&row, bytes, sizeof row);
    if (!row.node || r->damaged)
        return false;
    r->damaged =
        row.node >= r->count || !tree_durations_add_row(&r->profile->nodes[r->nodes[row.node]].durations, &row);
    return !r->damaged;
}

bool tree_durations_read(const struct tree_chunks *chunks, const struct session_file *file, uint32_t process,
                         uint32_t thread, struct profile *p, const uint32_t *nodes, size_t count)
{
    struct tree_durations_reader r = { p, nodes, count, false };
    tree_chunks_read(chunks, file, process, thread, sizeof(struct dwell_duration_row), tree_durations_take, &r);
    return !r.damaged;
}

/* ---- sessions of mode profile ---- */

static enum dwell_durations tree_durations_kind_of(uint32_t stated)
{
    return stated == DWELL_DURATIONS_NET || stated == DWELL_DURATIONS_RAW ? (enum dwell_durations)stated
                                                                          : DWELL_DURATIONS_NONE;
}

enum dwell_durations tree_durations_kind(const struct session_file *file, uint32_t process)
{
    const size_t place = session_file_summed_of(file, process);
    if (file->sums.summed_count)
        return place < file->sums.summed_count ? tree_durations_kind_of(file->sums.summed[place].record.durations)
                                               : DWELL_DURATIONS_NONE;
    return file->header.mode == DWELL_MODE_PROFILE && file->header.also & DWELL_ALSO_HISTOGRAMS ? DWELL_DURATIONS_RAW
                                                                                                : DWELL_DURATIONS_NONE;
}

unsigned tree_durations_kind_bit(enum dwell_durations kind)
{
    return kind == DWELL_DURATIONS_NONE ? 0 : 1u << kind;
}

unsigned tree_durations_kinds(const struct session_file *file)
{
    unsigned kinds = file->sums.summed_count ? 0 : tree_durations_kind_bit(tree_durations_kind(file, 0));
    for (size_t i = 0; i < file->sums.summed_count; i++)
        kinds |= tree_durations_kind_bit(tree_durations_kind_of(file->sums.summed[i].record.durations));
    return kinds;
}

/* By node: whether its durations have the time of the probes in them. The caller frees the list. */
static bool *tree_durations_find_raw(const struct profile *p, const struct session_file *file)
{
    bool *raw = need_memory(p->node_count + 1, sizeof *raw);
    const bool recorded = tree_durations_kinds(file) & tree_durations_kind_bit(DWELL_DURATIONS_RAW);
    for (size_t i = 0; i < p->thread_count; i++)
        raw[p->threads[i].root] = file->sums.summed_count
                                      ? tree_durations_kind(file, p->threads[i].process) == DWELL_DURATIONS_RAW
                                      : recorded;
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            raw[i] = raw[p->nodes[i].parent];
    return raw;
}

/* What the probes took in a path and below it, of how much, and how many calls were below it. */
struct tree_inclusive {
    uint64_t overhead, elapsed, callees;
};

static void tree_durations_subtract(struct profile_node *node, const struct tree_inclusive *all)
{
    if (!node->durations || !all->overhead)
        return;
    if (all->callees)
        durations_shorten(&node->durations, (double)all->overhead / (double)(all->overhead + all->elapsed));
    else
        durations_lower(&node->durations, (double)all->overhead / (double)larger(node->calls, 1));
    node->durations->estimated = true;
}

void tree_durations_subtract_probes(struct profile *p, const struct session_file *file)
{
    bool *raw = tree_durations_find_raw(p, file);
    struct tree_inclusive *all = need_memory(p->node_count + 1, sizeof *all);
    for (size_t i = p->node_count; i-- > 0;) { /* children come after their parents */
        struct profile_node *node = &p->nodes[i];
        all[i].overhead += node->overhead;
        all[i].elapsed += node->elapsed;
        if (raw[i])
            tree_durations_subtract(node, &all[i]);
        if (node->parent == PROFILE_NONE)
            continue;
        all[node->parent].overhead += all[i].overhead;
        all[node->parent].elapsed += all[i].elapsed;
        all[node->parent].callees += all[i].callees + node->calls;
    }
    free(all);
    free(raw);
}

void tree_durations_take_limits(struct profile *p)
{
    for (size_t i = 0; i < p->node_count; i++) {
        struct profile_node *node = &p->nodes[i];
        if (durations_are_one(node->durations) && node->shortest == node->longest)
            durations_set_call(&node->durations, node->longest, node->longest * DWELL_PROBE_FRACTION);
    }
}

/* ---- functions of which some durations are missing ---- */

void tree_counting_add(struct tree_counting *c, uint32_t function, const struct dwell_tree_node *node)
{
    while (c->count <= function) {
        GROW(c->functions, c->count, c->room);
        c->functions[c->count++] = (struct tree_counted){ false, false };
    }
    const bool counted = node->shortest & DWELL_SHORTEST_COUNTED && node->shortest != UINT64_MAX;
    c->functions[function].counted |= counted;
    c->functions[function].missing |=
        counted ? (node->shortest & DWELL_SHORTEST_LOST) != 0 : node->shortest != UINT64_MAX;
}

static bool tree_counting_is_partial(const struct tree_counting *c, uint32_t function)
{
    return function < c->count && c->functions[function].counted && c->functions[function].missing;
}

uint64_t tree_counting_end(struct tree_counting *c, struct profile *p, size_t *functions)
{
    uint64_t calls = 0;
    *functions = 0;
    for (uint32_t i = 0; i < c->count; i++)
        *functions += tree_counting_is_partial(c, i);
    for (size_t i = 0; *functions && i < p->node_count; i++) {
        struct profile_node *node = &p->nodes[i];
        if (!tree_counting_is_partial(c, node->function))
            continue;
        calls += less(node->calls, durations_calls(node->durations));
        free(node->durations);
        node->durations = NULL;
    }
    free(c->functions);
    *c = (struct tree_counting){ NULL, 0, 0 };
    return calls;
}
