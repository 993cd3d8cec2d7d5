/*
 * Sessions before and after a change, compared by function, module or call path. Addresses change from build to build:
 * a function is known by the file name of its module and its own name. docs/diff.md has the formulas.
 */
#ifndef DWELL_REPORT_DIFF_H
#define DWELL_REPORT_DIFF_H

#include "base/amount.h"
#include "base/intern.h"
#include "report/views.h"

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
    DIFF_VALUES,
};

/* Which value (profile/values.h) that is. */
struct diff_compared {
    enum value_id value;
    enum value_form form;
};
extern const struct diff_compared diff_compared[DIFF_VALUES];

/* "elapsed_inclusive". */
const char *diff_value_name(enum diff_value value);

/* By its name; DIFF_VALUES: there is none of it. */
enum diff_value diff_value_named(const char *name, size_t length);

struct diff_values {
    uint64_t of[DIFF_VALUES]; /* nanoseconds, or a number of calls or samples */
};

struct diff_run {
    char *path;
    enum diff_side side;
    struct diff_values total; /* of the session */
    struct diff_values *rows; /* by key */
    size_t row_count;         /* keys that came with later sessions are not among them */
    bool application_known, cpu_known;
    uint64_t events, lost_events;
};

enum diff_judged { JUDGED_NOTHING, JUDGED_LARGE, JUDGED_SIGNIFICANT };

struct diff_pair {
    uint64_t sum[DIFF_SIDES];  /* over the side's runs */
    uint64_t mean[DIFF_SIDES]; /* rounded */
    double probability;        /* that chance did it, adjusted for the number of rows; NAN: not tested */
    enum diff_judged judged;
};

struct diff_row {
    uint32_t key;
    bool present[DIFF_SIDES];
    struct diff_pair values[DIFF_VALUES];
};

/* Where a node is: a function that calls itself again and again is one step of its path. */
struct diff_place {
    uint32_t depth;   /* of the call path, from 1 */
    uint32_t repeats; /* calls of the function in a row that end with this one */
    uint32_t above;   /* the node before these */
};

struct diff {
    enum diff_by by;
    char *program; /* that the first session of before ran; NULL: unknown */
    struct intern names;
    struct profile *keys; /* all functions, modules and call paths of all sessions: what numbers them */
    struct diff_run *runs;
    size_t run_count, run_room;
    size_t side_count[DIFF_SIDES];
    bool samples;            /* what times are of these sessions */
    bool known[DIFF_VALUES]; /* by all sessions */
    char **remarks;
    size_t remark_count, remark_room;
    struct diff_row *rows;
    size_t row_count, row_room;
    struct diff_place *places; /* by node; set when it is judged */
};

struct diff_options {
    enum diff_value sort; /* and what the marks are of; DIFF_VALUES: by name */
    struct amount min;    /* rows with less elapsed inclusive time than that, on both sides, are left out */
    struct amount large;  /* such changes of a time are large; percentages are of the session's time */
    size_t limit;         /* rows; zero: all */
};

/* Sessions are added one after the other, those of before first; then judged, which makes the rows and sorts them. It
 * is an error to add samples to times. */
struct diff *diff_new(enum diff_by by);
bool diff_add(struct diff *d, enum diff_side side, const struct analysis *session, struct error *error);
void diff_judge(struct diff *d, const struct diff_options *options);
void diff_free(struct diff *d);

/* Whether both sides have runs enough to be tested. */
static inline bool diff_is_tested(const struct diff *d)
{
    return d->side_count[DIFF_BEFORE] > 1 && d->side_count[DIFF_AFTER] > 1;
}

/* What a row is of: "function (module)", a module, or a path; to be freed by the caller. */
char *diff_row_name(const struct diff *d, const struct diff_row *row);
/* A function's name, by its number. */
const char *diff_function_name(const struct diff *d, uint32_t function);
const char *diff_function_module(const struct diff *d, uint32_t function);
/* "main;handle x3;audit": of very long ones the innermost functions. To be freed by the caller. */
char *diff_path(const struct diff *d, uint32_t node);

/* One line: how it was judged. To be freed by the caller. */
char *diff_judgement(const struct diff *d, const struct diff_options *options);

/* The rows; with signs where people read. And what was compared: one row a session. */
struct table view_diff(const struct diff *d, const struct diff_options *options, bool people);
struct table view_diff_sessions(const struct diff *d);
/* What must be known besides: losses, and what was taken for what. */
struct table view_diff_remarks(const struct diff *d);
/* The columns that people see unless they choose others; to be freed by the caller. */
char *view_diff_usual_columns(const struct diff *d, const struct diff_options *options);
void view_diff_list_columns(FILE *out);

/* A condition that no row may meet, such as "application_exclusive > +10%". */
struct diff_gate {
    const char *text;
    enum diff_value value;
    bool above; /* than the limit; or below it */
    enum { GATE_COUNT, GATE_TIME, GATE_PERCENT } unit;
    double limit; /* with its sign; of times in nanoseconds */
};

/* False: it is none; *problem says why. */
bool diff_gate_parse(struct diff_gate *gate, const char *text, const char **problem);
/* NULL, or why these sessions cannot be measured by it. */
const char *diff_gate_check(const struct diff_gate *gate, const struct diff *d);
bool diff_gate_fails(const struct diff_gate *gate, const struct diff *d, const struct diff_row *row);
/* Says which rows fail on `out`, a line each for the first few; returns how many there are. */
size_t diff_gate_report(const struct diff_gate *gate, const struct diff *d, FILE *out);

#endif
