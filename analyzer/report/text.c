/* Prints tables as text: numbers first and right-aligned, then texts, and names last. */
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text_options.h"
#include "base/visible.h"
#include "report/table_formats.h"
#include "report/text_cut.h"
#include "report/text_fit.h"
#include "report/text_lines.h"
#include "report/text_marks.h"
#include "report/text_numbers.h"
#include "report/text_summary.h"

#define DIM "\033[2m"
#define HOT "\033[31m"

enum {
    BRANCH = 2, /* cells of a row of a tree for each caller */
    MAX_GUIDES = 48,
    MIN_TREE_NAME = 8,
};

/* A table on its way to the output. */
struct text_page {
    const struct table *table;
    struct text_columns columns;
    struct text_unit *units; /* by column of the table */
    char ***texts;           /* by column of the table, then by row; NULL for columns that are not printed */
    size_t *depths;          /* by row, its depth in a tree; NULL if the table is none */
    size_t guides;           /* the most of a row; deeper ones have a number */
    struct text_marks marks; /* before the names */
    size_t width;            /* of a line; 0 for any */
};

/* ---- cells ---- */

static char **text_make_words(const struct table *t, size_t column)
{
    char **texts = need_memory(t->row_count + 1, sizeof *texts);
    for (size_t row = 0; row < t->row_count; row++) {
        const struct cell *cell = &t->cells[row * t->column_count + column];
        texts[row] = cell->known ? visible_cell(cell->shown ? cell->shown : cell->text) : need_copy("", 0);
    }
    if (t->columns[column].kind == CELL_NAME && !text_options()->full_names)
        text_cut_display(texts, t->row_count);
    return texts;
}

static char **text_make_numbers(const struct table *t, size_t column, struct text_unit unit)
{
    char **texts = need_memory(t->row_count + 1, sizeof *texts);
    if (column_is_text(&t->columns[column]))
        for (size_t row = 0; row < t->row_count; row++) {
            const struct cell *cell = &t->cells[row * t->column_count + column];
            texts[row] = cell->known ? visible_cell(cell->text) : need_copy("-", 1);
        }
    else
        text_format_numbers(t, column, unit, texts);
    return texts;
}

static size_t *text_find_depths(const struct table *t)
{
    if (!t->parents)
        return NULL;
    size_t *depths = need_memory(t->row_count + 1, sizeof *depths);
    for (size_t row = 0; row < t->row_count; row++)
        depths[row] = t->parents[row] ? depths[t->parents[row] - 1] + 1 : 0;
    return depths;
}

/* Guides of deeper rows would fill the lines. Deeper rows have their depth as a number instead, all in the last column
 * of guides. */
static bool text_row_is_deep(const struct text_page *p, size_t row)
{
    return p->depths && p->depths[row] >= p->guides;
}

/* The width of what is before the cell: in a tree its guides, and the depth of a deep row; and the row's mark. */
static size_t text_branch_width(const struct text_page *p, size_t column, size_t row)
{
    const size_t mark = strlen(text_marks_of(&p->marks, column, row));
    if (!p->depths || !p->table->columns[column].tree)
        return mark;
    if (!text_row_is_deep(p, row))
        return BRANCH * p->depths[row] + mark;
    return BRANCH * (p->guides - 1) + (size_t)snprintf(NULL, 0, "[%zu] ", p->depths[row] + 1) + mark;
}

static size_t text_column_width(const struct text_page *p, size_t column)
{
    char title[80];
    text_make_title(&p->table->columns[column], p->units[column], title, sizeof title);
    size_t widest = strlen(title);
    for (size_t row = 0; row < p->table->row_count; row++) {
        const size_t width = text_width(p->texts[column][row]) + text_branch_width(p, column, row);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static struct text_page text_make_page(const struct table *t, size_t width)
{
    struct text_page p = { .table = t, .depths = text_find_depths(t), .guides = MAX_GUIDES, .width = width };
    p.columns.table = t;
    p.columns.order = need_memory(table_max_columns(t), sizeof *p.columns.order);
    p.columns.name_room = t->name_room ? t->name_room : NAME_ROOM;
    p.columns.count = table_order(t, true, p.columns.order);
    p.columns.widths = need_memory(p.columns.count + 1, sizeof *p.columns.widths);
    p.units = text_choose_units(t, p.columns.order, p.columns.count);
    p.texts = need_memory(t->column_count + 1, sizeof *p.texts);
    p.marks = text_marks_find(t, p.columns.order, p.columns.count);
    for (size_t i = 0; i < p.columns.count; i++) {
        const size_t column = p.columns.order[i];
        if (!p.texts[column])
            p.texts[column] = column_is_words(&t->columns[column]) ? text_make_words(t, column)
                                                                   : text_make_numbers(t, column, p.units[column]);
        p.columns.widths[i] = text_column_width(&p, column);
    }
    return p;
}

static void text_drop_page(struct text_page *p)
{
    for (size_t i = 0; i < p->table->column_count; i++) {
        for (size_t row = 0; p->texts[i] && row < p->table->row_count; row++)
            free(p->texts[i][row]);
        free(p->texts[i]);
    }
    free(p->texts);
    text_marks_drop(&p->marks);
    free(p->units);
    free(p->depths);
    free(p->columns.widths);
    free(p->columns.order);
}

/* ---- fitting ---- */

static void text_cut_words(const struct text_page *p, size_t column, size_t width)
{
    char **texts = p->texts[column];
    const enum cell_kind kind = p->table->columns[column].kind;
    char *(*cut_text)(const char *, size_t) = kind == CELL_SOURCE    ? text_cut_source
                                              : kind == CELL_THREADS ? text_cut_threads
                                              : kind == CELL_OBJECT  ? text_cut_object
                                                                     : text_cut_middle;
    for (size_t row = 0; row < p->table->row_count; row++) {
        const size_t mark = strlen(text_marks_of(&p->marks, column, row));
        char *cut = cut_text(texts[row], width > mark ? width - mark : 1);
        free(texts[row]);
        texts[row] = cut;
    }
}

static void text_cut_column(const struct text_page *p, size_t column, size_t width)
{
    const size_t count = p->table->row_count;
    if (p->table->columns[column].kind != CELL_NAME) {
        text_cut_words(p, column, width);
        return;
    }
    size_t *widths = need_memory(count + 1, sizeof *widths);
    for (size_t row = 0; row < count; row++) {
        const size_t branch = text_branch_width(p, column, row);
        widths[row] = width > branch + MIN_TREE_NAME ? width - branch : MIN_TREE_NAME;
    }
    text_cut_names(p->texts[column], widths, count);
    free(widths);
}

/* In a tree, columns of numbers leave until most names have room beside their guides. Guides of very deep rows get no
 * more than two thirds of the line. */
static size_t text_tree_room(const struct text_page *p)
{
    size_t room = p->columns.name_room;
    const size_t most = p->width / 3 * 2;
    for (size_t i = 0; i < p->columns.count; i++) {
        const size_t column = p->columns.order[i];
        for (size_t row = 0; p->table->columns[column].tree && row < p->table->row_count; row++) {
            const size_t name = text_width(p->texts[column][row]), branch = text_branch_width(p, column, row);
            const size_t wanted = branch + (name < NAME_ROOM ? name : NAME_ROOM);
            room = wanted > room ? wanted : room;
        }
    }
    if (room <= most)
        return room;
    return most > p->columns.name_room ? most : p->columns.name_room;
}

/* Leaves out the innermost guides of a tree that the column has no room for. */
static void text_limit_guides(struct text_page *p, size_t column, size_t width)
{
    if (!p->depths || !p->table->columns[column].tree)
        return;
    for (size_t row = 0; row < p->table->row_count; row++) {
        const size_t name = text_width(p->texts[column][row]), least = name < MIN_TREE_NAME ? name : MIN_TREE_NAME;
        while (p->guides > 1 && text_branch_width(p, column, row) + least > width)
            p->guides--;
    }
}

static void text_fit_page(struct text_page *p)
{
    if (p->depths && p->width)
        p->columns.name_room = text_tree_room(p);
    if (p->width && (!p->table->chosen || p->table->optional))
        text_fit(&p->columns, p->width);
    if (text_options()->full_names)
        return;
    size_t *before = need_memory(p->columns.count + 1, sizeof *before);
    memcpy(before, p->columns.widths, p->columns.count * sizeof *before);
    text_fit_share(&p->columns, p->width);
    for (size_t i = 0; i < p->columns.count; i++)
        if (p->columns.widths[i] < before[i]) {
            text_limit_guides(p, p->columns.order[i], p->columns.widths[i]);
            text_cut_column(p, p->columns.order[i], p->columns.widths[i]);
        }
    free(before);
}

/* ---- printing ---- */

static void text_add_columns(struct libscols_table *table, const struct text_page *p)
{
    for (size_t i = 0; i < p->columns.count; i++) {
        const struct column *column = &p->table->columns[p->columns.order[i]];
        char title[80];
        text_make_title(column, p->units[p->columns.order[i]], title, sizeof title);
        const int flags = !column_is_words(column) ? SCOLS_FL_RIGHT : column->tree ? SCOLS_FL_TREE : 0;
        if (!scols_table_new_column(table, title, 0, flags))
            out_of_memory();
    }
}

/* True if the row mostly waits. It is printed dim, because it is not a hot spot. */
static bool text_row_is_dim(const struct table *t, size_t row)
{
    const struct cell *waiting = &t->cells[row * t->column_count + t->waiting_column];
    const struct cell *cell = &t->cells[row * t->column_count + t->dim_column];
    if (t->waiting_column && waiting->is_waiting)
        return true;
    return t->dim_column && cell->known && cell->percent > 50;
}

/* The least percentage of a hot row, which is half of the largest one of rows that do not wait. */
static double text_find_hot(const struct table *t)
{
    double most = 0;
    for (size_t row = 0; row < t->row_count && t->hot_column; row++) {
        const struct cell *cell = &t->cells[row * t->column_count + t->hot_column];
        if (cell->known && cell->percent > most && !text_row_is_dim(t, row))
            most = cell->percent;
    }
    return most / 2;
}

/* True if the row is on the hot path of a tree, or has much of the work. */
static bool text_row_is_hot(const struct table *t, size_t row, double least)
{
    const struct cell *cells = &t->cells[row * t->column_count];
    if (t->waiting_column && cells[t->waiting_column].hot)
        return true;
    return t->hot_column && cells[t->hot_column].known && least > 0 && cells[t->hot_column].percent >= least;
}

struct text_row {
    struct libscols_line *line;
    size_t anchor; /* 1 + the row whose guide leads to this one, or zero */
};

static void text_add_line(struct libscols_table *table, const struct text_page *p, struct text_row *rows, size_t row)
{
    const size_t parent = p->table->parents ? p->table->parents[row] : 0;
    rows[row].anchor = parent && text_row_is_deep(p, row) ? rows[parent - 1].anchor : parent;
    rows[row].line = scols_table_new_line(table, rows[row].anchor ? rows[rows[row].anchor - 1].line : NULL);
    if (!rows[row].line)
        out_of_memory();
}

static void text_set_cell(const struct text_page *p, struct libscols_line *line, size_t at, size_t row)
{
    const size_t column = p->columns.order[at];
    const char *mark = text_marks_of(&p->marks, column, row);
    char *text = !p->table->columns[column].tree || !text_row_is_deep(p, row)
                     ? need_text("%s%s", mark, p->texts[column][row])
                     : need_text("[%zu] %s%s", p->depths[row] + 1, mark, p->texts[column][row]);
    scols_line_set_data(line, at, text);
    free(text);
}

static void text_add_rows(struct libscols_table *table, const struct text_page *p)
{
    struct text_row *rows = need_memory(p->table->row_count, sizeof *rows);
    const double least_hot = text_find_hot(p->table);
    for (size_t row = 0; row < p->table->row_count; row++) {
        text_add_line(table, p, rows, row);
        if (text_row_is_dim(p->table, row))
            scols_line_set_color(rows[row].line, DIM);
        else if (text_row_is_hot(p->table, row, least_hot))
            scols_line_set_color(rows[row].line, HOT);
        for (size_t i = 0; i < p->columns.count; i++)
            text_set_cell(p, rows[row].line, i, row);
    }
    free(rows);
}

/* Wide enough for all columns. */
static size_t text_page_width(const struct text_page *p)
{
    enum { BETWEEN = 4 };
    size_t width = 0;
    for (size_t i = 0; i < p->columns.count; i++)
        width += p->columns.widths[i] + BETWEEN;
    return width;
}

/* Row by row, as each may have a note. */
static void text_print_noted(struct libscols_table *table, const struct text_page *p, FILE *out)
{
    static const char indent[] = "    ";
    const struct table *t = p->table;
    for (size_t row = 0; row < t->row_count; row++) {
        struct libscols_line *line = scols_table_get_line(table, row);
        const struct cell *note = &t->cells[row * t->column_count + t->note_column];
        scols_table_print_range(table, line, line); /* the table's last line has no end */
        if (row + 1 == t->row_count)
            fputc('\n', out);
        if (!note->known)
            continue;
        char *text = need_text("%s: %s", t->columns[t->note_column].key, note->text);
        text_put_named_lines(out, indent, sizeof indent - 1, text, p->width);
        free(text);
    }
}

static void text_print_page(const struct text_page *p, FILE *out)
{
    struct libscols_table *table = scols_new_table();
    if (!table)
        out_of_memory();
    scols_table_set_stream(table, out);
    scols_table_enable_noencoding(table, true); /* the cells are visible, and other escapes would change their width */
    const bool colored = terminal_has_colors(out);
    scols_table_enable_colors(table, colored);
    if (p->width || colored) { /* colours are for terminals only */
        scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
        scols_table_set_termwidth(table, p->width ? p->width : text_page_width(p));
    }
    text_add_columns(table, p);
    text_add_rows(table, p);
    if (p->table->note_column)
        text_print_noted(table, p, out);
    else
        scols_print_table(table);
    scols_unref_table(table);
}

static void text_print_head(const struct table *t, size_t width, FILE *out)
{
    if (t->summary_first)
        text_print_summary(t->session, out);
    if (t->heading && t->follows)
        fputs("\n", out);
    if (t->heading)
        text_put_lines(out, t->heading, width);
}

void table_print_text(const struct table *t, FILE *out)
{
    struct text_page p = text_make_page(t, t->width ? t->width : terminal_width(out));
    const size_t all = p.columns.count;
    text_fit_page(&p);
    text_print_head(t, p.width, out);
    if (t->row_count) /* without rows, libsmartcols prints an empty line */
        text_print_page(&p, out);
    const size_t hidden = all - p.columns.count;
    text_drop_page(&p);
    if (t->hidden_rows)
        fprintf(out, "%zu more; --limit 0 shows all\n", t->hidden_rows);
    if (hidden && t->row_count && !t->optional)
        fprintf(out, "narrow terminal: without %s; --columns chooses\n", COUNTED(hidden, "column"));
    if (t->session && t->session->path && !t->own_summary && !t->summary_first)
        text_print_facts(t->session, t->heading || t->row_count, out);
}
