/* Cells for the difference between two values, the same in all comparisons. */
#ifndef DWELL_COMPARISON_CHANGE_H
#define DWELL_COMPARISON_CHANGE_H

#include <math.h>

#include "tables/table.h"

static inline int64_t change_between(uint64_t from, uint64_t to)
{
    const uint64_t apart = to > from ? to - from : from - to;
    const int64_t limited = apart > INT64_MAX ? INT64_MAX : (int64_t)apart;
    return to > from ? limited : -limited;
}

/* The change in percent of the earlier value; unknown if that is zero. */
static inline void fill_change_percent(struct cell *cell, int64_t by, uint64_t from)
{
    if (from)
        cell_percent(cell, 100.0 * (double)by / (double)from);
}

/* Fills two cells: the change, and its percentage. */
static inline void fill_change(struct cell *cells, int64_t by, uint64_t from)
{
    cell_change(&cells[0], by);
    fill_change_percent(&cells[1], by, from);
}

/* A probability; NAN is unknown. Four digits follow the point, in every locale. Smaller probabilities do not matter. */
static inline void fill_probability(struct cell *cell, double probability)
{
    char digits[32];
    const unsigned parts = (unsigned)lround(probability * 10000);
    if (isnan(probability))
        return;
    snprintf(digits, sizeof digits, "%u.%04u", parts / 10000, parts % 10000);
    cell_text(cell, digits);
}

#endif
