/* Prints tables as text: numbers first and right-aligned, then names, with one unit of time for all columns. */
#include <inttypes.h>
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bounds.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/units.h"
#include "base/visible.h"
#include "report/table.h"
#include "report/text_fit.h"

#define DIM "\033[2m"

struct text_unit {
    const char *name;
    uint64_t ns;
};

enum { ALL_COLUMNS = -1 };

/* The longest time in a table that belongs to no session. */
static uint64_t text_longest_time(const struct table *t, size_t only)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < t->row_count * t->column_count; i++) {
        const struct column *column = &t->columns[i % t->column_count];
        if (!t->cells[i].known || !column_is_time(column) || column->use == USE_DATA)
            continue;
        if (only != (size_t)ALL_COLUMNS && only != i % t->column_count)
            continue;
        const uint64_t ns = column->kind == CELL_TICKS ? cell_ns(t, &t->cells[i]) : cell_change_ns(t, &t->cells[i]);
        longest = ns > longest ? ns : longest;
    }
    return longest;
}

/* The unit in which the time has at most five digits before the point. */
static struct text_unit text_unit_for(uint64_t ns)
{
    if (ns >= 100000000000u)
        return (struct text_unit){ "s", 1000000000 };
    if (ns >= 100000000u)
        return (struct text_unit){ "ms", 1000000 };
    return (struct text_unit){ "us", 1000 };
}

static struct text_unit text_common_unit(const struct table *t)
{
    const struct summary *s = t->session;
    if (s && s->samples)
        return (struct text_unit){ "SAMPLES", 0 };
    return text_unit_for(s ? ticks_to_ns(s->elapsed_inclusive, s->ticks_per_second)
                           : text_longest_time(t, ALL_COLUMNS));
}

static struct text_unit *text_choose_units(const struct table *t)
{
    struct text_unit *units = need_memory(t->column_count, sizeof *units);
    const struct text_unit common = text_common_unit(t);
    for (size_t i = 0; i < t->column_count; i++) {
        units[i] = common;
        if (column_is_time(&t->columns[i]) && (t->unit_columns || t->columns[i].use == USE_CHOSEN))
            units[i] = text_unit_for(text_longest_time(t, t->unit_columns ? t->unit_columns[i] : i));
    }
    return units;
}

static void text_format_time(char *text, size_t size, uint64_t ns, struct text_unit unit)
{
    if (!unit.ns) {
        snprintf(text, size, "%" PRIu64, ns);
        return;
    }
    const uint64_t thousandth = unit.ns / 1000;
    uint64_t thousandths = ns / thousandth + (ns % thousandth * 2 >= thousandth);
    snprintf(text, size, "%" PRIu64 ".%03" PRIu64, thousandths / 1000, thousandths % 1000);
}

static void text_format_change(char *text, size_t size, const struct table *t, const struct cell *cell,
                               struct text_unit unit)
{
    *text = cell->change < 0 ? '-' : '+';
    text_format_time(text + 1, size - 1, cell_change_ns(t, cell), unit);
}

static void text_format_cell(const struct table *t, const struct column *column, const struct cell *cell,
                             struct text_unit unit, char *text, size_t size)
{
    if (!cell->known)
        snprintf(text, size, "%s", column->kind == CELL_TEXT ? "" : "-");
    else if (column->kind == CELL_COUNT)
        snprintf(text, size, "%" PRIu64, cell->number);
    else if (column->kind == CELL_TICKS)
        text_format_time(text, size, cell_ns(t, cell), unit);
    else if (column->kind == CELL_CHANGE)
        text_format_change(text, size, t, cell, unit);
    else if (column->kind == CELL_PERCENT)
        snprintf(text, size, "%.2f", fabs(cell->percent) < 0.005 ? 0.0 : cell->percent);
}

static void text_make_title(const struct column *column, struct text_unit unit, char *title, size_t size)
{
    const bool elapsed = !unit.ns && strncmp(column->title, "EL.", 3) == 0; /* samples have no elapsed time */
    if (!unit.ns && strcmp(column->title, "ELAPSED") == 0)
        snprintf(title, size, "%s", unit.name);
    else if (column_is_time(column))
        snprintf(title, size, "%s %s", column->title + (elapsed ? 3 : 0), unit.name);
    else
        snprintf(title, size, "%s", column->title);
}

/* The visible form of a cell that holds a text, or NULL. The caller frees it. */
static char *text_visible_cell(const struct column *column, const struct cell *cell)
{
    return cell->known && column_is_text(column) ? visible_cell(cell->text) : NULL;
}

static size_t text_column_width(const struct table *t, size_t at, struct text_unit unit)
{
    const struct column *column = &t->columns[at];
    char text[80];
    text_make_title(column, unit, text, sizeof text);
    size_t widest = strlen(text);
    for (size_t row = 0; row < t->row_count; row++) {
        const struct cell *cell = &t->cells[row * t->column_count + at];
        char *shown = text_visible_cell(column, cell);
        if (!shown)
            text_format_cell(t, column, cell, unit, text, sizeof text);
        const size_t width = text_width(shown ? shown : text);
        widest = width > widest ? width : widest;
        free(shown);
    }
    return widest;
}

static void text_add_columns(struct libscols_table *table, const struct table *t, const size_t *order,
                             const size_t *widths, size_t count, const struct text_unit *units)
{
    for (size_t i = 0; i < count; i++) {
        const struct column *column = &t->columns[order[i]];
        char title[80];
        text_make_title(column, units[order[i]], title, sizeof title);
        const int cut = text_may_be_cut(true, widths[i]) ? SCOLS_FL_TRUNC : 0;
        const int flags = column->kind != CELL_TEXT ? SCOLS_FL_RIGHT : column->tree ? SCOLS_FL_TREE | cut : cut;
        if (!scols_table_new_column(table, title, 0, flags))
            out_of_memory();
    }
}

/* True if the row mostly waits. It is printed dim, because it is not a hot spot. */
static bool text_row_is_dim(const struct table *t, size_t row)
{
    const struct cell *wait = &t->cells[row * t->column_count + t->wait_column];
    const struct cell *cell = &t->cells[row * t->column_count + t->dim_column];
    if (t->wait_column && wait->known && wait->text[0] == 'w')
        return true;
    return t->dim_column && cell->known && cell->percent > 50;
}

/* The rows of a tree, down to a limit below which guides would fill the lines. Deeper rows have their depth as a
 * number instead, all in the last column of guides. */
enum { MAX_GUIDES = 48 };

struct text_row {
    struct libscols_line *line;
    size_t anchor; /* 1 + the row whose guide leads to this one, or zero */
    size_t depth;
};

static void text_add_line(struct libscols_table *table, const struct table *t, struct text_row *rows, size_t row)
{
    const size_t parent = t->parents ? t->parents[row] : 0;
    rows[row] = (struct text_row){ .anchor = parent, .depth = parent ? rows[parent - 1].depth + 1 : 1 };
    if (rows[row].depth > MAX_GUIDES)
        rows[row].anchor = rows[parent - 1].anchor;
    rows[row].line = scols_table_new_line(table, rows[row].anchor ? rows[rows[row].anchor - 1].line : NULL);
    if (!rows[row].line)
        out_of_memory();
}

static void text_set_cell(const struct text_row *row, size_t at, const struct column *column, const char *text)
{
    if (!column->tree || row->depth <= MAX_GUIDES) {
        scols_line_set_data(row->line, at, text);
        return;
    }
    char *numbered = need_text("[%zu] %s", row->depth, text);
    scols_line_set_data(row->line, at, numbered);
    free(numbered);
}

static void text_add_rows(struct libscols_table *table, const struct table *t, const size_t *order, size_t count,
                          const struct text_unit *units)
{
    struct text_row *rows = need_memory(t->row_count, sizeof *rows);
    for (size_t row = 0; row < t->row_count; row++) {
        text_add_line(table, t, rows, row);
        if (text_row_is_dim(t, row))
            scols_line_set_color(rows[row].line, DIM);
        for (size_t i = 0; i < count; i++) {
            const struct cell *cell = &t->cells[row * t->column_count + order[i]];
            char number[64] = "", *shown = text_visible_cell(&t->columns[order[i]], cell);
            if (!shown)
                text_format_cell(t, &t->columns[order[i]], cell, units[order[i]], number, sizeof number);
            text_set_cell(&rows[row], i, &t->columns[order[i]], shown ? shown : number);
            free(shown);
        }
    }
    free(rows);
}

static void text_print_count(FILE *out, uint64_t count, const char *one, const char *many)
{
    fprintf(out, ", %" PRIu64 " %s", count, count == 1 ? one : many);
}

static void text_print_remarks(const struct summary *s, FILE *out)
{
    for (size_t i = 0; i < s->remark_count; i++)
        print_text(out, "! %s\n", s->remarks[i]);
    char *bounds = bounds_remark(s);
    if (bounds)
        print_text(out, "! %s\n", bounds);
    free(bounds);
    fputs("\n", out);
}

/* Prints the rest of the summary of an imported session, which has neither events nor known threads. */
static void text_print_imported(const struct summary *s, struct text_unit unit, FILE *out)
{
    char text[64];
    if (s->application_known) {
        text_format_time(text, sizeof text, ticks_to_ns(s->application_inclusive, s->ticks_per_second), unit);
        fprintf(out, ", application %s %s", text, unit.name);
    } else if (!s->samples) {
        fputs(", application unknown (not in the report)", out);
    }
    text_print_count(out, s->processes, "process", "processes");
    fputs(", imported\n", out);
    text_print_remarks(s, out);
}

static void text_print_summary(const struct summary *s, struct text_unit unit, FILE *out)
{
    char text[64];
    text_format_time(text, sizeof text,
                     s->samples ? s->elapsed_inclusive : ticks_to_ns(s->elapsed_inclusive, s->ticks_per_second), unit);
    print_text(out, "%s%s%s: %s%s %s", s->path, s->selection ? ", " : "", s->selection ? s->selection : "",
               s->samples ? "" : "elapsed ", text, s->samples ? "samples" : unit.name);
    if (s->imported) {
        text_print_imported(s, unit, out);
        return;
    }
    if (s->application_known) {
        text_format_time(text, sizeof text, ticks_to_ns(s->application_inclusive, s->ticks_per_second), unit);
        fprintf(out, ", application %s %s", text, unit.name);
        if (!s->partial_paths)
            text_print_count(out, s->os_events, "OS event", "OS events");
    } else {
        fputs(", application unknown (no source of OS events)", out);
    }
    text_print_count(out, s->threads, "thread", "threads");
    text_print_count(out, s->processes, "process", "processes");
    if (!s->partial_paths)
        text_print_count(out, s->events, "event", "events");
    if (s->overhead_known) {
        text_format_time(text, sizeof text, ticks_to_ns(s->overhead, s->ticks_per_second), unit);
        fprintf(out, "; %s %s of probes left out (--raw)", text, unit.name);
    }
    fputs("\n", out);
    text_print_remarks(s, out);
}

static void text_print_head(const struct table *t, FILE *out)
{
    if (t->session && t->session->path && !t->follows)
        text_print_summary(t->session, text_common_unit(t), out);
    if (t->heading)
        fprintf(out, "%s%s\n", t->follows ? "\n" : "", t->heading);
}

void table_print_text(const struct table *t, FILE *out)
{
    struct text_unit *units = text_choose_units(t);
    size_t *order = need_memory(table_max_columns(t), sizeof *order);
    size_t count = table_order(t, true, order);
    const size_t all = count;
    size_t *widths = need_memory(count, sizeof *widths);
    for (size_t i = 0; i < count; i++)
        widths[i] = text_column_width(t, order[i], units[order[i]]);
    if (terminal_width(out) && (!t->chosen || t->optional))
        count = text_fit(t, order, widths, count, terminal_width(out));
    text_print_head(t, out);
    struct libscols_table *table = scols_new_table();
    if (!table)
        out_of_memory();
    scols_table_set_stream(table, out);
    scols_table_enable_noencoding(table, true); /* the cells are visible, and other escapes would change their width */
    scols_table_enable_colors(table, terminal_has_colors(out));
    if (terminal_width(out)) {
        scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
        scols_table_set_termwidth(table, terminal_width(out));
    }
    text_add_columns(table, t, order, widths, count, units);
    text_add_rows(table, t, order, count, units);
    scols_print_table(table);
    scols_unref_table(table);
    if (t->hidden_rows)
        fprintf(out, "%zu more; --limit 0 shows all\n", t->hidden_rows);
    if (count < all && !t->optional)
        fprintf(out, "narrow terminal: without %zu column%s; --columns chooses\n", all - count,
                all - count == 1 ? "" : "s");
    free(widths);
    free(order);
    free(units);
}
