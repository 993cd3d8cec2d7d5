/* The views: what is reported of a session, filled into a table. */
#ifndef DWELL_REPORT_VIEWS_H
#define DWELL_REPORT_VIEWS_H

#include "base/histogram.h"
#include "profile/calls.h"
#include "profile/overhead.h"
#include "profile/rollup.h"
#include "report/names.h"
#include "report/row_filter.h"
#include "report/table.h"
#include "trace/session_file.h"

/* One of several sessions: its processes have serial numbers below the end, and not below the end of the one before. */
struct loaded_part {
    char *path;
    uint32_t process_end;
};

/* A session with all that views need of it. */
struct loaded {
    struct session_file *file;
    struct profile *profile;
    struct rollup *rollup;
    struct function_name *names;
    struct line_name *lines;   /* by site of the profile; NULL: they were not asked for, and the profile has none */
    const struct slice *slice; /* NULL: it is the whole session */
    struct overhead overhead;  /* what was subtracted as the probes' */
    struct session_summary summary;
    struct loaded_part *parts; /* of several sessions; none where it is one */
    size_t part_count;
};

/* Adds a remark to the summary. */
void remark(struct session_summary *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fills the summary, anew. */
void loaded_summarize(struct loaded *l);

/* Reads, profiles and names the whole; ends the program where the file cannot be read. */
void load_session(struct loaded *l, const char *path, unsigned jobs);

/* Takes the probes' own time out of the profile, once. */
void loaded_subtract_overhead(struct loaded *l);

/* From now on, sessions are loaded with the probes' own time in all times. */
void load_as_measured(void);

/* Likewise a part of it: views show it as if it were the whole. The request must live as long. */
struct slice_request;
void load_slice(struct loaded *l, const char *path, unsigned jobs, struct slice_request *request);

/* Makes it what happened within calls of a function; the request names it. */
void narrow_to_root(struct loaded *l, uint32_t function, struct slice_request *request);
void unload_session(struct loaded *l);

/* With call sites, each of them the first of its line, where they were recorded; and where that was not done, ends the
 * program if they must be there. */
enum lines { LINES_NONE, LINES_IF_KNOWN, LINES_NEEDED };
void load_lines(struct loaded *l, const char *path, unsigned jobs, enum lines lines);

/* Several at once, for views of sums: no chunks, no marks, no times of day are there, and what remains is in
 * nanoseconds. */
void load_sessions(struct loaded *l, const char *const *paths, size_t count, unsigned jobs);
void load_sessions_by_line(struct loaded *l, const char *const *paths, size_t count, unsigned jobs);

/* The path of the session that a process (serial number) is of. */
const char *loaded_session_of(const struct loaded *l, uint32_t process);

/* What happened since a session was looked at before; groups have the same numbers as in the whole. */
struct recent_times {
    const struct rollup *rollup; /* NULL: it was not looked at before */
    uint64_t interval;           /* nanoseconds */
};

/* Column sets; those of the times come in all of them. */
struct sorting {
    const char *key;                   /* of a column; "name" for the first one */
    size_t limit;                      /* rows; zero: all */
    bool calls;                        /* fill the columns of single calls, too */
    const struct row_filters *filters; /* NULL: none */
    const struct recent_times *recent; /* not NULL: with columns of them */
};

/* All keys that views can be sorted by: columns', and "name"; of sessions that are watched if `recent`; the answer is
 * how many there are. */
enum { MAX_SORT_KEYS = 128 };
size_t view_sort_keys(const char **keys, bool recent);

/* Of a table with such columns: which function, module, thread or process a row is of, in numbers of the rollup. */
size_t view_row_number(const struct table *t, size_t row);

/* Whether any of these keys, separated by commas, is of a column of single calls. */
bool view_needs_calls(const char *keys);

struct table view_rows(const struct loaded *l, enum rollup_by by, const struct sorting *sorting);

/* Modules with their functions below. */
struct table view_module_functions(const struct loaded *l, const struct sorting *sorting);

/* Lines that calls were made from. */
struct table view_lines(const struct loaded *l, const struct sorting *sorting);

/* Threads of one name together. */
struct table view_thread_names(const struct loaded *l, const struct sorting *sorting);

struct tree_options {
    double min_percent;  /* smaller branches are folded */
    unsigned depth;      /* deeper ones too */
    bool by_thread;      /* a tree for each thread instead of one for all */
    bool collapse;       /* functions with a single callee and that in one row, */
    double own_percent;  /* if their own time is not more than that */
    bool fold_recursion; /* calls of functions that are open already, into those */
    bool unfolded;       /* what is folded is not shown at all */
    bool by_line;        /* calls from different lines are different paths */
};
struct table view_tree(const struct loaded *l, const struct tree_options *options);

/* The functions whose name is, or else holds, `text`: indices, to be freed by the caller. */
uint32_t *view_find_functions(const struct loaded *l, const char *text, size_t *count);
/* With the lines of the calls, if the session was loaded with them. */
struct table view_callers(const struct loaded *l, uint32_t function);

/* Names of the four times, as keys of columns. */
extern const char *const call_time_names[CALL_TIMES];

/* How long the function's calls took, in buckets for each doubling or so; `wide`: bars of block characters. *exact, in
 * nanoseconds, is to be dropped by the caller. */
struct table view_histogram(const struct loaded *l, uint32_t function, enum call_time time, bool wide,
                            struct histogram *exact);

/* Its slowest calls, the slowest first. */
struct table view_slowest(const struct loaded *l, uint32_t function, enum call_time time, size_t limit);

struct table view_marks(const struct loaded *l);

/* The columns of these three, which have no times in common with the others. */
extern const struct column view_marks_columns[], view_histogram_columns[], view_slowest_columns[];
extern const size_t view_marks_column_count, view_histogram_column_count, view_slowest_column_count;

/* ---- shared by the views ---- */

/* What the sorting asks for: filtered, sorted and limited. */
void view_sort(struct table *t, const struct sorting *sorting);

/* Application times are known where at least one thread had a source of OS events; those away from the CPU and page
 * faults where the source was perf. */
#define TIME_COLUMNS                                                                                                   \
    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },                                                               \
        { "elapsed_inclusive", "EL.INCL", CELL_TICKS, USE_ALWAYS, false },                                             \
        { "elapsed_inclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },                                         \
        { "elapsed_exclusive", "EL.EXCL", CELL_TICKS, USE_ALWAYS, false },                                             \
        { "elapsed_exclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },                                         \
        { "application_inclusive", "APP.INCL", CELL_TICKS, USE_ALWAYS, false },                                        \
        { "application_inclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },                                     \
        { "application_exclusive", "APP.EXCL", CELL_TICKS, USE_ALWAYS, false },                                        \
        { "application_exclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },                                     \
        { "min", "MIN", CELL_TICKS, USE_DATA, false }, { "max", "MAX", CELL_TICKS, USE_DATA, false },                  \
        { "blocked_inclusive", "BL.INCL", CELL_TICKS, USE_DATA, false },                                               \
        { "blocked_exclusive", "BL.EXCL", CELL_TICKS, USE_DATA, false },                                               \
        { "preempted_inclusive", "PRE.INCL", CELL_TICKS, USE_DATA, false },                                            \
        { "preempted_exclusive", "PRE.EXCL", CELL_TICKS, USE_DATA, false },                                            \
        { "cpu_inclusive", "CPU.INCL", CELL_TICKS, USE_DATA, false },                                                  \
        { "cpu_exclusive", "CPU.EXCL", CELL_TICKS, USE_DATA, false },                                                  \
        { "page_faults", "FAULTS", CELL_COUNT, USE_DATA, false },                                                      \
        { "page_faults_exclusive", "FAULTS.EXCL", CELL_COUNT, USE_DATA, false },                                       \
        { "overhead_inclusive", "OVH.INCL", CELL_TICKS, USE_DATA, false },                                             \
        { "overhead_exclusive", "OVH.EXCL", CELL_TICKS, USE_DATA, false },                                             \
    {                                                                                                                  \
        "waiting_percent", "WAIT %", CELL_PERCENT, USE_ALWAYS, false                                                   \
    }
enum {
    TIME_CALLS,
    TIME_ELAPSED_INCLUSIVE,
    TIME_ELAPSED_EXCLUSIVE = TIME_ELAPSED_INCLUSIVE + 2,
    TIME_APPLICATION_INCLUSIVE = TIME_ELAPSED_EXCLUSIVE + 2,
    TIME_APPLICATION_EXCLUSIVE = TIME_APPLICATION_INCLUSIVE + 2,
    TIME_MIN = TIME_APPLICATION_EXCLUSIVE + 2,
    TIME_MAX,
    TIME_BLOCKED_INCLUSIVE,
    TIME_BLOCKED_EXCLUSIVE,
    TIME_PREEMPTED_INCLUSIVE,
    TIME_PREEMPTED_EXCLUSIVE,
    TIME_CPU_INCLUSIVE,
    TIME_CPU_EXCLUSIVE,
    TIME_PAGE_FAULTS,
    TIME_PAGE_FAULTS_EXCLUSIVE,
    TIME_OVERHEAD_INCLUSIVE,
    TIME_OVERHEAD_EXCLUSIVE,
    TIME_WAITING,
    TIME_COLUMN_COUNT,
};

/* Fills those columns of a table's last row, and has it dimmed if what it is of mostly waits. */
void fill_times(struct table *t, const struct times *times);

/* A line for each of those columns: its key, and what it is; `recent`: and for those of what happened since the look
 * before, in place of those of single calls. */
void view_list_columns(FILE *out, bool recent);

#endif
