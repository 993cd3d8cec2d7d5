/* Chooses the units of columns and formats numbers. */
#include "report/text_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_options.h"

static uint64_t text_cell_ns(const struct table *t, const struct column *column, const struct cell *cell)
{
    if (column->kind == CELL_NS)
        return cell->number;
    return column->kind == CELL_CHANGE ? cell_change_ns(t, cell) : cell_ns(t, cell);
}

static uint64_t text_longest_time(const struct table *t, size_t column)
{
    uint64_t longest = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        const struct cell *cell = &t->cells[row * t->column_count + column];
        const uint64_t ns = cell->known ? text_cell_ns(t, &t->columns[column], cell) : 0;
        longest = ns > longest ? ns : longest;
    }
    return longest;
}

/* Moments are positions on one axis. */
static bool text_share_unit(const struct table *t, size_t a, size_t b)
{
    const bool moments = t->columns[a].kind == CELL_MOMENT && t->columns[b].kind == CELL_MOMENT;
    return a == b || moments || (t->unit_groups && t->unit_groups[a] && t->unit_groups[a] == t->unit_groups[b]);
}

static bool text_has_own_units(const struct table *t, size_t column)
{
    return t->unit_groups && t->unit_groups[column] == OWN_UNITS;
}

/* Columns have the unit of the longest time in the table, if their own longest time is not shorter than the unit. So
 * most columns can be compared with each other. */
static const struct time_unit *text_unit_of_column(uint64_t longest, uint64_t longest_of_all)
{
    const struct time_unit *common = time_unit_for_all(longest_of_all);
    return longest == 0 || longest >= common->ns ? common : time_unit_for_all(longest);
}

static void text_choose_column_units(const struct table *t, const size_t *order, size_t count, struct text_unit *units)
{
    uint64_t *longest = need_memory(t->column_count, sizeof *longest), longest_of_all = 0;
    for (size_t i = 0; i < count; i++)
        if (column_is_time(&t->columns[order[i]]))
            longest[order[i]] = text_longest_time(t, order[i]);
    for (size_t i = 0; i < count; i++)
        if (t->columns[order[i]].kind != CELL_MOMENT && !text_has_own_units(t, order[i]) &&
            longest[order[i]] > longest_of_all)
            longest_of_all = longest[order[i]];
    for (size_t i = 0; i < count; i++) {
        uint64_t of_group = 0;
        for (size_t k = 0; k < count; k++)
            if (text_share_unit(t, order[i], order[k]) && longest[order[k]] > of_group)
                of_group = longest[order[k]];
        const bool is_moment = t->columns[order[i]].kind == CELL_MOMENT;
        if (column_is_time(&t->columns[order[i]]) && !text_has_own_units(t, order[i]))
            units[order[i]].time = text_unit_of_column(of_group, is_moment ? of_group : longest_of_all);
    }
    free(longest);
}

struct text_unit *text_choose_units(const struct table *t, const size_t *order, size_t count)
{
    struct text_unit *units = need_memory(t->column_count, sizeof *units);
    const struct text_options *options = text_options();
    const bool samples = t->session && t->session->samples;
    for (size_t i = 0; i < t->column_count; i++)
        units[i] = (struct text_unit){ options->units == UNITS_FIXED ? options->unit : NULL, samples };
    if (options->units == UNITS_OF_COLUMNS && !samples)
        text_choose_column_units(t, order, count, units);
    return units;
}

void text_make_title(const struct column *column, struct text_unit unit, char *title, size_t size)
{
    const bool elapsed = unit.samples && strncmp(column->title, "EL.", 3) == 0; /* samples have no elapsed time */
    const char *name = unit.samples ? "SAMPLES" : unit.time ? unit.time->name : "";
    if (unit.samples && strcmp(column->title, "ELAPSED") == 0)
        snprintf(title, size, "%s", name);
    else if (column_is_time(column) && *name)
        snprintf(title, size, "%s %s", column->title + (elapsed ? 3 : 0), name);
    else
        snprintf(title, size, "%s", column->title);
}

/* ---- cells ---- */

static void text_format_time(uint64_t ns, bool exact, struct text_unit unit, char text[TIME_TEXT])
{
    if (unit.samples)
        snprintf(text, TIME_TEXT, "%" PRIu64, ns);
    else if (!unit.time)
        text_time_cell(ns, exact, text);
    else if (exact)
        time_text_exact(ns, unit.time, text);
    else
        time_text(ns, unit.time, text);
}

static char *text_format_number(const struct table *t, const struct column *column, const struct cell *cell,
                                struct text_unit unit)
{
    char text[TIME_TEXT + 2] = "", *at = text;
    if (!cell->known)
        return need_copy("-", 1);
    if (column->kind == CELL_COUNT) {
        snprintf(text, sizeof text, "%" PRIu64, cell->number);
    } else if (column->kind == CELL_PERCENT) {
        snprintf(text, sizeof text, "%.2f", fabs(cell->percent) < 0.005 ? 0.0 : cell->percent);
    } else if (column_is_time(column)) {
        struct cell shown = *cell;
        if (column->kind == CELL_CHANGE && cell->change)
            *at++ = cell->change < 0 ? '-' : '+';
        if (cell->unresolved) {
            *at++ = '<';
            shown.number = t->session->resolution;
        }
        text_format_time(text_cell_ns(t, column, &shown), column->kind == CELL_MOMENT, unit, at);
    }
    return need_text("%s%s", t->marks_cells && cell->estimated ? "~" : "", text);
}

static size_t text_digits_after_point(const char *text)
{
    const char *point = strchr(text, '.');
    return point ? strlen(point) : 0;
}

/* Appends blanks, so that the points of numbers are below each other in a right-aligned column. */
static void text_align_points(char **texts, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t after = text_digits_after_point(texts[i]);
        most = after > most ? after : most;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t missing = most - text_digits_after_point(texts[i]);
        if (!missing || strcmp(texts[i], "-") == 0)
            continue;
        char *aligned = need_text("%s%*s", texts[i], (int)missing, "");
        free(texts[i]);
        texts[i] = aligned;
    }
}

void text_format_numbers(const struct table *t, size_t column, struct text_unit unit, char **texts)
{
    for (size_t row = 0; row < t->row_count; row++)
        texts[row] = text_format_number(t, &t->columns[column], &t->cells[row * t->column_count + column], unit);
    if (column_is_time(&t->columns[column]) && unit.time)
        text_align_points(texts, t->row_count);
}
