/* Text for people: numbers first and right-aligned, names behind them, one unit of time for all columns. */
#include <inttypes.h>
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "report/table.h"

struct unit {
    const char *name;
    uint64_t ns;
};

/* The one in which the session's time has up to five digits before the point: three follow it. */
static struct unit choose_unit(const struct session_summary *s)
{
    if (s->samples)
        return (struct unit){ "samples", 0 };
    uint64_t ns = ticks_to_ns(s->elapsed_inclusive, s->ticks_per_second);
    if (ns >= 100000000000u)
        return (struct unit){ "s", 1000000000 };
    if (ns >= 100000000u)
        return (struct unit){ "ms", 1000000 };
    return (struct unit){ "us", 1000 };
}

static void format_time(char *text, size_t size, uint64_t ns, struct unit unit)
{
    if (!unit.ns) {
        snprintf(text, size, "%" PRIu64, ns);
        return;
    }
    uint64_t thousandths = (ns + unit.ns / 2000) / (unit.ns / 1000);
    snprintf(text, size, "%" PRIu64 ".%03" PRIu64, thousandths / 1000, thousandths % 1000);
}

static void format_cell(const struct table *t, const struct column *column, const struct cell *cell, struct unit unit,
                        char *text, size_t size)
{
    if (!cell->known)
        snprintf(text, size, "%s", column->kind == CELL_TEXT ? "" : "-");
    else if (column->kind == CELL_COUNT)
        snprintf(text, size, "%" PRIu64, cell->number);
    else if (column->kind == CELL_TICKS)
        format_time(text, size, table_value(t->session, cell->number), unit);
    else if (column->kind == CELL_PERCENT)
        snprintf(text, size, "%.2f", cell->percent);
}

/* Which columns are shown, in which order: numbers, then texts. */
/* Samples say nothing of calls and application times: no columns of dashes for these. */
static bool is_shown(const struct table *t, size_t column)
{
    if (t->columns[column].use == USE_DATA)
        return false;
    bool known = !t->session->samples;
    for (size_t row = 0; row < t->row_count && !known; row++)
        known = t->cells[row * t->column_count + column].known;
    return known;
}

static size_t order_columns(const struct table *t, size_t *order)
{
    size_t count = 0;
    for (int texts = 0; texts < 2; texts++)
        for (size_t i = 0; i < t->column_count; i++)
            if (is_shown(t, i) && (t->columns[i].kind == CELL_TEXT) == texts)
                order[count++] = i;
    return count;
}

static void add_columns(struct libscols_table *table, const struct table *t, const size_t *order, size_t count,
                        struct unit unit)
{
    for (size_t i = 0; i < count; i++) {
        const struct column *column = &t->columns[order[i]];
        char title[80];
        if (column->kind == CELL_TICKS)
            snprintf(title, sizeof title, "%s %s", column->title + (unit.ns || strncmp(column->title, "EL.", 3) != 0 ? 0 : 3), unit.name);
        else
            snprintf(title, sizeof title, "%s", column->title);
        int flags = column->kind != CELL_TEXT ? SCOLS_FL_RIGHT : column->tree ? SCOLS_FL_TREE : i + 1 == count ? SCOLS_FL_TRUNC : 0;
        if (!scols_table_new_column(table, title, 0, flags))
            die(STATUS_ERROR, "out of memory");
    }
}

static void add_rows(struct libscols_table *table, const struct table *t, const size_t *order, size_t count,
                     struct unit unit)
{
    struct libscols_line **lines = need_memory(t->row_count, sizeof *lines);
    for (size_t row = 0; row < t->row_count; row++) {
        struct libscols_line *parent = t->parents && t->parents[row] ? lines[t->parents[row] - 1] : NULL;
        lines[row] = scols_table_new_line(table, parent);
        if (!lines[row])
            die(STATUS_ERROR, "out of memory");
        for (size_t i = 0; i < count; i++) {
            const struct cell *cell = &t->cells[row * t->column_count + order[i]];
            char number[64] = "";
            const char *text = number;
            if (cell->known && t->columns[order[i]].kind == CELL_TEXT)
                text = cell->text;
            else
                format_cell(t, &t->columns[order[i]], cell, unit, number, sizeof number);
            scols_line_set_data(lines[row], i, text);
        }
    }
    free(lines);
}

static void print_count(FILE *out, uint64_t count, const char *one, const char *many)
{
    fprintf(out, ", %" PRIu64 " %s", count, count == 1 ? one : many);
}

static void print_remarks(const struct session_summary *s, FILE *out)
{
    for (size_t i = 0; i < s->remark_count; i++)
        fprintf(out, "! %s\n", s->remarks[i]);
    fputs("\n", out);
}

/* What is behind the elapsed time, where there were neither events nor threads that are known. */
static void print_imported(const struct session_summary *s, struct unit unit, FILE *out)
{
    char text[64];
    if (s->application_known) {
        format_time(text, sizeof text, table_value(s, s->application_inclusive), unit);
        fprintf(out, ", application %s %s", text, unit.name);
    } else if (!s->samples) {
        fputs(", application unknown (not in the report)", out);
    }
    print_count(out, s->processes, "process", "processes");
    fputs(", imported\n", out);
    print_remarks(s, out);
}

static void print_summary(const struct session_summary *s, struct unit unit, FILE *out)
{
    char text[64];
    format_time(text, sizeof text, table_value(s, s->elapsed_inclusive), unit);
    fprintf(out, s->samples ? "%s: %s %s" : "%s: elapsed %s %s", s->path, text, unit.name);
    if (s->imported) {
        print_imported(s, unit, out);
        return;
    }
    if (s->application_known) {
        format_time(text, sizeof text, ticks_to_ns(s->application_inclusive, s->ticks_per_second), unit);
        fprintf(out, ", application %s %s", text, unit.name);
        print_count(out, s->os_events, "OS event", "OS events");
    } else {
        fputs(", application unknown (no source of OS events)", out);
    }
    print_count(out, s->threads, "thread", "threads");
    print_count(out, s->processes, "process", "processes");
    print_count(out, s->events, "event", "events");
    fputs("\n", out);
    print_remarks(s, out);
}

void table_print_text(const struct table *t, FILE *out)
{
    struct unit unit = choose_unit(t->session);
    size_t *order = need_memory(t->column_count, sizeof *order);
    size_t count = order_columns(t, order);
    print_summary(t->session, unit, out);
    struct libscols_table *table = scols_new_table();
    if (!table)
        die(STATUS_ERROR, "out of memory");
    scols_table_set_stream(table, out);
    add_columns(table, t, order, count, unit);
    add_rows(table, t, order, count, unit);
    scols_print_table(table);
    scols_unref_table(table);
    if (t->hidden_rows)
        fprintf(out, "%zu more; --limit 0 shows all\n", t->hidden_rows);
    free(order);
}
