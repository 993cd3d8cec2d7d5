/* Packs the source files of a session, those with most time first, and the samples of their lines. */
#include "view/source_texts.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/line_samples.h"
#include "analysis/probe_share.h"
#include "analysis/source_file.h"
#include "analysis/sources.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "base/wide.h"
#include "profile/sampling.h"

enum { MAX_FILE = 1 << 20, PACKED_RATIO = 3 }; /* source text takes about a third when it is packed */

struct source_order {
    const struct sources *sources;
    uint64_t *times; /* by file: the exclusive time of its functions */
};

static int source_texts_compare(const void *a, const void *b, void *context)
{
    const struct source_order *o = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (o->times[x] != o->times[y])
        return o->times[x] < o->times[y] ? 1 : -1;
    return ORDER(x, y);
}

/* The module of the first function of a file. */
static const struct profile_module *source_texts_module(const struct analysis *analysis, const struct sources *sources,
                                                        uint32_t file)
{
    static char none[] = "";
    static const struct profile_module unknown = { .path = none };
    for (size_t i = 0; i < analysis->profile->function_count; i++)
        if (sources->of[i] == file)
            return &analysis->profile->modules[analysis->profile->functions[i].module];
    return &unknown;
}

/* Sets the elements of `packed` for the files in the list. */
static struct json_object *source_texts_list(const struct analysis *analysis, const struct sources *sources,
                                             const uint32_t *order, size_t most, bool *packed)
{
    struct json_object *list = json_object_new_array();
    size_t left = most * PACKED_RATIO;
    for (size_t i = 0; i + 1 < sources->count; i++) {
        struct source_search search = { .servers = false };
        const struct profile_module *module = source_texts_module(analysis, sources, order[i]);
        struct source_text found = source_file_find(&search, sources->paths[order[i]], module, MAX_FILE);
        const size_t length = found.text ? strlen(found.text) : 0;
        if (found.text && length <= left) {
            struct json_object *file = json_object_new_object();
            json_object_object_add(file, "path", json_new_text(sources->paths[order[i]]));
            json_object_object_add(
                file, "newer", json_object_new_boolean(source_file_is_newer(analysis, module->path, &found.status)));
            json_object_object_add(file, "text", json_new_text(found.text));
            json_object_array_add(list, file);
            left -= length;
            packed[order[i]] = true;
        }
        source_text_drop(&found);
        source_search_drop(&search);
    }
    return list;
}

static uint32_t *source_texts_order(const struct analysis *analysis, const struct sources *sources)
{
    struct times *times = rollup_groups(analysis->rollup, BY_FUNCTION);
    struct source_order o = { sources, need_memory(sources->count, sizeof *o.times) };
    uint32_t *order = need_memory(sources->count, sizeof *order);
    for (size_t i = 0; i < analysis->profile->function_count; i++)
        o.times[sources->of[i]] += times[i].elapsed_exclusive;
    for (uint32_t i = 1; i < sources->count; i++) /* number 0 stands for unknown files */
        order[i - 1] = i;
    if (sources->count > 1)
        qsort_r(order, sources->count - 1, sizeof *order, source_texts_compare, &o);
    free(o.times);
    free(times);
    return order;
}

/* ---- samples of lines ---- */

/* The samples of a function at a line of its file; at line 0, its other samples. */
struct line_time {
    uint32_t function, line;
    struct sample_sum sampled;
    uint64_t self, interval; /* ticks: the line's part of the function's own time, and the half width of its interval */
};

struct line_times {
    const struct analysis *analysis;
    const struct sources *sources;
    const bool *packed; /* by file: the page has it */
    struct line_time *list;
    size_t count, room;
};

static void line_times_take(void *context, uint32_t function, const char *file, uint32_t line,
                            const struct sample_sum *samples)
{
    struct line_times *t = context;
    const uint32_t own = t->sources->of[function];
    if (!t->packed[own])
        return;
    const bool here = file && strcmp(file, t->sources->paths[own]) == 0;
    GROW(t->list, t->count, t->room);
    t->list[t->count++] = (struct line_time){ .function = function, .line = here ? line : 0, .sampled = *samples };
}

static int line_times_compare(const void *a, const void *b)
{
    const struct line_time *x = a, *y = b;
    return ORDER_BY(x, y, function, line);
}

/* Adds up the samples of each line. */
static void line_times_join(struct line_times *t)
{
    size_t count = 0;
    if (t->count)
        qsort(t->list, t->count, sizeof *t->list, line_times_compare);
    for (size_t i = 0; i < t->count; i++)
        if (count && line_times_compare(&t->list[count - 1], &t->list[i]) == 0)
            sample_sum_join(&t->list[count - 1].sampled, &t->list[i].sampled);
        else
            t->list[count++] = t->list[i];
    t->count = count;
}

/* Divides the own time of each function by its samples, as dwell annotate does. */
static void line_times_divide(struct line_times *t, const struct order *order)
{
    const struct analysis *analysis = t->analysis;
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    for (size_t i = 0, end; i < t->count; i = end) {
        const uint32_t function = t->list[i].function;
        const uint64_t own = times_value(&sums[function], probe_share_rest(&analysis->summary), EXCLUSIVE);
        struct sample_sum all = { 0 };
        for (end = i; end < t->count && t->list[end].function == function; end++)
            sample_sum_join(&all, &t->list[end].sampled);
        for (size_t at = i; at < end; at++) {
            struct line_time *line = &t->list[at];
            line->function = order->ranks[function];
            line->self = sample_sum_divide(own, &line->sampled, &all);
            line->interval = (uint64_t)ceil(sample_sum_half_width(&line->sampled, &all) * (double)own);
        }
    }
    free(sums);
}

static struct line_times line_times_find(const struct analysis *analysis, const struct order *order,
                                         const struct sources *sources, const bool *packed)
{
    struct line_times t = { .analysis = analysis, .sources = sources, .packed = packed };
    if (analysis->summary.stack_samples)
        line_samples_find(analysis, line_times_take, &t);
    line_times_join(&t);
    line_times_divide(&t, order);
    return t;
}

static struct packed source_texts_pack(struct json_object *list, const struct line_times *t)
{
    static const struct line_time none;
    const struct line_time *first = t->count ? t->list : &none;
    const struct container_column columns[] = {
        { "function", &first->function, sizeof *first, CONTAINER_U32, NULL },
        { "line", &first->line, sizeof *first, CONTAINER_U32, NULL },
        { "samples", &first->sampled.samples, sizeof *first, CONTAINER_U64, NULL },
        { "self", &first->self, sizeof *first, CONTAINER_U64, NULL },
        { "interval", &first->interval, sizeof *first, CONTAINER_U64, NULL },
    };
    const struct container_table samples = { "samples", t->count, columns, sizeof columns / sizeof *columns };
    struct json_object *header = json_object_new_object();
    struct packed packed = { 0 };
    json_object_object_add(header, "files", json_object_get(list));
    container_pack(header, &samples, 1, &packed);
    return packed;
}

struct json_object *source_texts_make(const struct analysis *analysis, const struct order *order, size_t most,
                                      struct blocks *blocks)
{
    struct sources sources = sources_of(analysis);
    uint32_t *by_time = source_texts_order(analysis, &sources);
    bool *in_page = need_memory(sources.count + 1, sizeof *in_page);
    struct json_object *list = source_texts_list(analysis, &sources, by_time, most, in_page), *described = NULL;
    if (json_object_array_length(list)) {
        struct line_times times = line_times_find(analysis, order, &sources, in_page);
        described = json_object_new_object();
        json_object_object_add(described, "block", json_object_new_uint64(blocks->count));
        GROW(blocks->list, blocks->count, blocks->room);
        blocks->list[blocks->count++] = source_texts_pack(list, &times);
        free(times.list);
    }
    json_object_put(list);
    free(in_page);
    free(by_time);
    sources_drop(&sources);
    return described;
}
