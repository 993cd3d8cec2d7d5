/* The view of modules: a row for each, with the rows of its functions below it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/row_order.h"
#include "tables/views.h"

static const struct column columns[] = {
    { "depth", "DEPTH", CELL_COUNT, USE_DATA, false },      { "name", "MODULE, FUNCTION", CELL_NAME, USE_ALWAYS, true },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },     { "path", "PATH", CELL_TEXT, USE_DATA, false },
    { "function", "FUNCTION", CELL_TEXT, USE_DATA, false },
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

static size_t module_functions_add_row(struct table *t, const struct analysis *analysis, uint32_t module,
                                       const char *function, size_t parent, const struct times *times,
                                       const struct dwell_stated *stated)
{
    struct cell *cells = table_row(t);
    char *name = names_module(analysis->profile->modules[module].path);
    cell_number(&cells[0], parent ? 2 : 1);
    cell_text(&cells[1], function ? function : name);
    cell_text(&cells[2], name);
    cell_text(&cells[3], analysis->profile->modules[module].path);
    cell_text(&cells[4], function);
    free(name);
    if (function)
        fill_function_times(t, times);
    else
        fill_times(t, times);
    fill_stated(t, stated);
    t->parents = need_more(t->parents, t->row_room, sizeof *t->parents);
    t->parents[t->row_count - 1] = parent;
    return t->row_count;
}

struct table view_module_functions(const struct analysis *analysis)
{
    const struct profile *p = analysis->profile;
    struct table t = values_table(columns, COLUMN_COUNT, NULL, 0, &analysis->summary);
    struct times *modules = rollup_groups(analysis->rollup, BY_MODULE),
                 *functions = rollup_groups(analysis->rollup, BY_FUNCTION);
    const struct dwell_stated **of_modules = stated_percentages(analysis, BY_MODULE),
                              **of_functions = stated_percentages(analysis, BY_FUNCTION);
    for (uint32_t module = 0; module < p->module_count; module++) {
        if (analysis->selection && times_are_empty(&modules[module]))
            continue; /* not part of the selection */
        const size_t row = module_functions_add_row(&t, analysis, module, NULL, 0, &modules[module],
                                                    of_modules ? of_modules[module] : NULL);
        for (uint32_t i = 0; i < p->function_count; i++)
            if (p->functions[i].module == module && !(analysis->selection && times_are_empty(&functions[i])))
                module_functions_add_row(&t, analysis, module, analysis->names[i].name, row, &functions[i],
                                         of_functions ? of_functions[i] : NULL);
    }
    free(modules);
    free(functions);
    free(of_modules);
    free(of_functions);
    return t;
}
