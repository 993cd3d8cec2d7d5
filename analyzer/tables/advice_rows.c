/* Makes rows of the functions that are worth leaving out, and words and JSON of what that saves. */
#include "tables/advice_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/text_options.h"
#include "base/units.h"
#include "tables/views.h"

const struct column view_advice_columns[] = {
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    { "probes", "PROBES", CELL_TICKS, USE_ALWAYS, false },
    { "probes_percent", "PROBES %", CELL_PERCENT, USE_ALWAYS, false },
    { "mean", "MEAN", CELL_TICKS, USE_ALWAYS, false },
    { "own", "OWN TIME", CELL_TICKS, USE_ALWAYS, false },
    { "own_percent", "OWN %", CELL_PERCENT, USE_ALWAYS, false },
    { "source", "SOURCE", CELL_SOURCE, USE_TEXT, false },
    { "file", "FILE", CELL_TEXT, USE_DATA, false },
    { "line", "LINE", CELL_COUNT, USE_DATA, false },
    { "caller", "GOES TO", CELL_NAME, USE_ALWAYS, false },
    { "callers", "CALLERS", CELL_COUNT, USE_DATA, false },
};
enum {
    ADVICE_FUNCTION,
    ADVICE_MODULE,
    ADVICE_CALLS,
    ADVICE_PROBES,
    ADVICE_PROBES_PERCENT,
    ADVICE_MEAN,
    ADVICE_OWN,
    ADVICE_OWN_PERCENT,
    ADVICE_SOURCE,
    ADVICE_FILE,
    ADVICE_LINE,
    ADVICE_CALLER,
    ADVICE_CALLERS,
    ADVICE_COLUMNS
};
const size_t view_advice_column_count = ADVICE_COLUMNS;
_Static_assert(sizeof view_advice_columns / sizeof *view_advice_columns == ADVICE_COLUMNS,
               "each column has its number");

struct table view_advice(const struct analysis *analysis, const struct advice *a)
{
    struct table t = table_make(view_advice_columns, ADVICE_COLUMNS, &analysis->summary);
    for (size_t i = 0; i < a->count; i++) {
        const struct advised *f = &a->list[i];
        const struct function_name *name = &analysis->names[f->function];
        struct cell *cells = table_row(&t);
        cell_number(&cells[ADVICE_CALLS], f->calls);
        cell_number(&cells[ADVICE_PROBES], f->cost);
        cell_percent(&cells[ADVICE_PROBES_PERCENT], percent_of(f->cost, a->own));
        if (f->mean)
            cell_number(&cells[ADVICE_MEAN], f->mean);
        cell_number(&cells[ADVICE_OWN], f->own);
        cell_percent(&cells[ADVICE_OWN_PERCENT], percent_of(f->own, a->own));
        cell_source(&cells[ADVICE_SOURCE], name);
        if (name->file) {
            cell_text(&cells[ADVICE_FILE], name->file);
            cell_number(&cells[ADVICE_LINE], name->line);
        }
        if (f->caller != PROFILE_NONE)
            cell_text(&cells[ADVICE_CALLER], analysis->names[f->caller].name);
        cell_number(&cells[ADVICE_CALLERS], f->callers);
        cell_text(&cells[ADVICE_FUNCTION], name->name);
        cell_text(&cells[ADVICE_MODULE], name->module);
    }
    return t;
}

char *advice_describe(const struct analysis *analysis, const struct advice *a, uint64_t calls, uint64_t cost)
{
    char probes[TIME_TEXT], own[TIME_TEXT];
    text_time(ticks_to_ns(cost, analysis->summary.ticks_per_second), probes);
    text_time(ticks_to_ns(a->own, analysis->summary.ticks_per_second), own);
    return need_text("%s timed, %s of probes: %.1f %% of the program's %s%s", COUNTED(calls, "call"), probes,
                     percent_of(cost, a->own), own, analysis->summary.off_cpu_known ? " of CPU time" : "");
}

static uint64_t advice_ns(const struct analysis *analysis, uint64_t ticks)
{
    return ticks_to_ns(ticks, analysis->summary.ticks_per_second);
}

void advice_print_json(const struct analysis *analysis, const struct advice *a, const struct advice_effect *e,
                       FILE *out)
{
    const uint64_t all = budget_cost(a->all_calls, &a->look);
    fprintf(out,
            "\"aim_percent\": %.1f, \"own_ns\": %" PRIu64 ", \"functions\": %zu, \"functions_left_out\": %zu,\n"
            " \"calls\": %" PRIu64 ", \"calls_left\": %" PRIu64 ", \"probes_ns\": %" PRIu64
            ", \"probes_left_ns\": %" PRIu64 ",\n \"probes_percent\": %.3f, \"probes_left_percent\": %.3f",
            a->look.permille / 10.0, advice_ns(analysis, a->own), a->functions, e->functions, a->all_calls,
            e->calls_left, advice_ns(analysis, all), advice_ns(analysis, e->cost_left), percent_of(all, a->own),
            percent_of(e->cost_left, a->own));
}
