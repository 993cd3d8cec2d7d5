/* Packs the source files of a session, those with most time first. */
#include "view/source_texts.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/source_file.h"
#include "analysis/sources.h"
#include "base/json_text.h"
#include "base/memory.h"

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
    return (x > y) - (x < y);
}

/* The module of the first function of a file. */
static const struct profile_module *source_texts_module(const struct analysis *l, const struct sources *sources,
                                                        uint32_t file)
{
    static char none[] = "";
    static const struct profile_module unknown = { .path = none };
    for (size_t i = 0; i < l->profile->function_count; i++)
        if (sources->of[i] == file)
            return &l->profile->modules[l->profile->functions[i].module];
    return &unknown;
}

static struct json_object *source_texts_list(const struct analysis *l, const struct sources *sources,
                                             const uint32_t *order, size_t most)
{
    struct json_object *list = json_object_new_array();
    size_t left = most * PACKED_RATIO;
    for (size_t i = 0; i + 1 < sources->count; i++) {
        struct source_search search = { .servers = false };
        const struct profile_module *module = source_texts_module(l, sources, order[i]);
        struct source_text found = source_file_find(&search, sources->paths[order[i]], module, MAX_FILE);
        const size_t length = found.text ? strlen(found.text) : 0;
        if (found.text && length <= left) {
            struct json_object *file = json_object_new_object();
            json_object_object_add(file, "path", json_new_text(sources->paths[order[i]]));
            json_object_object_add(file, "newer",
                                   json_object_new_boolean(source_file_is_newer(l, module->path, &found.status)));
            json_object_object_add(file, "text", json_new_text(found.text));
            json_object_array_add(list, file);
            left -= length;
        }
        source_text_drop(&found);
        source_search_drop(&search);
    }
    return list;
}

static uint32_t *source_texts_order(const struct analysis *l, const struct sources *sources)
{
    struct times *times = rollup_groups(l->rollup, BY_FUNCTION);
    struct source_order o = { sources, need_memory(sources->count, sizeof *o.times) };
    uint32_t *order = need_memory(sources->count, sizeof *order);
    for (size_t i = 0; i < l->profile->function_count; i++)
        o.times[sources->of[i]] += times[i].elapsed_exclusive;
    for (uint32_t i = 1; i < sources->count; i++) /* number 0 stands for unknown files */
        order[i - 1] = i;
    if (sources->count > 1)
        qsort_r(order, sources->count - 1, sizeof *order, source_texts_compare, &o);
    free(o.times);
    free(times);
    return order;
}

struct json_object *source_texts_make(const struct analysis *l, size_t most, struct blocks *blocks)
{
    struct sources sources = sources_of(l);
    uint32_t *order = source_texts_order(l, &sources);
    struct json_object *list = source_texts_list(l, &sources, order, most), *described = NULL;
    if (json_object_array_length(list)) {
        struct json_object *header = json_object_new_object();
        struct packed packed = { 0 };
        json_object_object_add(header, "files", json_object_get(list));
        container_pack(header, NULL, 0, &packed);
        described = json_object_new_object();
        json_object_object_add(described, "block", json_object_new_uint64(blocks->count));
        GROW(blocks->list, blocks->count, blocks->room);
        blocks->list[blocks->count++] = packed;
    }
    json_object_put(list);
    free(order);
    sources_drop(&sources);
    return described;
}
