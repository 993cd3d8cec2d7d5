/* RFC 4180: a header row, integers in nanoseconds, numbers the same in every locale. */
#include <inttypes.h>
#include <string.h>

#include "report/table.h"

static void print_text(const char *text, FILE *out)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* printf's %f follows the locale. */
static void print_percent(double percent, FILE *out)
{
    uint64_t scaled = (uint64_t)(percent * 10000 + 0.5);
    fprintf(out, "%" PRIu64 ".%04" PRIu64, scaled / 10000, scaled % 10000);
}

static void print_cell(const struct table *t, const struct column *column, const struct cell *cell, FILE *out)
{
    if (!cell->known)
        return;
    switch (column->kind) {
    case CELL_TEXT:
        print_text(cell->text, out);
        break;
    case CELL_COUNT:
        fprintf(out, "%" PRIu64, cell->number);
        break;
    case CELL_TICKS:
        fprintf(out, "%" PRIu64, table_value(t->session, cell->number));
        break;
    case CELL_PERCENT:
        print_percent(cell->percent, out);
        break;
    }
}

static void print_header(const struct table *t, FILE *out)
{
    const char *comma = "";
    char key[80];
    for (size_t i = 0; i < t->column_count; i++) {
        if (t->columns[i].use == USE_TEXT)
            continue;
        fprintf(out, "%s%s", comma, column_key(t, &t->columns[i], key, sizeof key));
        comma = ",";
    }
    fputs("\r\n", out);
}

void table_print_csv(const struct table *t, FILE *out)
{
    print_header(t, out);
    for (size_t row = 0; row < t->row_count; row++) {
        const char *comma = "";
        for (size_t i = 0; i < t->column_count; i++) {
            if (t->columns[i].use == USE_TEXT)
                continue;
            fputs(comma, out);
            print_cell(t, &t->columns[i], &t->cells[row * t->column_count + i], out);
            comma = ",";
        }
        fputs("\r\n", out);
    }
}
