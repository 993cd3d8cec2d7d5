/* Prints tables as CSV (RFC 4180) with a header row. Times are integers in nanoseconds; no number depends on the
 * locale. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/csv_text.h"
#include "base/memory.h"
#include "report/table_formats.h"

static void csv_print_percent(double percent, FILE *out)
{
    char digits[PERCENT_ROOM];
    percent_digits(percent, digits);
    fputs(digits, out);
}

static void csv_print_cell(const struct table *t, const struct column *column, const struct cell *cell, FILE *out)
{
    if (!cell->known)
        return;
    switch (column->kind) {
    case CELL_TEXT:
        if (cell->is_value && !*cell->text)
            csv_print_quoted("", out);
        else
            csv_print_text(cell->text, out);
        break;
    case CELL_NAME:
    case CELL_SOURCE:
    case CELL_THREADS:
    case CELL_OBJECT:
    case CELL_PATH:
        csv_print_text(cell->text, out);
        break;
    case CELL_DIGITS:
        fputs(cell->text, out);
        break;
    case CELL_COUNT:
    case CELL_NS:
        fprintf(out, "%" PRIu64, cell->number);
        break;
    case CELL_TICKS:
    case CELL_MOMENT:
        fprintf(out, "%" PRIu64, cell_ns(t, cell));
        break;
    case CELL_CHANGE:
        fprintf(out, "%s%" PRIu64, cell->change < 0 ? "-" : "", cell_change_ns(t, cell));
        break;
    case CELL_PERCENT:
        csv_print_percent(cell->percent, out);
        break;
    }
}

static void csv_print_header(const struct table *t, const size_t *order, size_t count, FILE *out)
{
    char key[80];
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        if (column_is_time(&t->columns[order[i]])) /* these keys need no quotes */
            fputs(column_key(t, &t->columns[order[i]], key, sizeof key), out);
        else
            csv_print_text(column_key(t, &t->columns[order[i]], key, sizeof key), out);
    }
    fputs("\r\n", out);
}

void table_print_csv(const struct table *t, FILE *out)
{
    size_t *order = need_memory(table_max_columns(t), sizeof *order);
    const size_t count = table_order(t, false, order);
    csv_print_header(t, order, count, out);
    for (size_t row = 0; row < t->row_count; row++) {
        for (size_t i = 0; i < count; i++) {
            if (i)
                fputc(',', out);
            csv_print_cell(t, &t->columns[order[i]], &t->cells[row * t->column_count + order[i]], out);
        }
        fputs("\r\n", out);
    }
    free(order);
}
