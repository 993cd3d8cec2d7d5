/* Makes rows of the functions of libraries whose calls are worth rows. */
#include "tables/library_advice_rows.h"

#include <stdlib.h>

#include "base/shell_word.h"
#include "base/units.h"
#include "base/visible.h"
#include "tables/views.h"

static const struct column columns[] = {
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
    { "time", "TIME", CELL_TICKS, USE_ALWAYS, false },
    { "time_percent", "TIME %", CELL_PERCENT, USE_ALWAYS, false },
    { "caller", "CALLED BY", CELL_NAME, USE_ALWAYS, false },
    { "callers", "CALLERS", CELL_COUNT, USE_DATA, false },
    { "pattern", "PATTERN", CELL_TEXT, USE_DATA, false },
};
enum { FUNCTION, MODULE, TIME, TIME_PERCENT, CALLER, CALLERS, PATTERN, COLUMNS };
_Static_assert(sizeof columns / sizeof *columns == COLUMNS, "each column has its number");

struct table view_library_advice(const struct analysis *analysis, const struct library_advice *a)
{
    struct table t = table_make(columns, COLUMNS, &analysis->summary);
    for (size_t i = 0; i < a->count; i++) {
        const struct library_advised *f = &a->list[i];
        struct cell *cells = table_row(&t);
        cell_text(&cells[FUNCTION], f->name);
        cell_text(&cells[MODULE], analysis->names[f->function].module);
        cell_number(&cells[TIME], f->time);
        cell_percent(&cells[TIME_PERCENT], percent_of(f->time, a->own));
        cell_text(&cells[CALLER], analysis->names[f->caller].name);
        cell_number(&cells[CALLERS], f->callers);
        cell_text(&cells[PATTERN], f->pattern);
    }
    return t;
}

void library_advice_print_command(const struct library_advice *a, size_t count, FILE *out)
{
    fputs("dwell record", out);
    for (size_t i = 0; i < a->count && i < count; i++) {
        char *pattern = shell_word(a->list[i].pattern);
        print_text(out, " --calls-to %s", pattern);
        free(pattern);
    }
    fputs(" PROGRAM\n", out);
}
