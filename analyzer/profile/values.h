/*
 * The values of a profile, each described once: where it is kept, how it is merged, its names and its meaning, when it
 * is known, and what shows it. Whatever handles values follows these lists: docs/code.md says how to add one.
 */
#ifndef DWELL_PROFILE_VALUES_H
#define DWELL_PROFILE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is recorded of a call path: AMOUNT(member of struct profile_node, unit, merge).
 *
 * Times are those of the path itself, without the paths below it. The runtime amounts are the parts of elapsed,
 * flagged, blocked and preempted in which the runtime was at work.
 */
#define PATH_AMOUNTS(AMOUNT)                                                                                           \
    AMOUNT(elapsed, TICKS, SUM)                                                                                        \
    AMOUNT(flagged, TICKS, SUM)   /* the part of elapsed in which the OS intervened */                                 \
    AMOUNT(blocked, TICKS, SUM)   /* the part of elapsed off the CPU, waiting */                                       \
    AMOUNT(preempted, TICKS, SUM) /* the part of elapsed off the CPU while another thread ran */                       \
    AMOUNT(page_faults, COUNT, SUM)                                                                                    \
    AMOUNT(runtime, TICKS, SUM)                                                                                        \
    AMOUNT(runtime_flagged, TICKS, SUM)                                                                                \
    AMOUNT(runtime_blocked, TICKS, SUM)                                                                                \
    AMOUNT(runtime_preempted, TICKS, SUM)                                                                              \
    AMOUNT(overhead, TICKS, SUM) /* probe overhead that was subtracted from elapsed; see overhead.h */                 \
    AMOUNT(calls, COUNT, SUM)    /* enters */                                                                          \
    AMOUNT(shortest, TICKS, MIN) /* of completed calls, elapsed inclusive */                                           \
    AMOUNT(longest, TICKS, MAX)

/*
 * What reports show, in the order of their columns:
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

/* What a merge begins with. */
#define START_SUM 0
#define START_MIN UINT64_MAX
#define START_MAX 0

enum value_id {
#define VALUE_CONSTANT(NAME, ...) VALUE_##NAME,
    VALUES(VALUE_CONSTANT, VALUE_CONSTANT, VALUE_CONSTANT)
#undef VALUE_CONSTANT
        VALUE_COUNT
};

enum value_form { INCLUSIVE, EXCLUSIVE, VALUE_FORMS };

/* The values of anything: a call path, a function, a thread. Times in ticks. */
struct times {
#define ONE_MEMBER(NAME, member, merge) uint64_t member;
#define PAIR_MEMBERS(NAME, member, formula) uint64_t member##_inclusive, member##_exclusive;
#define NO_MEMBER(NAME, key)
    VALUES(ONE_MEMBER, PAIR_MEMBERS, NO_MEMBER)
#undef ONE_MEMBER
#undef PAIR_MEMBERS
#undef NO_MEMBER
};

/* What a session must have recorded, or a row must have, so that a value is known. */
enum value_needs {
    NEEDS_CALLS = 1 << 0,
    NEEDS_APPLICATION = 1 << 1, /* a source of OS events */
    NEEDS_OFF_CPU = 1 << 2,     /* a source of the times of OS events */
    NEEDS_OVERHEAD = 1 << 3,
    NEEDS_COMPLETED = 1 << 4, /* the row: a completed call */
};

/* Where a value is shown unless the user chooses. Everywhere else it can be asked for. */
enum value_shown {
    SHOWN_IN_TEXT = 1 << 0,
    SHOWN_IN_DATA = 1 << 1, /* CSV, JSON, and the views of SQLite */
    SHOWN_IN_PAGE = 1 << 2,
    SHARE_SHOWN_IN_PAGE = 1 << 3,
};

struct value {
    const char *key;     /* a word for options and formats: "elapsed" */
    const char *label;   /* for people: "Elapsed" */
    const char *heading; /* over columns of text: "EL" */
    enum { VALUE_IS_TIME, VALUE_IS_COUNT, VALUE_IS_PERCENT } kind;
    unsigned forms; /* 2: inclusive and exclusive; 1: the value has only one, and is equal in both forms below */
    const char *names[VALUE_FORMS];    /* "elapsed_inclusive" */
    const char *columns[VALUE_FORMS];  /* the same in reports, if it differs there; else NULL */
    const char *titles[VALUE_FORMS];   /* in reports as text */
    const char *meanings[VALUE_FORMS]; /* a line of help */
    const char *shares[VALUE_FORMS];   /* columns of its share of the session's inclusive value; NULL if none */
    size_t offsets[VALUE_FORMS];       /* in struct times; of derived values unused */
    enum value_id whole, parts[2];     /* derived: the whole less its parts; of percentages the part of the whole */
    unsigned part_count;               /* 0: not derived */
    unsigned needs, shown;             /* enum value_needs, value_shown */
    bool off_cpu;                      /* time in which the thread did not run */
    bool of_probes;                    /* not the program's, but of its probes */
};

extern const struct value value_table[VALUE_COUNT];

/* The value in ticks or as a number; derived values too. Not of percentages. */
uint64_t times_value(const struct times *t, enum value_id value, enum value_form form);

/* in percent, of a value of that kind. */
double times_percent(const struct times *t, enum value_id value);

/* Whether the row knows the value, by what the session `knows` (enum value_needs). NULL: any row. */
bool value_is_known(enum value_id value, unsigned knows, const struct times *t);

/* The key of its column in reports. */
const char *value_column(enum value_id value, enum value_form form);

/* ---- sums ---- */

/* The values of something that nothing has been added to. */
static inline struct times times_of_nothing(void)
{
#define START_ONE(NAME, member, merge) .member = START_##merge,
#define START_NONE(NAME, ...)
    return (struct times){ VALUES(START_ONE, START_NONE, START_NONE) };
#undef START_ONE
#undef START_NONE
}

struct profile_node;

/* Of a call path itself: inclusive values are equal to the exclusive ones. */
struct times times_of_path(const struct profile_node *node);

/* Adds all values, where no interval counts for both: those of one thread to those of another. */
void times_add(struct times *into, const struct times *from);

/* Adds the inclusive values alone, the exclusive ones alone, or all but the inclusive ones. */
void times_add_inclusive(struct times *into, const struct times *from);
void times_add_exclusive(struct times *into, const struct times *from);
void times_add_own(struct times *into, const struct times *from);

/* Makes the inclusive values exclusive ones, too. */
void times_own_all(struct times *t);

/* Whether nothing happened there. */
bool times_are_empty(const struct times *t);

/* Makes ticks of that rate nanoseconds. */
void times_scale(struct times *t, uint64_t ticks_per_second);

/* ---- amounts of call paths ---- */

/* Adds the amounts of one path to those of another. */
void profile_add_values(struct profile_node *into, const struct profile_node *from);

/* Amounts that nothing has been added to. */
void amounts_clear(struct profile_node *node);

/* What was added to the path since: the later amounts less the earlier ones. The shortest and the longest call of that
 * time are unknown. */
void amounts_subtract(struct profile_node *later, const struct profile_node *earlier);

/* Makes ticks of that rate nanoseconds. */
void amounts_scale(struct profile_node *node, uint64_t ticks_per_second);

#endif
