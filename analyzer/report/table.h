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

enum cell_kind {
    CELL_TEXT,
    CELL_COUNT,
    CELL_TICKS, /* printed as a time */
    CELL_PERCENT,
};

enum column_use {
    USE_ALWAYS,
    USE_TEXT, /* only where people read */
    USE_DATA, /* only in csv and json */
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
        char *text; /* owned by the table */
        uint64_t number;
        double percent;
    };
};

/* What is said of the session beside the rows. */
struct session_summary {
    const char *path;
    uint64_t ticks_per_second;
    uint64_t elapsed_inclusive, application_inclusive; /* ticks */
    bool application_known;
    bool imported; /* from another profiler's report: there were no events */
    bool samples;  /* what ticks are of columns and sums is numbers of samples, and calls are unknown */
    uint64_t os_events, threads, processes, events, lost_events;
    char **remarks; /* lines for people: losses, damages */
    size_t remark_count, remark_room;
};

struct table {
    const struct column *columns;
    size_t column_count;
    struct cell *cells; /* row by row */
    size_t row_count, row_room;
    size_t *parents; /* by row, 1 + row of the parent or zero; NULL where the table is no tree */
    size_t hidden_rows; /* left out by a limit */
    const struct session_summary *session;
};

struct table table_make(const struct column *columns, size_t column_count, const struct session_summary *session);
void table_drop(struct table *t);

/* Appends a row of unknown cells and returns it; valid until the next call. */
struct cell *table_row(struct table *t);

void cell_text(struct cell *cell, const char *text);
void cell_number(struct cell *cell, uint64_t number);
void cell_percent(struct cell *cell, double percent);

/* Prints the table and the session's summary. */
typedef void table_printer(const struct table *t, FILE *out);

table_printer table_print_text, table_print_csv, table_print_json;

/* The printer of that name, or NULL. table_format_names lists them for messages. */
table_printer *table_format(const char *name);
extern const char table_format_names[];

/* A column's key in csv and json, by what the session's ticks are: made in `room`. */
const char *column_key(const struct table *t, const struct column *column, char *room, size_t size);

/* Ticks in nanoseconds, rounded; samples as they are. */
uint64_t table_value(const struct session_summary *s, uint64_t ticks);

/* Ticks in nanoseconds, rounded. */
uint64_t ticks_to_ns(uint64_t ticks, uint64_t ticks_per_second);

#endif
