/* Packs the amounts of all call paths by thread and period of time. */
#include "view/parts.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/units.h"
#include "profile/node_order.h"
#include "profile/periods.h"
#include "view/thread_rank.h"
#include "view/timeline_range.h"

/* MIN_ROW is the minimum size of a row in a page, in bytes; more rows than fit are not kept. */
enum { MAX_PERIODS = 1000, MIN_ROW = 8, MIN_ROWS = 4096, MIN_TICKS = 2 };

/* ---- periods ---- */

/* The smallest of 1, 2, 5, 10, 20 ... nanoseconds of which a period has at least two ticks, and with which there are
 * not too many periods. */
static uint64_t parts_period_width(uint64_t begin, uint64_t end, uint64_t ticks_per_second)
{
    uint64_t ten = 1;
    for (;; ten *= 10)
        for (unsigned i = 0; i < 3; i++) {
            const uint64_t width = ten * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (end / width - begin / width < MAX_PERIODS && ticks_to_ns(MIN_TICKS, ticks_per_second) <= width)
                return width;
        }
}

/* The borders that are multiples of the width; the first and the last are those of the selection. Sets the number of
 * the first period and the width in nanoseconds. Returns NULL if the session has no times. */
static uint64_t *parts_borders(const struct analysis *analysis, uint32_t *count, uint64_t *first, uint64_t *width)
{
    const struct dwell_file_header *h = &analysis->file->header;
    struct timeline_range range;
    if (!h->ticks_per_second || !timeline_range_find(&range, analysis))
        return NULL;
    const uint64_t begin = ticks_to_ns(range.begin - h->start_ticks, h->ticks_per_second),
                   end = ticks_to_ns(range.end - h->start_ticks, h->ticks_per_second);
    *width = parts_period_width(begin, end, h->ticks_per_second);
    *first = begin / *width;
    *count = (uint32_t)(end / *width - *first + 1);
    uint64_t *borders = need_memory(*count + 1, sizeof *borders);
    for (uint32_t i = 0; i <= *count; i++)
        borders[i] = h->start_ticks + selection_ticks((*first + i) * *width, analysis->file);
    return borders;
}

/* Collects all that the selection holds. Sets the periods' width in nanoseconds before any of them were joined. */
static struct periods *parts_collect(const struct analysis *analysis, size_t most, uint64_t *width)
{
    uint32_t count = 1;
    uint64_t first = 0;
    *width = 1;
    const bool cut = analysis->selection && analysis->selection->cut;
    uint64_t *borders = parts_borders(analysis, &count, &first, width);
    if (!borders)
        borders = need_memory(count + 1, sizeof *borders);
    borders[0] = cut ? analysis->selection->from : 0;
    borders[count] = cut ? analysis->selection->to : UINT64_MAX;
    return periods_collect(analysis->file, analysis->samples, analysis->selection, borders, count, first,
                           most / MIN_ROW > MIN_ROWS ? most / MIN_ROW : MIN_ROWS);
}

static struct json_object *parts_describe_borders(const struct analysis *analysis, const struct periods *p,
                                                  uint64_t width)
{
    struct json_object *list = json_object_new_array();
    const uint64_t start = analysis->file->header.start_ticks;
    const bool cut = analysis->selection && analysis->selection->cut;
    width <<= p->joined;
    for (uint32_t i = 0; i <= p->count; i++) {
        const bool open =
            (i == 0 && !(cut && analysis->selection->from)) || (i == p->count && p->borders[i] == UINT64_MAX);
        const uint64_t border = open ? selection_ticks((p->first + i) * width, analysis->file) : p->borders[i] - start;
        json_object_array_add(list, json_object_new_uint64(border));
    }
    return list;
}

/* ---- call paths of threads ---- */

/* The rows of the block's table "nodes": a call path of one thread. */
struct part_nodes {
    uint32_t *numbers; /* by node of the periods, its row or PROFILE_NONE */
    int32_t *parents;  /* by row: the caller's row, or -1 */
    uint32_t *threads; /* by row */
    int32_t *paths;    /* by row: the path in the page, or -1 if it shows none */
    uint32_t *sampled; /* by row: whether it is known by samples; then the path is the nearest one that the page has */
    size_t count;
};

#define PART_SAMPLED (UINT32_C(1) << 31) /* in keys: a path that is known by samples */

/* The rows of the page's paths by function and caller. */
static struct number_index *parts_index_paths(const struct paths *paths)
{
    struct number_index *index = index_new();
    for (size_t i = 0; i < paths->count; i++) {
        const uint32_t parent = (uint32_t)(paths->parents[i] + 1);
        const bool sampled = paths->profile->nodes[paths->nodes[i]].site == PROFILE_SAMPLED;
        const uint32_t key = paths->functions[i] | (sampled ? PART_SAMPLED : 0);
        index_set(index, index_find(index, key, parent), key, parent, (uint32_t)i);
    }
    return index;
}

/* By node, whether it has amounts, or a callee has. */
static bool *parts_find_used(const struct periods *p)
{
    bool *used = need_memory(p->profile->node_count + 1, sizeof *used);
    for (size_t i = 0; i < p->row_count; i++)
        used[p->rows[i].path] = true;
    for (size_t i = p->profile->node_count; i-- > 0;)
        if (used[i] && p->profile->nodes[i].parent != PROFILE_NONE)
            used[p->profile->nodes[i].parent] = true;
    return used;
}

/* Numbers the nodes, and finds their path in the page. Outside of the calls of the selected root, there is none. The
 * page divides times in the order of the numbers, and it must be the one of the reports (profile/sampling.c). */
static void parts_number_nodes(struct part_nodes *n, const struct analysis *analysis, const struct order *order,
                               const struct paths *paths, const struct periods *p, const int32_t *ranks)
{
    const struct selection *s = analysis->selection;
    uint32_t *functions = paths_function_ranks(p->profile, analysis, order);
    struct number_index *index = parts_index_paths(paths);
    bool *used = parts_find_used(p);
    uint32_t *list = node_order_list(p->profile);
    for (size_t place = 0; place < p->profile->node_count; place++) {
        const uint32_t i = list[place];
        const struct profile_node *node = &p->profile->nodes[i];
        n->numbers[i] = PROFILE_NONE;
        if (node->parent == PROFILE_NONE || !used[i] || ranks[i] < 0)
            continue;
        const uint32_t above = n->numbers[node->parent], function = functions[node->function];
        const int32_t path_above = above == PROFILE_NONE ? -1 : n->paths[above];
        const bool outside = function == PROFILE_NONE ||
                             (s && s->roots && path_above < 0 && !selection_is_root(s, order->functions[function]));
        const bool sampled = node->site == PROFILE_SAMPLED;
        const struct index_slot *slot =
            index_find(index, function | (sampled ? PART_SAMPLED : 0), (uint32_t)(path_above + 1));
        const int32_t path = sampled && !slot->value_plus_1 ? path_above : (int32_t)slot->value_plus_1 - 1;
        n->numbers[i] = (uint32_t)n->count;
        n->parents[n->count] = above == PROFILE_NONE ? -1 : (int32_t)above;
        n->threads[n->count] = (uint32_t)ranks[i];
        n->sampled[n->count] = sampled;
        n->paths[n->count++] = sampled ? path : outside ? -1 : path;
    }
    free(list);
    free(used);
    index_free(index);
    free(functions);
}

static struct part_nodes parts_nodes(const struct analysis *analysis, const struct order *order,
                                     const struct paths *paths, const struct periods *p)
{
    const size_t room = p->profile->node_count + 1;
    struct part_nodes n = { .numbers = need_memory(room, sizeof *n.numbers),
                            .parents = need_memory(room, sizeof *n.parents),
                            .threads = need_memory(room, sizeof *n.threads),
                            .paths = need_memory(room, sizeof *n.paths),
                            .sampled = need_memory(room, sizeof *n.sampled) };
    int32_t *ranks = thread_ranks_of_paths(order, p->profile);
    parts_number_nodes(&n, analysis, order, paths, p, ranks);
    free(ranks);
    return n;
}

static void part_nodes_drop(struct part_nodes *n)
{
    free(n->numbers);
    free(n->parents);
    free(n->threads);
    free(n->paths);
    free(n->sampled);
}

/* ---- the block ---- */

static const struct {
    const char *name;
    size_t offset;
} part_amounts[] = {
#define AMOUNT_COLUMN(member, unit, merge) { #member, offsetof(struct period_row, amounts.member) },
    PATH_AMOUNTS(AMOUNT_COLUMN)
#undef AMOUNT_COLUMN
};
enum { PART_AMOUNTS = sizeof part_amounts / sizeof *part_amounts };

static struct packed parts_pack(const struct periods *p, const struct part_nodes *n)
{
    const struct container_column nodes[] = {
        { "parent", n->parents, sizeof *n->parents, CONTAINER_I32, NULL },
        { "thread", n->threads, sizeof *n->threads, CONTAINER_U32, NULL },
        { "path", n->paths, sizeof *n->paths, CONTAINER_I32, NULL },
        { "sampled", n->sampled, sizeof *n->sampled, CONTAINER_U32, NULL },
    };
    struct container_column rows[2 + PART_AMOUNTS];
    static const struct period_row none;
    const struct period_row *first = p->row_count ? p->rows : &none; /* a damaged recording may have no amounts */
    rows[0] = (struct container_column){ "period", &first->period, sizeof *first, CONTAINER_U32, NULL };
    rows[1] = (struct container_column){ "node", &first->path, sizeof *first, CONTAINER_U32, NULL };
    for (size_t i = 0; i < PART_AMOUNTS; i++)
        rows[2 + i] = (struct container_column){ part_amounts[i].name, (const char *)first + part_amounts[i].offset,
                                                 sizeof *first, CONTAINER_U64, NULL };
    const struct container_table tables[] = {
        { "nodes", n->count, nodes, sizeof nodes / sizeof *nodes },
        { "amounts", p->row_count, rows, sizeof rows / sizeof *rows },
    };
    struct packed packed = { 0 };
    container_pack(json_object_new_object(), tables, sizeof tables / sizeof *tables, &packed);
    return packed;
}

/* Leaves out the rows of threads that the page does not have, and numbers paths as in the table "nodes". */
static void parts_number_rows(struct periods *p, const struct part_nodes *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->row_count; i++) {
        p->rows[kept] = p->rows[i];
        p->rows[kept].path = n->numbers[p->rows[i].path];
        kept += p->rows[kept].path != PROFILE_NONE;
    }
    p->row_count = kept;
}

/* Rows without a completed call have shortest > longest. Small numbers keep the columns narrow. */
static void parts_mark_unknown(struct periods *p, uint64_t before, uint64_t after)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].amounts.shortest == before && p->rows[i].amounts.longest == 0)
            p->rows[i].amounts.shortest = after;
}

/* Joins periods until the block fits. */
static bool parts_fit(struct periods *p, const struct part_nodes *n, size_t most, struct packed *packed)
{
    for (;;) {
        parts_mark_unknown(p, UINT64_MAX, 1);
        *packed = parts_pack(p, n);
        if (blocks_page_size(packed) <= most)
            return true;
        packed_drop(packed);
        parts_mark_unknown(p, 1, UINT64_MAX);
        if (!periods_join(p))
            return false;
    }
}

struct json_object *parts_make(const struct analysis *analysis, const struct order *order, const struct paths *paths,
                               size_t most, struct blocks *blocks)
{
    uint64_t width;
    if (!most || analysis->profile->reported_count || !paths->count ||
        (analysis->selection && analysis->selection->within))
        return NULL;
    struct periods *p = parts_collect(analysis, most, &width);
    struct part_nodes nodes = parts_nodes(analysis, order, paths, p);
    struct packed packed;
    struct json_object *described = NULL;
    parts_number_rows(p, &nodes);
    if ((p->count > 1 || analysis->profile->thread_count > 1) && parts_fit(p, &nodes, most, &packed)) {
        described = json_object_new_object();
        json_object_object_add(described, "block", json_object_new_uint64(blocks->count));
        json_object_object_add(described, "borders", parts_describe_borders(analysis, p, width));
        GROW(blocks->list, blocks->count, blocks->room);
        blocks->list[blocks->count++] = packed;
    }
    part_nodes_drop(&nodes);
    periods_free(p);
    return described;
}
