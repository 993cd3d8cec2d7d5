/* The view by line: a row for each source line that contains calls, with the values of these calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lines.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "tables/views.h"

static const struct column columns[] = {
    { "source", "LINE", CELL_SOURCE, USE_ALWAYS, false },    { "function", "FUNCTION", CELL_TEXT, USE_DATA, false },
    { "called", "CALLED", CELL_NAME, USE_ALWAYS, false },    { "of", "OF FUNCTION", CELL_NAME, USE_TEXT, false },
    { "called_functions", "", CELL_COUNT, USE_DATA, false }, { "module", "MODULE", CELL_TEXT, USE_DATA, false },
    { "file", "FILE", CELL_TEXT, USE_DATA, false },          { "line", "LINE", CELL_COUNT, USE_DATA, false },
    { "inlined", "INLINED IN", CELL_TEXT, USE_DATA, false },
};
enum {
    SOURCE,
    FUNCTION,
    CALLED,
    OF,
    CALLED_FUNCTIONS,
    MODULE,
    SOURCE_FILE,
    SOURCE_LINE,
    INLINED,
    COLUMN_COUNT = sizeof columns / sizeof *columns,
};

/* A function as it was called from a line. */
struct line_call {
    uint32_t line, function;
    uint64_t calls;
};

static int line_rows_compare_calls(const void *a, const void *b)
{
    const struct line_call *x = a, *y = b;
    return ORDER_BY(x, y, line, function);
}

/* Lists the pairs of line and called function, sorted, each once. It is unknown where counted calls came from. */
static struct line_call *line_rows_find_calls(const struct profile *p, size_t *count)
{
    const uint32_t unknown = (uint32_t)p->site_count;
    struct line_call *list = need_memory(p->node_count + p->counted_count, sizeof *list);
    size_t all = 0;
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent != PROFILE_NONE)
            list[all++] =
                (struct line_call){ node->site >= PROFILE_SAMPLED ? unknown : node->site, node->function, node->calls };
    }
    for (size_t i = 0; i < p->counted_count; i++)
        list[all++] = (struct line_call){ unknown, p->counted[i].function, p->counted[i].calls };
    *count = 0;
    if (all)
        qsort(list, all, sizeof *list, line_rows_compare_calls);
    for (size_t i = 0; i < all; i++) {
        if (*count && line_rows_compare_calls(&list[*count - 1], &list[i]) == 0)
            list[*count - 1].calls += list[i].calls;
        else
            list[(*count)++] = list[i];
    }
    return list;
}

static bool line_rows_has_more_calls(const struct analysis *analysis, const struct line_call *x,
                                     const struct line_call *y)
{
    if (x->calls != y->calls)
        return x->calls > y->calls;
    const int order = strcmp(analysis->names[x->function].name, analysis->names[y->function].name);
    return order ? order < 0 : strcmp(analysis->names[x->function].module, analysis->names[y->function].module) < 0;
}

/* Fills the called functions of a line: the name of the one that is called most often, and their number. */
static void line_rows_fill_calls(const struct analysis *analysis, struct cell *cells, const struct line_call *list,
                                 size_t count)
{
    const struct line_call *most = &list[0];
    for (size_t i = 1; i < count; i++)
        if (line_rows_has_more_calls(analysis, &list[i], most))
            most = &list[i];
    cell_text(&cells[CALLED], analysis->names[most->function].name);
    cell_number(&cells[CALLED_FUNCTIONS], count);
}

static void line_rows_fill_line(struct cell *cells, const struct line_name *line)
{
    cell_text(&cells[SOURCE], line->source);
    cell_text(&cells[FUNCTION], line->function);
    cell_text(&cells[MODULE], line->module);
    if (line->file) {
        cell_text(&cells[SOURCE_FILE], line->file);
        cell_number(&cells[SOURCE_LINE], line->line);
    }
    if (line->inlined)
        cell_text(&cells[INLINED], line->inlined);
    char *of = lines_function(line);
    cell_text(&cells[OF], of);
    free(of);
}

struct table view_lines(const struct analysis *analysis)
{
    struct table t = values_table(columns, COLUMN_COUNT, NULL, 0, &analysis->summary);
    struct times *sums = rollup_groups(analysis->rollup, BY_LINE);
    size_t count;
    struct line_call *called = line_rows_find_calls(analysis->profile, &count);
    for (size_t first = 0, next; first < count; first = next) {
        const uint32_t line = called[first].line;
        for (next = first + 1; next < count && called[next].line == line;)
            next++;
        if (analysis->selection && times_are_empty(&sums[line]))
            continue;
        struct cell *cells = table_row(&t);
        if (line == analysis->profile->site_count)
            cell_text(&cells[SOURCE], "(unknown)");
        else
            line_rows_fill_line(cells, &analysis->lines[line]);
        line_rows_fill_calls(analysis, cells, called + first, next - first);
        fill_times(&t, &sums[line]);
    }
    free(called);
    free(sums);
    return t;
}
