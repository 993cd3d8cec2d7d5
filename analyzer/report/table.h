/*
 * What every view fills and every format prints: a table with typed columns. A view knows no format, a
 * format knows no view.
 */
#ifndef DWELL_REPORT_TABLE_H
#define DWELL_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/summary.h"
#include "base/error.h"

enum cell_kind {
    CELL_TEXT,
    CELL_COUNT,
    CELL_TICKS, /* printed as a time */
    CELL_PERCENT,
    CELL_CHANGE, /* of ticks, with its sign */
    CELL_DIGITS, /* a number of another kind, in digits */
};

enum column_use {
    USE_ALWAYS,
    USE_TEXT,   /* only where people read */
    USE_DATA,   /* only in csv and json */
    USE_CHOSEN, /* only where it is asked for */
};

struct column {
    const char *key;   /* in csv and json, with _ns behind the ones of ticks */
    const char *title; /* in text */
    enum cell_kind kind;
    enum column_use use;
    bool tree; /* the column in which text draws the branches */
};

struct cell {
    bool known;
    union {
        char *text; /* of texts and digits; owned by the table */
        uint64_t number;
        int64_t change;
        double percent;
    };
};

struct table {
    const struct column *columns;
    size_t column_count;
    void *own_columns;  /* memory of columns that are the table's own, or NULL */
    struct cell *cells; /* row by row */
    size_t row_count, row_room;
    size_t *parents;    /* by row, 1 + row of the parent or zero; NULL where the table is no tree */
    size_t hidden_rows; /* left out by a limit */
    size_t fixed_row;   /* 1 + a row that stays whatever rows are asked for; zero: there is none */
    size_t dim_column;  /* a percentage: rows in which it is more than half are dimmed; zero: there is none */
    size_t first_value; /* columns from here on are values; those before say what the row is of */
    size_t *chosen;     /* value columns to print instead of the usual ones, in this order; NULL: the usual ones */
    size_t chosen_count;
    const struct summary *session; /* NULL: the rows are of no session, and ticks are nanoseconds */
    const size_t *unit_columns; /* by column: the one whose longest time chooses its unit in text; NULL: one for all */
};

struct table table_make(const struct column *columns, size_t column_count, const struct summary *session);
void table_drop(struct table *t);

/* Appends a row of unknown cells and returns it; valid until the next call. */
struct cell *table_row(struct table *t);

/* Drops the rows behind so many. */
void table_limit(struct table *t, size_t limit);

void cell_text(struct cell *cell, const char *text);
void cell_number(struct cell *cell, uint64_t number);
void cell_percent(struct cell *cell, double percent);
void cell_change(struct cell *cell, int64_t change);

/* Whether that is the column's key; one of ticks may be named as csv and json name it. */
bool table_is_key(const struct column *column, const char *key, size_t length);

/* For a message that there is no such column: "; did you mean 'calls'?", of those from `first` on, or ";". */
const char *table_suggestion(const struct table *t, size_t first, const char *key);

/* Chooses the value columns that are printed by their keys, separated by commas. It is an error if a key names no
 * column; the table can then only be dropped. */
bool table_choose(struct table *t, const char *keys, struct error *error);

/* Which columns are printed, for people or as data: indices, in order; `order` has room for
 * table_max_columns(t). */
size_t table_order(const struct table *t, bool people, size_t *order);

static inline size_t table_max_columns(const struct table *t)
{
    return t->column_count + t->chosen_count;
}

/* Prints the table and the session's summary. */
typedef void table_printer(const struct table *t, FILE *out);

table_printer table_print_text, table_print_csv, table_print_json;

/* The rows alone, as one of several members of a JSON object: "key": [...] */
void table_print_json_rows(const struct table *t, const char *key, FILE *out);

/* A text alone, as CSV has it: in quotes where it needs them. */
void csv_print_text(const char *text, FILE *out);

/* The printer of that name, or NULL. table_format_names lists them for messages. */
table_printer *table_format(const char *name);
extern const char table_format_names[];

/* A column's key in csv and json, by what the session's ticks are: made in `room`. */
const char *column_key(const struct table *t, const struct column *column, char *room, size_t size);

/* The nanoseconds in a cell of ticks, and those of a change without their sign. */
uint64_t cell_ns(const struct table *t, const struct cell *cell);
uint64_t cell_change_ns(const struct table *t, const struct cell *cell);

/* Whether _ns belongs behind the column's key. */
static inline bool column_is_time(const struct column *column)
{
    return column->kind == CELL_TICKS || column->kind == CELL_CHANGE;
}

static inline bool column_is_text(const struct column *column)
{
    return column->kind == CELL_TEXT || column->kind == CELL_DIGITS;
}

#endif
