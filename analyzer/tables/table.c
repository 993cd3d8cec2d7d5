/* A table with typed columns: makes it, adds rows, fills cells and chooses columns. */
#include "tables/table.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/wide.h"

struct table table_make(const struct column *columns, size_t column_count, const struct summary *session)
{
    return (struct table){
        .columns = columns, .column_count = column_count, .session = session, .first_value = column_count
    };
}

void table_drop_cells(struct table *t, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (column_is_text(&t->columns[i % t->column_count]) && t->cells[i].known) {
            free(t->cells[i].text);
            free(t->cells[i].shown);
        }
}

void table_drop(struct table *t)
{
    table_drop_cells(t, 0, t->row_count * t->column_count);
    free(t->cells);
    free(t->parents);
    free(t->chosen);
    free(t->own_columns);
    free(t->heading);
}

bool table_is_key(const struct column *column, const char *key, size_t length)
{
    static const char unit[] = "_ns";
    const size_t own = strlen(column->key);
    if (strncmp(column->key, key, own < length ? own : length) != 0 || own > length)
        return false;
    return own == length ||
           (column_is_time(column) && length == own + strlen(unit) && strncmp(key + own, unit, strlen(unit)) == 0);
}

/* A title as text shows it, in upper or lower case. Shares have none of their own. */
static bool table_is_title(const struct column *column, const char *text, size_t length)
{
    const size_t own = strlen(column->title);
    const bool starred = own > 1 && column->title[own - 1] == '*';
    return isalpha((unsigned char)column->title[0]) && strncasecmp(column->title, text, length) == 0 &&
           (length == own || (starred && length + 1 == own));
}

bool column_is_named(const struct column *column, const char *name, size_t length)
{
    return table_is_key(column, name, length) || table_is_title(column, name, length);
}

size_t table_find_column(const struct table *t, size_t first, const char *key, size_t length)
{
    size_t column = first;
    while (column < t->column_count && !table_is_key(&t->columns[column], key, length))
        column++;
    if (column < t->column_count)
        return column;
    for (column = first; column < t->column_count && !table_is_title(&t->columns[column], key, length);)
        column++;
    return column;
}

const char *table_suggestion(const struct table *t, size_t first, const char *key)
{
    const char **keys = need_memory(t->column_count + 1, sizeof *keys);
    size_t count = 0;
    for (size_t i = first; i < t->column_count; i++)
        keys[count++] = t->columns[i].key;
    if (first == 0)
        keys[count++] = "name";
    const char *text = suggestion(key, keys, count, ";");
    free(keys);
    return text;
}

static bool table_refuse_column(const struct table *t, const char *key, size_t length, struct error *error)
{
    char *name = need_copy(key, length);
    error_set(error, "--columns: no column '%s'%s --columns help lists them", name,
              table_suggestion(t, t->first_value, name));
    free(name);
    return false;
}

bool table_choose(struct table *t, const char *keys, struct error *error)
{
    free(t->chosen);
    t->optional = NULL;
    t->chosen = need_memory(strlen(keys) + 1, sizeof *t->chosen);
    t->chosen_count = 0;
    for (const char *key = keys; key; key = strchr(key, ',') ? strchr(key, ',') + 1 : NULL) {
        const size_t length = strcspn(key, ",");
        const size_t column = table_find_column(t, t->first_value, key, length);
        if (column == t->column_count)
            return table_refuse_column(t, key, length, error);
        t->chosen[t->chosen_count++] = column;
    }
    return true;
}

void table_prefer(struct table *t, const char *keys, const char *const *optional, size_t name_room)
{
    struct error error = { NULL };
    const bool good = table_choose(t, keys, &error);
    assert(good);
    (void)good;
    t->optional = optional;
    t->name_room = name_room;
}

static bool table_has_samples(const struct table *t)
{
    return t->session && t->session->samples;
}

/* False if text leaves out the column because all its values are unknown, as without OS events. */
static bool table_column_is_wanted(const struct table *t, size_t column, enum column_use unwanted)
{
    if (t->columns[column].use == unwanted || t->columns[column].use == USE_CHOSEN)
        return false;
    const bool may_be_unknown = (t->session && t->session->imported) || (t->dim_column && column == t->dim_column) ||
                                (t->waiting_column && column == t->waiting_column);
    bool known = !may_be_unknown || unwanted == USE_TEXT;
    for (size_t row = 0; row < t->row_count && !known; row++)
        known = t->cells[row * t->column_count + column].known;
    return known;
}

static size_t table_add_usual_columns(const struct table *t, size_t begin, size_t end, enum column_use unwanted,
                                      size_t *order)
{
    size_t count = 0;
    for (size_t i = begin; i < end; i++)
        if (table_column_is_wanted(t, i, unwanted))
            order[count++] = i;
    return count;
}

static size_t table_add_value_columns(const struct table *t, enum column_use unwanted, size_t *order)
{
    if (!t->chosen)
        return table_add_usual_columns(t, t->first_value, t->column_count, unwanted, order);
    memcpy(order, t->chosen, t->chosen_count * sizeof *order);
    return t->chosen_count;
}

/* Moves the first column of names to the end, where it needs no padding. */
static void table_move_name(const struct table *t, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (t->columns[order[i]].kind == CELL_NAME) {
            const size_t name = order[i];
            memmove(order + i, order + i + 1, (count - i - 1) * sizeof *order);
            order[count - 1] = name;
            return;
        }
}

size_t table_order(const struct table *t, bool people, size_t *order)
{
    const enum column_use unwanted = people ? USE_DATA : USE_TEXT;
    size_t *all = need_memory(table_max_columns(t) + 1, sizeof *all), count = 0;
    size_t total = table_add_usual_columns(t, 0, t->first_value, unwanted, all);
    total += table_add_value_columns(t, unwanted, all + total);
    for (int texts = 0; texts < (people ? 2 : 1); texts++)
        for (size_t i = 0; i < total; i++)
            if (!people || column_is_words(&t->columns[all[i]]) == texts)
                order[count++] = all[i];
    if (people)
        table_move_name(t, order, count);
    free(all);
    return count;
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

void table_move_last(struct table *t, size_t column)
{
    const size_t width = t->column_count;
    struct cell *cells = need_memory(t->row_room * width + 1, sizeof *cells);
    size_t count = 0;
    for (int last = 0; last < 2; last++)
        for (size_t row = 0; row < t->row_count; row++)
            if (t->cells[row * width + column].known == (last == 1))
                memcpy(&cells[count++ * width], &t->cells[row * width], width * sizeof *cells);
    free(t->cells);
    t->cells = cells;
}

void table_limit(struct table *t, size_t limit)
{
    if (limit >= t->row_count)
        return;
    table_drop_cells(t, limit * t->column_count, t->row_count * t->column_count);
    t->hidden_rows += t->row_count - limit;
    t->row_count = limit;
}

void cell_text(struct cell *cell, const char *text)
{
    cell->known = text != NULL;
    if (text)
        cell->text = need_copy(text, strlen(text));
}

void cell_mark_waiting(struct cell *cell)
{
    cell_text(cell, "waits");
    cell->is_waiting = true;
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

void cell_thread(struct cell *cell, const struct analysis *analysis, uint32_t thread, const char *name)
{
    cell_text(cell, name);
    const char *title = analysis_thread_title(analysis, thread);
    cell->shown = title ? need_copy(title, strlen(title)) : NULL;
}

void cell_thread_title(struct cell *cell, const struct cell *thread)
{
    if (thread->known)
        cell_text(cell, thread->shown ? thread->shown : thread->text);
}

void cell_call_time(struct cell *cell, uint64_t ticks, const struct summary *session)
{
    cell_number(cell, ticks);
    cell->unresolved = ticks < session->resolution;
}

/* printf's decimal point depends on the locale. */
void percent_digits(double percent, char digits[PERCENT_ROOM])
{
    const double most = 1e11; /* a double holds its ten-thousandths exactly */
    const char *sign = percent < 0 ? "-" : "";
    if (!(fabs(percent) < most)) {
        snprintf(digits, PERCENT_ROOM, "%.0f", percent);
        return;
    }
    const uint64_t scaled = (uint64_t)(fabs(percent) * 10000 + 0.5);
    snprintf(digits, PERCENT_ROOM, "%s%" PRIu64 ".%04" PRIu64, scaled ? sign : "", scaled / 10000, scaled % 10000);
}

void cell_change(struct cell *cell, int64_t change)
{
    cell->known = true;
    cell->change = change;
}

uint64_t cell_ns(const struct table *t, const struct cell *cell)
{
    return t->session && !table_has_samples(t) ? ticks_to_ns(cell->number, t->session->ticks_per_second) : cell->number;
}

uint64_t cell_change_ns(const struct table *t, const struct cell *cell)
{
    const uint64_t ticks = cell->change < 0 ? -(uint64_t)cell->change : (uint64_t)cell->change;
    return t->session ? ticks_to_ns(ticks, t->session->ticks_per_second) : ticks;
}

/* In sessions of samples the keys say samples instead of elapsed. */
const char *column_key(const struct table *t, const struct column *column, char *room, size_t size)
{
    static const char elapsed[] = "elapsed_";
    const char *key = column->key, *unit = "";
    if (table_has_samples(t) && strncmp(key, elapsed, sizeof elapsed - 1) == 0)
        key += sizeof elapsed - 1;
    if (column_is_time(column))
        unit = table_has_samples(t) ? "_samples" : "_ns";
    snprintf(room, size, "%s%s", key, unit);
    return room;
}
