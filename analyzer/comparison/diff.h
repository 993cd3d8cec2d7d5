/*
 * Compares sessions before and after a change by function, module or call path. Addresses change from build to build,
 * so the names of a function and its module identify it. docs/diff.md has the formulas.
 */
#ifndef DWELL_COMPARISON_DIFF_H
#define DWELL_COMPARISON_DIFF_H

#include "base/amount.h"
#include "base/intern.h"
#include "comparison/gate_condition.h"
#include "tables/views.h"

enum diff_by { DIFF_FUNCTIONS, DIFF_MODULES, DIFF_PATHS };
enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

enum diff_value {
    DIFF_CALLS,
    DIFF_ELAPSED_INCLUSIVE,
    DIFF_ELAPSED_EXCLUSIVE,
    DIFF_APPLICATION_INCLUSIVE,
    DIFF_APPLICATION_EXCLUSIVE,
    DIFF_CPU_INCLUSIVE,
    DIFF_CPU_EXCLUSIVE,
    DIFF_SUMS, /* those before are sums over the calls; the others are percentiles of single calls */
    DIFF_P50 = DIFF_SUMS,
    DIFF_P90,
    DIFF_P99,
    DIFF_MAX,
    DIFF_VALUES,
};

/* The values (profile/values.h) that are compared. */
struct diff_compared {
    enum value_id value;
    enum value_form form;
    const char *name; /* of a percentile; NULL for sums, which have the names of the value's columns */
    double percent;   /* of a percentile: 100 is the largest */
};
extern const struct diff_compared diff_compared[DIFF_VALUES];

/* A name such as "elapsed_inclusive". */
const char *diff_value_name(enum diff_value value);

/* Sessions have percentiles only if they were loaded with durations. */
static inline bool diff_is_percentile(enum diff_value value)
{
    return value >= DIFF_SUMS;
}

/* Finds a value by its name. Returns DIFF_VALUES if there is none. */
enum diff_value diff_value_named(const char *name, size_t length);

struct diff_values {
    uint64_t of[DIFF_VALUES];    /* nanoseconds, or a number of calls or samples */
    uint64_t error[DIFF_VALUES]; /* half width of the 95 % interval of an estimated time; zero if it was measured */
    bool counted;                /* calls were only counted, all or some: times are unknown */
    bool uncalled;               /* known by samples alone: calls are unknown */
};

struct diff_run {
    char *path;
    char *part; /* the compared part of the session, as reports name it; NULL for the whole */
    enum diff_side side;
    uint64_t ran;                 /* how long the run was, in nanoseconds; zero if unknown */
    struct diff_values total;     /* of the session */
    struct diff_values *rows;     /* by key */
    uint64_t *waits;              /* by key: how often its callers waited for a condition (diff_waits.h) */
    size_t row_count;             /* without the keys that later sessions added */
    struct durations **durations; /* by key: of the completed calls; NULL if they were not loaded */
    uint64_t ticks_per_second;    /* of the durations */
    bool application_known, cpu_known, has_samples;
    double least_time; /* nanoseconds: no sample may have come in less than that (diff_least_time) */
    uint64_t events, lost_events;
};

enum diff_judged { JUDGED_NOTHING, JUDGED_LARGE, JUDGED_SIGNIFICANT, JUDGED_CERTAIN /* calls only */ };

/* What lets the calls of a row differ between runs of one program. */
enum diff_chance {
    CHANCE_NONE,
    CHANCE_SYSTEM, /* they are calls of the system, or waits */
    CHANCE_CALLED, /* some are made by such calls */
    CHANCE_RUNS,   /* they do differ between the runs before the change */
    CHANCE_WAITS,  /* they differ no more than the waits of its callers for conditions */
};

struct diff_pair {
    uint64_t sum[DIFF_SIDES];  /* over the side's runs */
    uint64_t mean[DIFF_SIDES]; /* rounded */
    double error[DIFF_SIDES];  /* half width of the 95 % interval of the mean, as far as it was estimated */
    double probability;        /* of such a change by chance, adjusted for the number of rows; NAN if not tested */
    enum diff_judged judged;
};

struct diff_row {
    uint32_t key;
    bool present[DIFF_SIDES];
    bool counted;  /* in some session, times are unknown */
    bool uncalled; /* in some session, calls are unknown */
    bool timed;    /* in all sessions, some calls have durations */
    enum diff_chance chance;
    uint64_t least_calls[DIFF_SIDES], most_calls[DIFF_SIDES]; /* of the side's runs */
    struct diff_pair values[DIFF_VALUES];
};

/* The place of a node on its call path. Consecutive calls of the same function are one step of the path. */
struct diff_place {
    uint32_t depth;   /* of the call path, from 1 */
    uint32_t repeats; /* consecutive calls of the function up to this node */
    uint32_t above;   /* the node above these calls */
};

struct diff {
    enum diff_by by;
    char *program; /* the program of the first session before the change; NULL if unknown */
    struct intern names;
    struct profile *keys; /* the functions, modules and call paths of all sessions; their numbers are the keys */
    struct diff_run *runs;
    size_t run_count, run_room;
    size_t side_count[DIFF_SIDES];
    bool samples;            /* the sessions have samples instead of times */
    bool estimated;          /* some session has times that are estimated by samples */
    bool percentiles;        /* all sessions have percentiles */
    bool threads;            /* some session has several threads or processes */
    bool known[DIFF_VALUES]; /* the value is known in all sessions */
    char **remarks;
    const char **remark_codes; /* a stable name of each */
    size_t code_room;
    size_t remark_count, remark_room; /* with caveats (analysis/summary.h) */
    struct diff_row *rows;
    size_t row_count, row_room;
    struct diff_place *places; /* by node; set by diff_judge */
    uint8_t *levels;           /* of the functions that were counted in a session, by key: bits of diff_levels.h */
    size_t level_count;
    bool ranged;      /* some session has such calls outside of a selected range of time */
    uint8_t *unknown; /* by key, such bits; NULL if none is set. Set by diff_judge */
    bool *called;     /* by function, whether calls of the system call it: diff_chance.h */
    size_t called_count;
};

struct diff_options {
    enum diff_value sort; /* rows are sorted and marked by this value; DIFF_VALUES sorts by name */
    struct amount min;    /* rows with less elapsed inclusive time on both sides are left out */
    struct amount large;  /* changes of a time of at least this are large; percentages are of the session's time */
    size_t limit;         /* of rows; zero for all */
};

/* Add the sessions one by one, those before the change first. Then diff_judge makes the rows and sorts them. It is an
 * error to add samples to times. */
struct diff *diff_new(enum diff_by by);
bool diff_add(struct diff *d, enum diff_side side, const struct analysis *session, struct error *error);
void diff_judge(struct diff *d, const struct diff_options *options);

/* Whether some remarks are caveats. Text has one line in their place. */
bool diff_has_caveats(const struct diff *d);
#define DIFF_CAVEAT "times of functions that were only counted are estimates (dwell info)"
void diff_free(struct diff *d);

/* The number of functions, modules or call paths, of all sessions so far. */
size_t diff_key_count(const struct diff *d);

/* Adds a remark. The comparison frees the line. */
void diff_add_remark(struct diff *d, const char *code, char *line);

/* After diff_judge: whether all rows are on both sides and equal in all known values. False if there are no rows. */
bool diff_is_equal(const struct diff *d);

/* Whether the value of the row is known in all sessions. */
static inline bool diff_row_knows(const struct diff *d, const struct diff_row *row, enum diff_value value)
{
    return d->known[value] && (value == DIFF_CALLS ? !row->uncalled : !row->counted) &&
           (!diff_is_percentile(value) || row->timed);
}

/* A pair's sums, with the number of runs. */
struct gate_sums diff_sums(const struct diff *d, const struct diff_pair *pair);

/* The half width of the joint 95 % interval of a change. Zero if both sides were measured. */
double diff_pair_error(const struct diff_pair *pair);
/* Whether the change of means is larger than that. */
bool diff_pair_is_certain(const struct diff *d, const struct diff_pair *pair);

/* What says most about work: exclusive CPU time, as in a report, or elapsed time where that is unknown. */
static inline enum diff_value diff_work_value(const struct diff *d)
{
    return d->known[DIFF_CPU_EXCLUSIVE] ? DIFF_CPU_EXCLUSIVE : DIFF_ELAPSED_EXCLUSIVE;
}

/* The value that marks the rows. */
static inline enum diff_value diff_judged_value(const struct diff *d, const struct diff_options *options)
{
    return options->sort < DIFF_VALUES ? options->sort : diff_work_value(d);
}

/* Whether both sides have enough runs for a test. */
static inline bool diff_is_tested(const struct diff *d)
{
    return d->side_count[DIFF_BEFORE] > 1 && d->side_count[DIFF_AFTER] > 1;
}

/* The name of a row: "function (module)", a module, or a path. The caller frees it. */
char *diff_row_name(const struct diff *d, const struct diff_row *row);
/* The names of a function and its module, by the function's number. */
const char *diff_function_name(const struct diff *d, uint32_t function);
const char *diff_function_module(const struct diff *d, uint32_t function);
/* A path such as "main;handle x3;audit". Very long paths have only their innermost functions. The caller frees it. */
char *diff_path(const struct diff *d, uint32_t node);

/* A sentence with the lengths of the runs, and the change of the CPU time and of the calls. NULL if the sessions have
 * samples instead of times. The caller frees it. */
char *diff_answer(const struct diff *d);

/* Whether some row has a certain change of calls. */
bool diff_has_certain_calls(const struct diff *d);

/* A line that explains the marks of the rows. The caller frees it. */
char *diff_judgement(const struct diff *d, const struct diff_options *options);

/* The keys, separated by commas, with three columns for each value that has no suffix: "p99" stands for p99_before,
 * p99_after and p99_change_percent. The caller frees them. */
char *view_diff_columns(const char *keys);

/* The rows of the comparison. For people, changes have signs. */
struct table view_diff(const struct diff *d, const struct diff_options *options, bool people);
/* A row for each compared session. */
struct table view_diff_sessions(const struct diff *d);
/* Losses of the sessions, and programs that were compared under different names. */
struct table view_diff_remarks(const struct diff *d);
/* The columns that people see by default. The caller frees the text. */
char *view_diff_usual_columns(const struct diff *d, const struct diff_options *options);

enum { MAX_DIFF_OPTIONAL = 16 };

/* Lists the keys of those that leave a narrow terminal, the first one first, ended by NULL. */
void view_diff_optional_columns(const struct diff *d, const struct diff_options *options,
                                const char *keys[MAX_DIFF_OPTIONAL]);
void view_diff_list_columns(FILE *out);

/* Returns false and sets the error if the text is not a condition. */
bool diff_gate_parse(struct gate *gate, const char *text, struct error *error);
/* Returns NULL, or the reason why the condition cannot be applied to these sessions. */
const char *diff_gate_check(const struct gate *gate, const struct diff *d);
bool diff_gate_fails(const struct gate *gate, const struct diff *d, const struct diff_row *row);
/* Whether the row meets a condition on calls, but does not fail, as chance has a part in its calls. */
bool diff_gate_leaves_out(const struct gate *gate, const struct diff *d, const struct diff_row *row);
/* What that part is. */
const char *diff_chance_text(const struct diff_row *row);
/* Prints the value before and after, such as "465 -> 1219 (+162.15 %)". */
void diff_print_change(const struct diff *d, const struct diff_row *row, enum diff_value value, FILE *out);
/* Prints the first rows that fail to `out`, and returns the number of all that fail. */
size_t diff_gate_report(const struct gate *gate, const struct diff *d, FILE *out);

#endif
