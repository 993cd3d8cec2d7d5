/* A table of what else slow calls have more often than usual ones. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "causes/why_rows.h"

const struct column view_why_factor_columns[] = {
    { "name", "FACTOR", CELL_TEXT, USE_ALWAYS, false },
    { "", "VALUE", CELL_TEXT, USE_TEXT, false },
    { "value", "", CELL_TEXT, USE_DATA, false }, /* the same with the bytes of texts escaped */
    { "slow_share", "SLOW SHARE", CELL_DIGITS, USE_DATA, false },
    { "usual_share", "USUAL SHARE", CELL_DIGITS, USE_DATA, false },
    { "slow_percent", "SLOW %", CELL_PERCENT, USE_TEXT, false },
    { "usual_percent", "USUAL %", CELL_PERCENT, USE_TEXT, false },
    { "probability", "CHANCE", CELL_DIGITS, USE_DATA, false },
};
enum { NAME, VALUE, VALUE_DATA, SLOW_SHARE, USUAL_SHARE, SLOW_PERCENT, USUAL_PERCENT, PROBABILITY, COLUMN_COUNT };
const size_t view_why_factor_count = COLUMN_COUNT;
_Static_assert(sizeof view_why_factor_columns / sizeof *view_why_factor_columns == COLUMN_COUNT,
               "each column has its number");

static void why_fill_digits(struct cell *cell, int decimals, double number)
{
    char *digits = need_text("%.*f", decimals, number);
    cell_text(cell, digits);
    free(digits);
}

struct table view_why_factors(const struct why *why)
{
    struct table t = table_make(view_why_factor_columns, COLUMN_COUNT, NULL);
    for (size_t i = 0; i < why->factors.count; i++) {
        const struct why_factor *factor = &why->factors.list[i];
        struct cell *cells = table_row(&t);
        cell_text(&cells[NAME], factor->name);
        char *data = utf8_escape(factor->value);
        cell_text(&cells[VALUE], factor->value);
        cell_text(&cells[VALUE_DATA], data);
        free(data);
        why_fill_digits(&cells[SLOW_SHARE], 4, factor->shares[WHY_SLOW]);
        why_fill_digits(&cells[USUAL_SHARE], 4, factor->shares[WHY_USUAL]);
        cell_percent(&cells[SLOW_PERCENT], 100 * factor->shares[WHY_SLOW]);
        cell_percent(&cells[USUAL_PERCENT], 100 * factor->shares[WHY_USUAL]);
        why_fill_digits(&cells[PROBABILITY], 3, factor->probability);
    }
    return t;
}
