/* Makes rows of the functions in the ranking of dwell whatif. */
#include "causes/what_if_rows.h"

#include <stdio.h>

const struct column view_what_if_columns[] = {
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
    { "time", "OWN TIME", CELL_TICKS, USE_ALWAYS, false },
    { "gain_10", "10% LESS", CELL_CHANGE, USE_ALWAYS, false },
    { "gain_50", "50% LESS", CELL_CHANGE, USE_ALWAYS, false },
    { "gain_100", "100% LESS", CELL_CHANGE, USE_ALWAYS, false },
    { "most_50", "50% LESS, AT MOST", CELL_CHANGE, USE_DATA, false },
};
enum {
    RANK_FUNCTION,
    RANK_MODULE,
    RANK_TIME,
    RANK_GAIN,
    RANK_MOST = RANK_GAIN + WHAT_IF_STEPS,
    RANK_COLUMNS,
};
const size_t view_what_if_column_count = RANK_COLUMNS;
_Static_assert(sizeof view_what_if_columns / sizeof *view_what_if_columns == RANK_COLUMNS,
               "each column has its number");

static const struct column factor_columns[] = {
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
    { "factor", "FACTOR", CELL_DIGITS, USE_ALWAYS, false },
    { "predicted", "PREDICTED", CELL_TICKS, USE_ALWAYS, false },
};
enum { FACTOR_FUNCTION, FACTOR_MODULE, FACTOR, FACTOR_PREDICTED, FACTOR_COLUMNS };

struct table view_what_if(const struct analysis *analysis, const struct what_if_rank *ranks, size_t count,
                          uint64_t recorded, bool limits)
{
    struct table t = table_make(view_what_if_columns, RANK_COLUMNS, &analysis->summary);
    for (size_t i = 0; i < count; i++) {
        struct cell *cells = table_row(&t);
        cell_text(&cells[RANK_FUNCTION], analysis->names[ranks[i].function].name);
        cell_text(&cells[RANK_MODULE], analysis->names[ranks[i].function].module);
        cell_number(&cells[RANK_TIME], ranks[i].time);
        for (int step = 0; step < WHAT_IF_STEPS; step++)
            cell_change(&cells[RANK_GAIN + step], (int64_t)(ranks[i].predicted[step] - recorded));
        if (limits)
            cell_change(&cells[RANK_MOST], (int64_t)(ranks[i].least - recorded));
    }
    return t;
}

struct table view_what_if_factors(const struct analysis *analysis, const struct what_if_rank *ranks, size_t count)
{
    struct table t = table_make(factor_columns, FACTOR_COLUMNS, &analysis->summary);
    for (size_t i = 0; i < count; i++)
        for (int step = 0; step < WHAT_IF_STEPS; step++) {
            struct cell *cells = table_row(&t);
            char factor[16];
            snprintf(factor, sizeof factor, "0.%d", (int)(what_if_factors[step] * 10 + 0.5));
            cell_text(&cells[FACTOR_FUNCTION], analysis->names[ranks[i].function].name);
            cell_text(&cells[FACTOR_MODULE], analysis->names[ranks[i].function].module);
            cell_text(&cells[FACTOR], factor);
            cell_number(&cells[FACTOR_PREDICTED], ranks[i].predicted[step]);
        }
    return t;
}
