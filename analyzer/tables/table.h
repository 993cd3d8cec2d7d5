/*
 * A table with typed columns, which every view fills and every format prints. Views do not know formats, and formats
 * do not know views.
 */
#ifndef DWELL_TABLES_TABLE_H
#define DWELL_TABLES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "base/error.h"

enum cell_kind {
    CELL_TEXT,
    CELL_NAME,    /* a text: the name of a function, or of several on a path */
    CELL_SOURCE,  /* a text: a file and a line, "networking.c:383" */
    CELL_THREADS, /* a text: names of threads, and their number if there are more: "a, b, c, ... (6 threads)" */
    CELL_OBJECT,  /* a text: what is waited for, "mutex 0x4040a0 made in new_queue" */
    CELL_PATH,    /* a text: names separated by semicolons; in JSON a list of texts */
    CELL_COUNT,
    CELL_TICKS,  /* printed as a time */
    CELL_MOMENT, /* ticks since the session began */
    CELL_NS,     /* a number of nanoseconds */
    CELL_PERCENT,
    CELL_CHANGE, /* a signed change of ticks */
    CELL_DIGITS, /* another kind of number, stored as text */
};

enum column_use {
    USE_ALWAYS,
    USE_TEXT,   /* only in text */
    USE_DATA,   /* only in csv and json */
    USE_CHOSEN, /* only if chosen by its key */
};

struct column {
    const char *key;   /* in csv and json, where _ns is appended to keys of ticks */
    const char *title; /* in text */
    enum cell_kind kind;
    enum column_use use;
    bool tree; /* text draws the tree's branches in this column */
};

struct cell {
    bool known;
    bool estimated;  /* text marks the row with ~ */
    bool partial;    /* a lower bound: text marks the row with > */
    bool is_waiting; /* in the table's waiting_column: the row is of a function that waits, and text dims it */
    bool hot;        /* there, too: text colours the row */
    bool is_number;  /* of a CELL_TEXT: JSON has the text as a number, which it is */
    bool is_value;   /* of a CELL_TEXT: the program's own; csv has quotes if it is empty, and none if it is unknown */
    bool unresolved; /* a time of single calls below the session's resolution: text shows that with < */
    char *shown;     /* of texts: what text prints in its place; NULL for the text itself */
    uint16_t spread; /* of an estimate: the half width of its 95 % interval, in percent */
    union {
        char *text; /* texts and CELL_DIGITS; owned by the table, as `shown` */
        uint64_t number;
        int64_t change;
        double percent;
    };
};

enum { OWN_UNITS = 1000 }; /* in unit_groups */

struct table {
    const struct column *columns;
    size_t column_count;
    void *own_columns;  /* memory of columns that are the table's own, or NULL */
    struct cell *cells; /* row by row */
    size_t row_count, row_room;
    size_t *parents;       /* by row, 1 + the parent's row or 0; NULL if the table is not a tree */
    size_t hidden_rows;    /* number of rows that a limit left out */
    size_t fixed_row;      /* 1 + a row that filters and sorting keep; 0 if there is none */
    size_t dim_column;     /* a percentage: text dims rows with more than half; 0 if there is none */
    size_t second_name;    /* a name: conditions on a row's name accept it as well; 0 if there is none */
    size_t note_column;    /* a text that stands on lines of its own below its row; 0 if there is none */
    size_t waiting_column; /* its cells say which rows wait, and which are hot; 0 if there is none */
    size_t hot_column;  /* a percentage: text colours rows with at least half of the largest one; 0 if there is none */
    size_t sort_column; /* 1 + the column by which rows were sorted; 0 for the usual order */
    size_t first_value; /* columns from here on are values; earlier ones identify the row */
    size_t *chosen;     /* value columns to print, in this order; NULL for the default ones */
    size_t chosen_count;
    const char *const *optional;   /* see table_prefer; NULL for the usual columns */
    size_t roomy_text;             /* 1 + a text that has the usual room of a name; 0 if there is none */
    size_t name_room;              /* in text cells; 0 for the usual room */
    char *heading;                 /* in text, a line above the table; NULL if there is none */
    bool single_values;            /* no value is a range: in JSON, the key "values.a.from" has the member "a.from" */
    bool marks_cells;              /* text marks estimated cells, as a row may have both kinds */
    bool follows;                  /* in text, other output of the command comes before this table */
    bool own_summary;              /* in text, the command prints the session's summary, or has none */
    bool summary_first;            /* in text, that is above the table */
    const struct summary *session; /* NULL if the rows belong to no session; then ticks are nanoseconds */
    const struct summary *about;   /* of rows in nanoseconds: the session whose facts JSON has; or NULL */
    const size_t *unit_groups;     /* by column: in text, columns of one number but 0 share a unit, and times in columns
                                    * of OWN_UNITS have their own. May be NULL. */
    size_t width;                  /* of lines of text, in characters; 0 for that of the terminal */
};

struct table table_make(const struct column *columns, size_t column_count, const struct summary *session);
void table_drop(struct table *t);

/* Frees the texts of these cells, which are counted row by row. */
void table_drop_cells(struct table *t, size_t first, size_t end);

/* Appends a row of unknown cells and returns it; valid until the next call. */
struct cell *table_row(struct table *t);

/* Moves the rows in which the column is known behind the others. Both keep their order. */
void table_move_last(struct table *t, size_t column);

/* Keeps the first `limit` rows and counts the others as hidden. */
void table_limit(struct table *t, size_t limit);

void cell_text(struct cell *cell, const char *text);
void cell_number(struct cell *cell, uint64_t number);
void cell_percent(struct cell *cell, double percent);

/* The cell of a row in waiting_column: "waits". */
void cell_mark_waiting(struct cell *cell);

/* A thread's name, which text may show in another way (analysis/thread_titles.h). */
struct analysis;
void cell_thread(struct cell *cell, const struct analysis *analysis, uint32_t thread, const char *name);

/* For data, what text shows of the thread whose cell that is: its title, or its name if that is enough. */
void cell_thread_title(struct cell *cell, const struct cell *thread);

/* A time of a single call, which text shows as below the session's resolution if it is. */
void cell_call_time(struct cell *cell, uint64_t ticks, const struct summary *session);

enum { PERCENT_ROOM = 320 }; /* bytes: enough for any number */

/* Writes a percentage with four decimals, whatever the locale is. One of 10^11 or more has none. */
void percent_digits(double percent, char digits[PERCENT_ROOM]);
void cell_change(struct cell *cell, int64_t change);

/* True if `key` names the column. The suffix _ns may follow the keys of ticks. */
bool table_is_key(const struct column *column, const char *key, size_t length);

/* The same, and by its title as text shows it. */
bool column_is_named(const struct column *column, const char *name, size_t length);

/* The first column from `first` on of that key, or else of that title; column_count if there is none. */
size_t table_find_column(const struct table *t, size_t first, const char *key, size_t length);

/* A part of the message about an unknown column: "; did you mean 'calls'?" or ";". Suggests columns from `first` on. */
const char *table_suggestion(const struct table *t, size_t first, const char *key);

/* Chooses the value columns that are printed by their keys, separated by commas. It is an error if a key names no
 * column; the table can then only be dropped. */
bool table_choose(struct table *t, const char *keys, struct error *error);

/* Sets the value columns that are printed unless table_choose chooses others. All keys must exist. `optional` are those
 * that leave a narrow terminal until the name has `name_room`, the first one first, ended by NULL. It must stay valid.
 */
void table_prefer(struct table *t, const char *keys, const char *const *optional, size_t name_room);

/* Writes the indices of the columns to print, for people or as data, in order. For people, numbers come first and the
 * first name last. `order` has room for table_max_columns(t). Returns their number. */
size_t table_order(const struct table *t, bool people, size_t *order);

static inline size_t table_max_columns(const struct table *t)
{
    return t->column_count + t->chosen_count;
}

/* A column's key in csv and json, which depends on what the session's ticks are. May be written to `room`. */
const char *column_key(const struct table *t, const struct column *column, char *room, size_t size);

/* The nanoseconds of a cell of ticks, and of the absolute value of a change. */
uint64_t cell_ns(const struct table *t, const struct cell *cell);
uint64_t cell_change_ns(const struct table *t, const struct cell *cell);

/* True if _ns is appended to the column's key. */
static inline bool column_is_time(const struct column *column)
{
    return column->kind == CELL_TICKS || column->kind == CELL_MOMENT || column->kind == CELL_NS ||
           column->kind == CELL_CHANGE;
}

/* True if the column holds words, which are left-aligned, compared with globs, and sorted by the alphabet. */
static inline bool column_is_words(const struct column *column)
{
    return column->kind == CELL_TEXT || column->kind == CELL_NAME || column->kind == CELL_SOURCE ||
           column->kind == CELL_THREADS || column->kind == CELL_OBJECT || column->kind == CELL_PATH;
}

static inline bool column_is_text(const struct column *column)
{
    return column_is_words(column) || column->kind == CELL_DIGITS;
}

#endif
