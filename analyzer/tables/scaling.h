/* How a function's time grows with a value (`dwell scaling`). */
#ifndef DWELL_TABLES_SCALING_H
#define DWELL_TABLES_SCALING_H

#include "base/error.h"
#include "base/power_law.h"
#include "tables/scaling_calls.h"
#include "tables/table.h"

/* The calls with one value, or with a range of values if there are many. */
struct scaling_point {
    double value; /* their median */
    uint64_t calls;
    double median; /* of their times, in nanoseconds */
};

/* The own code of a function below. Names are those of the calls. */
struct scaling_code {
    const char *name, *module;
    struct power_law law;
    double share_percent; /* of the time of the calls with the largest value */
};

struct scaling {
    struct scaling_point *points; /* in the order of values */
    size_t point_count;
    uint64_t calls;
    struct law_point *fitted; /* those whose times are above those of probes */
    size_t fitted_count;
    struct power_law law;
    struct usual_fit usual;
    struct law_change change;
    struct scaling_code *code; /* what surely grows fastest comes first */
    size_t code_count;
};

/* It is an error if there are fewer than three points. Otherwise the caller drops the result. */
bool scaling_find(struct scaling *s, const struct scaling_calls *calls, struct error *error);
void scaling_drop(struct scaling *s);

/* The time that the laws predict for a value, in nanoseconds, with the limits that the exponent's interval has. */
struct scaling_prediction {
    double ns, low, high;
    bool certain; /* the limits are known */
};
struct scaling_prediction scaling_predict(const struct scaling *s, double value, bool usual);

/* Rounded to a part of 1, and never a zero with a sign. */
double scaling_round(double number, double part);

/* "n^1.98 (95 %: 1.95 to 2.01)". The caller frees it. */
char *scaling_law_text(const struct power_law *law, const char *n);

/* The points as rows. */
struct table view_scaling(const struct scaling *s, bool usual);

/* The number as a text with as many digits as it needs. The caller frees it. */
char *scaling_number(double number);

#endif
