/* Compares PerfLog logs from before and after a change, marker by marker, by the test of `dwell diff`. */
#ifndef DWELL_PERFLOG_PERFLOG_COMPARE_H
#define DWELL_PERFLOG_PERFLOG_COMPARE_H

#include "comparison/gate_condition.h"
#include "perflog/perflog_views.h"

enum perflog_compared { PERFLOG_COUNT, PERFLOG_MEAN, PERFLOG_TOTAL, PERFLOG_COMPARED };

/* A value of a marker before ([0]) and after ([1]). Times are in the unit of the row. */
struct perflog_change {
    uint64_t sum[2];    /* over the logs of a side that have the value */
    size_t runs[2];     /* of how many logs */
    uint64_t mean[2];   /* rounded */
    double probability; /* of such a change by chance, adjusted for the number of rows; NAN if not tested */
    bool exact;         /* a count on which the logs of each side agree */
    bool significant;
};

/* A marker. Averages are of the logs that have it; a log without it has 0 as count and total. */
struct perflog_compared_row {
    const char *app, *marker; /* owned by the logs */
    uint32_t id;
    bool in_ticks, present[2];
    struct perflog_change values[PERFLOG_COMPARED];
};

struct perflog_comparison {
    struct perflog_compared_row *rows; /* in order of application and marker */
    size_t row_count;
    size_t log_count[2];
};

/* Compares the logs of two sides. They must live as long as the comparison. */
struct perflog_comparison perflog_compare(struct perflog *const *before, size_t before_count,
                                          struct perflog *const *after, size_t after_count);
void perflog_comparison_drop(struct perflog_comparison *c);

/* Whether both sides have enough logs for a test. */
static inline bool perflog_is_tested(const struct perflog_comparison *c)
{
    return c->log_count[0] > 1 && c->log_count[1] > 1;
}

/* The rows, with the largest change first; significant ones come before the others. */
struct table view_perflog_diff(const struct perflog_comparison *c, const struct perflog_choice *choice);

/* Conditions on count, mean and total. Returns false and sets the error if the text is none. */
bool perflog_gate_parse(struct gate *gate, const char *text, struct error *error);
/* Returns NULL, or the reason why the condition cannot be applied. */
const char *perflog_gate_check(const struct gate *gate, const struct perflog_comparison *c);
/* Prints the first rows that meet the condition, and returns the number of all that do. */
size_t perflog_gate_report(const struct gate *gate, const struct perflog_comparison *c, FILE *out);

#endif
