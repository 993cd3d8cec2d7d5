/* The views: what is reported of a session, filled into a table. */
#ifndef DWELL_REPORT_VIEWS_H
#define DWELL_REPORT_VIEWS_H

#include "profile/rollup.h"
#include "report/names.h"
#include "report/table.h"
#include "trace/session_file.h"

/* A session with all that views need of it. */
struct loaded {
    struct session_file *file;
    struct profile *profile;
    struct rollup *rollup;
    struct function_name *names;
    struct session_summary summary;
};

/* Reads, profiles and names the whole; ends the program where the file cannot be read. */
void load_session(struct loaded *l, const char *path, unsigned jobs);
void unload_session(struct loaded *l);

/* Column sets; those of the times come in all of them. */
struct sorting {
    const char *key; /* of a column; "name" for the first one */
    size_t limit;    /* rows; zero: all */
};

/* The columns' keys that a view can be sorted by, for messages. */
extern const char view_sort_keys[];
bool view_can_sort(const char *key);

struct table view_rows(const struct loaded *l, enum rollup_by by, const struct sorting *sorting);

struct tree_options {
    double min_percent; /* smaller branches are folded */
    unsigned depth;     /* deeper ones too */
    bool by_thread;     /* a tree for each thread instead of one for all */
};
struct table view_tree(const struct loaded *l, const struct tree_options *options);

/* The functions whose name is, or else holds, `text`: indices, to be freed by the caller. */
uint32_t *view_find_functions(const struct loaded *l, const char *text, size_t *count);
struct table view_callers(const struct loaded *l, uint32_t function);

struct table view_marks(const struct loaded *l);

/* ---- shared by the views ---- */

/* Whether application times are known: at least one thread had a source of OS events. */
#define TIME_COLUMNS                                                                              \
    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },                                          \
    { "elapsed_inclusive", "EL.INCL", CELL_TICKS, USE_ALWAYS, false },                            \
    { "elapsed_inclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },                        \
    { "elapsed_exclusive", "EL.EXCL", CELL_TICKS, USE_ALWAYS, false },                            \
    { "elapsed_exclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },                        \
    { "application_inclusive", "APP.INCL", CELL_TICKS, USE_ALWAYS, false },                       \
    { "application_inclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },                    \
    { "application_exclusive", "APP.EXCL", CELL_TICKS, USE_ALWAYS, false },                       \
    { "application_exclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },                    \
    { "min", "MIN", CELL_TICKS, USE_DATA, false }, { "max", "MAX", CELL_TICKS, USE_DATA, false }
enum { TIME_COLUMN_COUNT = 11 };

/* Fills those columns of a row, beginning at `cells`. */
void fill_times(struct cell *cells, const struct times *times, const struct session_summary *s);

#endif
