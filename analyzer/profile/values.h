/*
 * The values of a profile, each described once: where it is kept, how it is merged, its names and its meaning, when it
 * is known, and what shows it. All code that handles values follows these lists. docs/code.md describes how to add one.
 */
#ifndef DWELL_PROFILE_VALUES_H
#define DWELL_PROFILE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The recorded amounts of a call path: AMOUNT(member of struct profile_node, unit, merge).
 *
 * Times are those of the path itself, without the paths below it. The runtime amounts are the parts of elapsed and
 * flagged in which the runtime was at work, on the CPU.
 */
#define PATH_AMOUNTS(AMOUNT)                                                                                           \
    AMOUNT(elapsed, TICKS, SUM)                                                                                        \
    AMOUNT(calls, COUNT, SUM)    /* enters */                                                                          \
    AMOUNT(shortest, TICKS, MIN) /* of completed calls, elapsed inclusive */                                           \
    AMOUNT(longest, TICKS, MAX)                                                                                        \
    AMOUNT(flagged, TICKS, SUM)   /* the part of elapsed in which the OS intervened */                                 \
    AMOUNT(blocked, TICKS, SUM)   /* the part of elapsed off the CPU, waiting */                                       \
    AMOUNT(preempted, TICKS, SUM) /* the part of elapsed off the CPU while another thread ran */                       \
    AMOUNT(page_faults, COUNT, SUM)                                                                                    \
    AMOUNT(runtime, TICKS, SUM)                                                                                        \
    AMOUNT(runtime_flagged, TICKS, SUM)                                                                                \
    AMOUNT(overhead, TICKS, SUM)     /* probe overhead that was subtracted from elapsed; see overhead.h */             \
    AMOUNT(net_shortest, TICKS, MIN) /* the same two without probes, where a session of sums has them */               \
    AMOUNT(net_longest, TICKS, MAX)                                                                                    \
    AMOUNT(first, COUNT, MIN)            /* number of the first chunk of the file that has the path */                 \
    AMOUNT(samples, COUNT, SUM)          /* of the path itself, */                                                     \
    AMOUNT(samples_in_stubs, COUNT, SUM) /* and in code that counts calls */                                           \
    AMOUNT(sample_time, COUNT, SUM)      /* nanoseconds of CPU time that the samples stand for; */                     \
    AMOUNT(stub_time, COUNT, SUM)        /* both are zero in older sums, where each sample stands for the same */      \
    AMOUNT(given, TICKS, SUM) /* what was left of elapsed, and of flagged, to sampled paths below it: sampling.h */    \
    AMOUNT(given_flagged, TICKS, SUM)                                                                                  \
    AMOUNT(error, TICKS, NORM)       /* half width of the 95 % interval of elapsed, */                                 \
    AMOUNT(error_pooled, TICKS, SUM) /* and its part that is common to paths of a function */

/*
 * The values that reports show, in the order of their columns:
 *
 *   ONE(NAME, amount, merge)       one value, which is that amount
 *   PAIR(NAME, member, formula)    an inclusive and an exclusive value: the formula gives a call path's exclusive value
 *                                  from its amounts `node`; all others are sums of these
 *   DERIVED(NAME, key)             computed from the sums of other values
 *
 * The table in values.c has a row for each.
 */
#define VALUES(ONE, PAIR, DERIVED)                                                                                     \
    ONE(CALLS, calls, SUM)                                                                                             \
    PAIR(ELAPSED, elapsed, node->elapsed)                                                                              \
    PAIR(APPLICATION, application, node->elapsed - node->flagged)                                                      \
    ONE(MIN, shortest, MIN)                                                                                            \
    ONE(MAX, longest, MAX)                                                                                             \
    PAIR(BLOCKED, blocked, node->blocked)                                                                              \
    PAIR(PREEMPTED, preempted, node->preempted)                                                                        \
    DERIVED(CPU, cpu)                                                                                                  \
    PAIR(FLAGGED_ON_CPU, flagged_on_cpu, less(less(node->flagged, node->blocked), node->preempted))                    \
    PAIR(PAGE_FAULTS, page_faults, node->page_faults)                                                                  \
    PAIR(OVERHEAD, overhead, node->overhead)                                                                           \
    DERIVED(WAITING, waiting)

/* The initial value of each kind of merge. */
#define START_SUM 0
#define START_MIN UINT64_MAX
#define START_MAX 0
#define START_NORM 0

enum value_id {
#define VALUE_CONSTANT(NAME, ...) VALUE_##NAME,
    VALUES(VALUE_CONSTANT, VALUE_CONSTANT, VALUE_CONSTANT)
#undef VALUE_CONSTANT
        VALUE_COUNT
};

enum value_form { INCLUSIVE, EXCLUSIVE, VALUE_FORMS };

/* The values of a call path, a function, a thread or any other group. Times are in ticks. */
struct times {
#define ONE_MEMBER(NAME, member, merge) uint64_t member;
#define PAIR_MEMBERS(NAME, member, formula) uint64_t member##_inclusive, member##_exclusive;
#define NO_MEMBER(NAME, key)
    VALUES(ONE_MEMBER, PAIR_MEMBERS, NO_MEMBER)
    uint64_t samples; /* with it on top of the stack */
    /* Half widths of the 95 % intervals of its CPU times: sums of squares of independent errors, which are rounded once
     * they are shown, so that their order does not matter, and sums of errors that are not independent. */
    double error_squares_inclusive, error_squares_exclusive;
    uint64_t pooled_inclusive, pooled_exclusive;
    uint64_t counted; /* the part of `calls` that was only counted: their time is their callers' */
#undef ONE_MEMBER
#undef PAIR_MEMBERS
#undef NO_MEMBER
};

/* The conditions under which a value is known: what the session must have recorded, or the row must have. */
enum value_needs {
    NEEDS_CALLS = 1 << 0,
    NEEDS_APPLICATION = 1 << 1, /* a source of OS events */
    NEEDS_OFF_CPU = 1 << 2,     /* a source of the times of OS events */
    NEEDS_OVERHEAD = 1 << 3,
    NEEDS_COMPLETED = 1 << 4, /* the row: a completed call */
};

/* Where a value is shown by default. Elsewhere the user can ask for it. */
enum value_shown {
    SHOWN_IN_TEXT = 1 << 0,
    SHOWN_IN_DATA = 1 << 1, /* CSV, JSON, and the views of SQLite */
    SHOWN_IN_PAGE = 1 << 2,
    SHARE_SHOWN_IN_PAGE = 1 << 3,
    SHARE_ONLY_CHOSEN = 1 << 4, /* reports show the share only if the user asks for it */
};

struct value {
    const char *key;     /* a word for options and formats: "elapsed" */
    const char *label;   /* for people: "Elapsed" */
    const char *heading; /* above columns of text: "EL" */
    enum { VALUE_IS_TIME, VALUE_IS_COUNT, VALUE_IS_PERCENT } kind;
    unsigned forms; /* 2: inclusive and exclusive; 1: a single form, which both entries of the arrays below describe */
    const char *names[VALUE_FORMS];    /* "elapsed_inclusive" */
    const char *columns[VALUE_FORMS];  /* the name in reports if it differs, else NULL */
    const char *titles[VALUE_FORMS];   /* in text reports */
    const char *meanings[VALUE_FORMS]; /* a line of help */
    const char *shares[VALUE_FORMS];   /* columns of its share of the session's inclusive value; NULL if none */
    size_t offsets[VALUE_FORMS];       /* in struct times; unused in derived values */
    enum value_id whole, parts[2];     /* derived: the whole less its parts; percentages: the first part of the whole */
    unsigned part_count;               /* 0 if the value is not derived */
    unsigned needs, shown;             /* enum value_needs, value_shown */
    bool off_cpu;                      /* time in which the thread did not run */
    bool of_probes;                    /* time of the probes, not of the program */
};

extern const struct value value_table[VALUE_COUNT];

/* The value in ticks or as a count, also of derived values, but not of percentages. */
uint64_t times_value(const struct times *t, enum value_id value, enum value_form form);

/* A value of the kind VALUE_IS_PERCENT. */
double times_percent(const struct times *t, enum value_id value);

/* Whether the value of a row is known in a session that `knows` these conditions (enum value_needs). If t is NULL, it
 * is a row with completed calls. */
bool value_is_known(enum value_id value, unsigned knows, const struct times *t);

/* The key of the value's column in reports. */
const char *value_column(enum value_id value, enum value_form form);

/* ---- sums ---- */

/* Values to which nothing has been added. */
static inline struct times times_of_nothing(void)
{
#define START_ONE(NAME, member, merge) .member = START_##merge,
#define START_NONE(NAME, ...)
    return (struct times){ VALUES(START_ONE, START_NONE, START_NONE) };
#undef START_ONE
#undef START_NONE
}

struct profile_node;

/* The values of a call path without the paths below it: inclusive values equal the exclusive ones. */
struct times times_of_path(const struct profile_node *node);

/* Adds all values. No interval may be in both, as with two threads. */
void times_add(struct times *into, const struct times *from);

/* Adds only the inclusive values, only the exclusive ones, or all but the inclusive ones. */
void times_add_inclusive(struct times *into, const struct times *from);
void times_add_exclusive(struct times *into, const struct times *from);
void times_add_own(struct times *into, const struct times *from);

/* The inclusive times are no estimates: what is estimated below a call path adds up to a measured time. */
void times_set_measured(struct times *t);

/* Sets the exclusive values to the inclusive ones. */
void times_own_all(struct times *t);

/* Whether there are no calls, no time and no page faults. */
bool times_are_empty(const struct times *t);

/* Whether the calls were only counted: times are unknown. */
static inline bool times_are_counted(const struct times *t)
{
    return t->counted && t->counted == t->calls && !t->elapsed_inclusive;
}

/* Whether it has time that is estimated by samples, for example of calls that were only counted. */
static inline bool times_are_sampled(const struct times *t)
{
    return t->error_squares_inclusive > 0 || t->pooled_inclusive;
}

/* Whether the times are those of some calls, and the others were only counted: a function takes at least these times.
 */
static inline bool times_are_partial(const struct times *t)
{
    return t->counted && !times_are_counted(t) && !times_are_sampled(t);
}

/* How the times of a function are known: a word for formats. */
const char *times_timing(const struct times *t);

/* The values that samples estimate, in the order of their columns: columns of half widths of 95 % intervals. */
enum { ESTIMATED_VALUES = 6 };
extern const struct estimated_value {
    const char *name; /* of the column */
    enum value_id value;
    enum value_form form;
} estimated_values[ESTIMATED_VALUES];

/* The half width of the 95 % interval of a value. Zero if it was measured. */
uint64_t times_error(const struct times *t, enum value_id value, enum value_form form);

/* Converts ticks to nanoseconds. */
void times_scale(struct times *t, uint64_t ticks_per_second);

/* ---- amounts of call paths ---- */

/* Adds the amounts of one path to those of another. */
void profile_add_values(struct profile_node *into, const struct profile_node *from);

/* Sets the amounts to the initial values of their merges. The path has no durations of its own. */
void amounts_clear(struct profile_node *node);

/* Subtracts the earlier amounts from the later ones of the same path. The shortest and the longest call become unknown.
 */
void amounts_subtract(struct profile_node *later, const struct profile_node *earlier);

/* Converts ticks to nanoseconds. */
void amounts_scale(struct profile_node *node, uint64_t ticks_per_second);

#endif
