/* Fills cells with recorded values, and adds columns for those of single calls to a table. */
#include "tables/value_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/loaded_values.h"
#include "base/memory.h"
#include "tables/value_args.h"
#include "tables/value_ranges.h"

enum cell_kind value_cell_kind(const struct recorded_value *value)
{
    return recorded_value_is_word(value) || value->kind == DWELL_VALUE_ENUM ? CELL_TEXT : CELL_DIGITS;
}

/* Of an enumeration, what has no name is a number. */
void cell_value(struct cell *cell, const struct recorded_value *value, const uint64_t *words)
{
    char *data = words ? recorded_value_data(value, words) : NULL;
    cell_text(cell, data);
    cell->is_value = true;
    cell->is_number = value->kind == DWELL_VALUE_ENUM && !recorded_value_is_named(value, words);
    free(data);
}

struct value_cells value_cells_begin(const struct analysis *analysis, uint32_t function)
{
    struct value_cells v = { .argument = { .values = loaded_values(analysis), .function = function } };
    v.function = recorded_argument_function(&v.argument, analysis);
    return v;
}

struct value_keys {
    char of_values[DWELL_VALUES_MOST][DWELL_VALUES_NAME + sizeof "values."];
};

/* The columns, with their keys behind them. */
static struct column *value_cells_columns(const struct recorded_function *f, const struct column *columns, size_t count)
{
    const size_t all = count + 1 + f->value_count;
    char *memory = need_memory(1, all * sizeof *columns + sizeof(struct value_keys));
    struct column *own = (struct column *)(void *)memory;
    struct value_keys *keys = (struct value_keys *)(void *)(memory + all * sizeof *columns);
    memcpy(own, columns, count * sizeof *columns);
    own[count] = (struct column){ "values_text", "VALUES", CELL_TEXT, USE_TEXT, false };
    for (uint32_t i = 0; i < f->value_count; i++) {
        const struct recorded_value *value = &f->values[i];
        snprintf(keys->of_values[i], sizeof keys->of_values[i], "values.%s", value->name);
        own[count + 1 + i] =
            (struct column){ keys->of_values[i], value->name, value_cell_kind(value), USE_DATA, false };
    }
    return own;
}

struct table value_cells_table(struct value_cells *v, const struct column *columns, size_t count,
                               const struct summary *session)
{
    v->first = count;
    if (!v->function)
        return table_make(columns, count, session);
    struct column *own = value_cells_columns(v->function, columns, count);
    struct table t = table_make(own, count + 1 + v->function->value_count, session);
    t.own_columns = own;
    t.roomy_text = count + 1;
    t.single_values = true;
    return t;
}

void value_cells_fill(const struct value_cells *v, struct cell *row, uint32_t thread, uint64_t time)
{
    const struct recorded_row *call = v->function ? recorded_argument_row(&v->argument, thread, time) : NULL;
    if (!call)
        return;
    char *text = value_args_text(v->argument.values, call);
    cell_text(&row[v->first], text);
    for (uint32_t i = 0; i < v->function->value_count; i++)
        cell_value(&row[v->first + 1 + i], &v->function->values[i], recorded_value_words(v->argument.values, call, i));
    free(text);
}
