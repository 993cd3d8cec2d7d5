/* Packs the rows of the report by line: each line with its values, its callers and the functions that it calls. */
#include "view/line_values.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "analysis/lines.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "view/facts.h"
#include "view/value_columns.h"

/* Calls of a function from a line, while the caller was the innermost open function. Functions are ranks of the page's
 * order. */
struct line_call {
    uint32_t line;  /* a group of rollup_groups; in the page, a row of the table of lines */
    int32_t caller; /* -1 if the call was the first on its thread's stack */
    uint32_t called;
    uint64_t calls;
};

struct line_calls {
    struct line_call *list;
    size_t count;
};

/* The page's number of a function of the session with call sites. Returns -1 if the page lacks it, which can happen
 * while the program runs. */
static int32_t line_values_rank(const struct order *order, const struct profile *p, uint32_t function)
{
    if (function == PROFILE_NONE)
        return -1;
    const uint32_t found = profile_find_same_function(order->profile, p, function);
    return found == PROFILE_NONE ? -1 : (int32_t)order->ranks[found];
}

static int line_values_compare(const void *a, const void *b)
{
    const struct line_call *x = a, *y = b;
    return ORDER_BY(x, y, line, caller, called);
}

/* Adds up calls that differ in their call paths only. */
static void line_values_join(struct line_calls *c)
{
    size_t count = 0;
    if (c->count)
        qsort(c->list, c->count, sizeof *c->list, line_values_compare);
    for (size_t i = 0; i < c->count; i++) {
        if (count && line_values_compare(&c->list[count - 1], &c->list[i]) == 0)
            c->list[count - 1].calls += c->list[i].calls;
        else
            c->list[count++] = c->list[i];
    }
    c->count = count;
}

static struct line_calls line_values_calls(const struct analysis *analysis, const struct order *order)
{
    const struct profile *p = analysis->profile;
    int32_t *ranks = need_memory(p->function_count, sizeof *ranks);
    struct line_calls c = { need_memory(p->node_count, sizeof *c.list), 0 };
    for (uint32_t i = 0; i < p->function_count; i++)
        ranks[i] = line_values_rank(order, p, i);
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent == PROFILE_NONE || ranks[node->function] < 0)
            continue;
        const uint32_t caller = p->nodes[node->parent].function;
        c.list[c.count++] = (struct line_call){ node->site >= PROFILE_SAMPLED ? (uint32_t)p->site_count : node->site,
                                                caller == PROFILE_NONE ? -1 : ranks[caller],
                                                (uint32_t)ranks[node->function], node->calls };
    }
    free(ranks);
    line_values_join(&c);
    return c;
}

static void line_values_add_text(struct json_object *object, const char *key, const char *text)
{
    json_object_object_add(object, key, text ? json_new_text(text) : NULL);
}

static struct json_object *line_values_describe(const struct analysis *analysis, uint32_t line)
{
    static const struct line_name unknown = { .source = "(unknown)" };
    const struct line_name *name = line == analysis->profile->site_count ? &unknown : &analysis->lines[line];
    struct json_object *object = json_object_new_object();
    line_values_add_text(object, "source", name->source);
    line_values_add_text(object, "function", name->function);
    line_values_add_text(object, "module", name->module);
    line_values_add_text(object, "file", name->file);
    json_object_object_add(object, "line", json_object_new_uint64(name->file ? name->line : 0));
    line_values_add_text(object, "inlined", name->inlined);
    return object;
}

/* Lists the lines with calls, and numbers them anew. A part of a session leaves out the lines without values.
 * `elements` receives the group of each row. */
static struct json_object *line_values_rows(const struct analysis *analysis, const struct times *sums,
                                            struct line_calls *c, uint32_t *elements)
{
    struct json_object *list = json_object_new_array();
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        const uint32_t line = c->list[i].line;
        if (analysis->selection && times_are_empty(&sums[line]))
            continue;
        const size_t rows = json_object_array_length(list);
        if (!rows || elements[rows - 1] != line) {
            elements[rows] = line;
            json_object_array_add(list, line_values_describe(analysis, line));
        }
        c->list[kept] = c->list[i];
        c->list[kept++].line = (uint32_t)json_object_array_length(list) - 1;
    }
    c->count = kept;
    return list;
}

static struct packed line_values_pack(struct json_object *header, size_t rows, const struct times *sums,
                                      const uint32_t *elements, const struct line_calls *c)
{
    static const struct line_call none;
    const struct line_call *first = c->count ? c->list : &none;
    const struct container_column calls[] = {
        { "line", &first->line, sizeof *first, CONTAINER_U32, NULL },
        { "caller", &first->caller, sizeof *first, CONTAINER_I32, NULL },
        { "called", &first->called, sizeof *first, CONTAINER_U32, NULL },
        { "calls", &first->calls, sizeof *first, CONTAINER_U64, NULL },
    };
    struct container_column values[MAX_VALUE_COLUMNS];
    const struct container_table tables[] = {
        { "lines", rows, values, value_columns_list(values, sums, elements, true) },
        { "calls", c->count, calls, sizeof calls / sizeof *calls },
    };
    struct packed packed = { 0 };
    container_pack(header, tables, sizeof tables / sizeof *tables, &packed);
    return packed;
}

struct json_object *line_values_make(const struct analysis *analysis, const struct order *order, struct blocks *blocks)
{
    if (!analysis || !analysis->lines)
        return NULL;
    struct json_object *header = json_object_new_object(), *described = json_object_new_object();
    struct times *sums = rollup_groups(analysis->rollup, BY_LINE);
    struct line_calls calls = line_values_calls(analysis, order);
    uint32_t *elements = need_memory(calls.count, sizeof *elements);
    struct json_object *list = line_values_rows(analysis, sums, &calls, elements);
    value_columns_mark_unknown(sums, rollup_group_count(analysis->rollup, BY_LINE));
    json_object_object_add(header, "session", facts_totals(analysis));
    json_object_object_add(header, "lines", list);
    json_object_object_add(described, "block", json_object_new_uint64(blocks->count));
    GROW(blocks->list, blocks->count, blocks->room);
    blocks->list[blocks->count] = line_values_pack(header, json_object_array_length(list), sums, elements, &calls);
    blocks->count++;
    free(elements);
    free(calls.list);
    free(sums);
    return described;
}
