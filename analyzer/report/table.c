#include "report/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/wide.h"

static const struct {
    const char *name;
    table_printer *print;
} formats[] = {
    { "text", table_print_text },
    { "csv", table_print_csv },
    { "json", table_print_json },
};

const char table_format_names[] = "text, csv, json";

table_printer *table_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].print;
    return NULL;
}

struct table table_make(const struct column *columns, size_t column_count, const struct session_summary *session)
{
    return (struct table){ .columns = columns, .column_count = column_count, .session = session };
}

void table_drop(struct table *t)
{
    for (size_t i = 0; i < t->row_count * t->column_count; i++)
        if (column_is_text(&t->columns[i % t->column_count]) && t->cells[i].known)
            free(t->cells[i].text);
    free(t->cells);
    free(t->parents);
}

struct cell *table_row(struct table *t)
{
    if (t->row_count == t->row_room) {
        t->row_room = t->row_room ? t->row_room * 2 : 64;
        t->cells = need_more(t->cells, t->row_room * t->column_count, sizeof *t->cells);
    }
    struct cell *row = &t->cells[t->row_count++ * t->column_count];
    memset(row, 0, t->column_count * sizeof *row);
    return row;
}

void cell_text(struct cell *cell, const char *text)
{
    cell->known = text != NULL;
    if (text)
        cell->text = need_copy(text, strlen(text));
}

void cell_number(struct cell *cell, uint64_t number)
{
    cell->known = true;
    cell->number = number;
}

void cell_percent(struct cell *cell, double percent)
{
    cell->known = true;
    cell->percent = percent;
}

void cell_change(struct cell *cell, int64_t change)
{
    cell->known = true;
    cell->change = change;
}

uint64_t ticks_to_ns(uint64_t ticks, uint64_t ticks_per_second)
{
    return (uint64_t)(((uint128)ticks * 1000000000u + ticks_per_second / 2) / ticks_per_second);
}

uint64_t cell_ns(const struct table *t, const struct cell *cell)
{
    return t->session ? ticks_to_ns(cell->number, t->session->ticks_per_second) : cell->number;
}

uint64_t cell_change_ns(const struct table *t, const struct cell *cell)
{
    const uint64_t ticks = cell->change < 0 ? -(uint64_t)cell->change : (uint64_t)cell->change;
    return t->session ? ticks_to_ns(ticks, t->session->ticks_per_second) : ticks;
}
