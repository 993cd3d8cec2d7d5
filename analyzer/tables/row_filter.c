/* Filters the rows of a table: parses conditions on columns, and removes the rows that do not meet them. */
#include "tables/row_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/comparison.h"
#include "base/duration.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/typed_name.h"

static void row_filter_drop_last(struct row_filters *f)
{
    struct row_condition *c = &f->list[--f->count];
    free(c->text);
    free(c->key);
    free(c->value);
}

static bool row_filters_parse(struct row_filters *f, const char *text, struct error *error)
{
    const char *sign = text + strcspn(text, COMPARISON_SIGNS);
    enum comparison comparison;
    const size_t length = comparison_read(sign, &comparison);
    if (length) {
        GROW(f->list, f->count, f->room);
        struct row_condition *c = &f->list[f->count++];
        *c = (struct row_condition){ need_copy(text, strlen(text)), comparison_side(text, (size_t)(sign - text)),
                                     comparison, comparison_side(sign + length, strlen(sign + length)) };
        if (*c->key && *c->value)
            return true;
        row_filter_drop_last(f);
    }
    return error_set(error, "'%s' is not a condition such as 'name~parse*', 'calls>100' or 'elapsed_exclusive>1ms'",
                     text);
}

bool row_filters_add(struct row_filters *f, const char *text, struct error *error)
{
    const bool is_glob = *text && !strpbrk(text, COMPARISON_SIGNS);
    char *condition = need_text("%s%s", is_glob ? "name~" : "", text);
    const bool good = row_filters_parse(f, condition, error);
    free(condition);
    return good;
}

void row_filters_drop(struct row_filters *f)
{
    while (f->count)
        row_filter_drop_last(f);
    free(f->list);
    *f = (struct row_filters){ 0 };
}

/* ---- conditions on a table ---- */

struct bound_condition {
    const struct row_condition *condition;
    size_t column;
    uint64_t number; /* a count, or a time in nanoseconds */
    double percent;
};

static size_t row_filter_find_column(const struct table *t, const char *key)
{
    const size_t column = table_find_column(t, 0, key, strlen(key));
    if (column < t->column_count || strcmp(key, "name") != 0)
        return column;
    /* `name` is the column that identifies the row: the function, or else the first text. */
    const size_t function = row_filter_find_column(t, "function");
    size_t text = 0;
    while (text < t->column_count && !column_is_words(&t->columns[text]))
        text++;
    return function < t->column_count ? function : text;
}

static bool row_filter_parse_count(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return !errno && end != text && !*end && *text != '-';
}

static bool row_filter_parse_percent(const char *text, double *percent)
{
    char *end;
    *percent = strtod(text, &end);
    if (*end == '%')
        end++;
    return end != text && !*end;
}

static bool row_filter_is_of_samples(const struct table *t)
{
    return t->session && t->session->samples;
}

/* Parses the value that the column is compared with. Returns NULL, or what is expected instead. */
static const char *row_filter_parse_value(const struct table *t, struct bound_condition *b)
{
    const char *value = b->condition->value;
    switch (t->columns[b->column].kind) {
    case CELL_TEXT:
    case CELL_NAME:
    case CELL_PATH:
    case CELL_SOURCE:
    case CELL_THREADS:
    case CELL_OBJECT:
        return NULL;
    case CELL_PERCENT:
        return row_filter_parse_percent(value, &b->percent) ? NULL : "a percentage such as 2.5%";
    case CELL_TICKS:
    case CELL_MOMENT:
        if (!row_filter_is_of_samples(t))
            return duration_parse(value, &b->number) || strcmp(value, "0") == 0
                       ? NULL
                       : "a time such as 500ns, 10us, 2.5ms or 1s";
        return row_filter_parse_count(value, &b->number) ? NULL : "a number";
    default:
        return row_filter_parse_count(value, &b->number) ? NULL : "a number";
    }
}

static bool row_filter_bind_condition(const struct table *t, const struct row_condition *c, struct bound_condition *b,
                                      struct error *error)
{
    *b = (struct bound_condition){ .condition = c, .column = row_filter_find_column(t, c->key) };
    if (b->column == t->column_count)
        return error_set(error, "no column '%s' here%s --columns help lists them, and name stands for the row's name",
                         c->key, table_suggestion(t, 0, c->key));
    const bool is_text = column_is_words(&t->columns[b->column]);
    if (is_text && comparison_is_by_order(c->comparison))
        return error_set(error, "'%s' is text: use ~, !~, = or !=", c->key);
    if (!is_text && comparison_is_by_glob(c->comparison))
        return error_set(error, "'%s' is a number: use =, !=, <, <=, > or >=", c->key);
    const char *wanted = row_filter_parse_value(t, b);
    return wanted ? error_set(error, "'%s' is not %s", c->value, wanted) : true;
}

bool table_check_filters(const struct table *t, const struct row_filters *f, struct error *error)
{
    struct bound_condition bound;
    for (size_t i = 0; i < f->count; i++)
        if (!row_filter_bind_condition(t, &f->list[i], &bound, error))
            return false;
    return true;
}

/* Threads, marks and lines may have names that only look like those of functions. */
static bool row_filter_has_functions(const struct table *t, const struct column *column)
{
    return strcmp(column->key, "function") == 0 || strcmp(column->key, "caller") == 0 ||
           (strcmp(column->key, "name") == 0 && row_filter_find_column(t, "function") < t->column_count);
}

/* The row's cell of that column; NULL if there is none. */
static const struct cell *row_filter_find_cell(const struct table *t, size_t row, const char *key)
{
    const size_t column = row_filter_find_column(t, key);
    const struct cell *cell = column < t->column_count ? &t->cells[row * t->column_count + column] : NULL;
    return cell && cell->known ? cell : NULL;
}

static bool row_filter_function_matches(const struct table *t, size_t row, const char *glob, const char *text)
{
    const struct cell *module = row_filter_find_cell(t, row, "module"), *file = row_filter_find_cell(t, row, "file"),
                      *line = row_filter_find_cell(t, row, "line");
    const struct named_function f = {
        .name = text,
        .module = module ? module->text : NULL,
        .file = file ? file->text : NULL,
        .line = line ? (uint32_t)line->number : 0,
    };
    return typed_name_matches(&f, short_name_is_glob, glob);
}

static bool row_filter_text_matches(const struct table *t, const struct bound_condition *b, size_t column, size_t row,
                                    const char *word)
{
    const char *value = b->condition->value;
    if (!comparison_is_by_glob(b->condition->comparison))
        return strcmp(word, value) == 0;
    return row_filter_has_functions(t, &t->columns[column]) ? row_filter_function_matches(t, row, value, word)
                                                            : fnmatch(value, word, 0) == 0;
}

/* True if the word is the condition's value, or matches it. The condition's sign may say that it should not. What text
 * shows of a thread names it as well. */
static bool row_filter_word_matches(const struct table *t, const struct bound_condition *b, size_t column, size_t row)
{
    const struct cell *cell = &t->cells[row * t->column_count + column];
    return row_filter_text_matches(t, b, column, row, cell->text) ||
           (cell->shown && row_filter_text_matches(t, b, column, row, cell->shown));
}

/* A wait is named by its function and by its caller. */
static bool row_filter_words_match(const struct table *t, const struct bound_condition *b, size_t row)
{
    const bool either = t->second_name && strcmp(b->condition->key, "name") == 0;
    const bool found =
        row_filter_word_matches(t, b, b->column, row) || (either && row_filter_word_matches(t, b, t->second_name, row));
    return found == comparison_wants_same(b->condition->comparison);
}

static bool row_filter_row_matches(const struct table *t, const struct bound_condition *b, size_t row)
{
    const struct cell *cell = &t->cells[row * t->column_count + b->column];
    const struct column *column = &t->columns[b->column];
    const enum comparison comparison = b->condition->comparison;
    if (!cell->known)
        return false;
    if (column_is_words(column))
        return row_filter_words_match(t, b, row);
    if (column->kind == CELL_PERCENT)
        return comparison_holds(comparison, ORDER(cell->percent, b->percent));
    const uint64_t number = column->kind == CELL_TICKS || column->kind == CELL_MOMENT ? cell_ns(t, cell) : cell->number;
    return comparison_holds(comparison, ORDER(number, b->number));
}

static bool row_filter_row_matches_all(const struct table *t, const struct bound_condition *bound, size_t count,
                                       size_t row)
{
    for (size_t i = 0; i < count; i++)
        if (!row_filter_row_matches(t, &bound[i], row))
            return false;
    return true;
}

static void row_filter_keep_rows(struct table *t, const bool *kept)
{
    size_t *places = need_memory(t->row_count + 1, sizeof *places), count = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        if (!kept[row]) {
            table_drop_cells(t, row * t->column_count, (row + 1) * t->column_count);
            continue;
        }
        memmove(&t->cells[count * t->column_count], &t->cells[row * t->column_count],
                t->column_count * sizeof *t->cells);
        if (t->parents)
            t->parents[count] = t->parents[row] ? places[t->parents[row] - 1] : 0;
        places[row] = ++count;
    }
    t->row_count = count;
    free(places);
}

static bool row_filter_bind_all(const struct table *t, const struct row_filters *f, struct bound_condition *bound,
                                struct error *error)
{
    struct error wrong = { NULL };
    for (size_t i = 0; i < f->count; i++) {
        if (row_filter_bind_condition(t, &f->list[i], &bound[i], &wrong))
            continue;
        error_set(error, "--filter '%s': %s", f->list[i].text, wrong.text);
        error_drop(&wrong);
        return false;
    }
    return true;
}

static void row_filter_apply(struct table *t, const struct bound_condition *bound, size_t count)
{
    bool *kept = need_memory(t->row_count + 1, sizeof *kept);
    for (size_t row = t->row_count; row-- > 0;) { /* rows come after their parents */
        kept[row] = kept[row] || row + 1 == t->fixed_row || row_filter_row_matches_all(t, bound, count, row);
        if (kept[row] && t->parents && t->parents[row])
            kept[t->parents[row] - 1] = true;
    }
    row_filter_keep_rows(t, kept);
    free(kept);
}

bool table_filter(struct table *t, const struct row_filters *f, struct error *error)
{
    if (f->count == 0)
        return true;
    struct bound_condition *bound = need_memory(f->count, sizeof *bound);
    const bool good = row_filter_bind_all(t, f, bound, error);
    if (good)
        row_filter_apply(t, bound, f->count);
    free(bound);
    return good;
}
