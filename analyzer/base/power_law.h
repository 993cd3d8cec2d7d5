/* How times grow with a number n: fits t = a + b * n^k, tells which usual law fits best, and where the law changes. A
 * few times that are far off hardly count. */
#ifndef DWELL_BASE_POWER_LAW_H
#define DWELL_BASE_POWER_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both numbers are above zero. Points are in the order of n, and each n is there once. */
struct law_point {
    double n, time;
    uint64_t calls; /* of which the time is the median: more count more */
};

/* t = constant + factor * (n / unit)^exponent; neither is negative. */
struct power_curve {
    double constant, factor, exponent, unit;
};

struct power_law {
    struct power_curve best;
    bool certain;                 /* there are enough points for the interval */
    struct power_curve low, high; /* at the ends of the exponent's 95 % interval */
};

enum { LAW_POINTS = 3 /* a fit needs so many */ };

/* The constant stays zero unless it makes the fit better than chance does. */
struct power_law power_law_fit(const struct law_point *points, size_t count);

double power_curve_at(const struct power_curve *curve, double n);

/* The laws that have names. */
enum usual_law {
    LAW_CONSTANT,
    LAW_LOG_N,
    LAW_N,
    LAW_N_LOG_N,
    LAW_N_2,
    LAW_N_2_LOG_N,
    LAW_N_3,
    USUAL_LAWS,
};
extern const char *const usual_law_names[USUAL_LAWS]; /* "1", "log n", "n", ... */

struct usual_fit {
    enum usual_law law;
    double constant, factor;
};

/* The one with the smallest error. */
struct usual_fit usual_law_find(const struct law_point *points, size_t count);

double usual_law_at(const struct usual_fit *fit, double n);

/* Where one law ends and another begins, as at the size of a cache. */
struct law_change {
    size_t first; /* point of the second law; zero if one law holds for all */
    double at;    /* between the points on both sides */
    struct power_law below, above;
};

/* Two laws must be much better than one, and differ by much. Each has three points or more. */
struct law_change law_change_find(const struct law_point *points, size_t count);

#endif
