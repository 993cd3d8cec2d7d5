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
        if (t->columns[i % t->column_count].kind == CELL_TEXT && t->cells[i].known)
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

uint64_t ticks_to_ns(uint64_t ticks, uint64_t ticks_per_second)
{
    return (uint64_t)(((uint128)ticks * 1000000000u + ticks_per_second / 2) / ticks_per_second);
}

uint64_t table_value(const struct session_summary *s, uint64_t ticks)
{
    return s->samples ? ticks : ticks_to_ns(ticks, s->ticks_per_second);
}

/* Samples are taken of inclusive and exclusive, but not of elapsed time. */
const char *column_key(const struct table *t, const struct column *column, char *room, size_t size)
{
    static const char elapsed[] = "elapsed_";
    const char *key = column->key, *unit = "";
    if (t->session->samples && strncmp(key, elapsed, sizeof elapsed - 1) == 0)
        key += sizeof elapsed - 1;
    if (column->kind == CELL_TICKS)
        unit = t->session->samples ? "_samples" : "_ns";
    snprintf(room, size, "%s%s", key, unit);
    return room;
}
