/* Welch's t-test, Student's t distribution, and the adjustment of many tests. */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"

struct sample sample_of(const double *values, size_t count)
{
    struct sample s = { .count = count };
    for (size_t i = 0; i < count; i++)
        s.mean += values[i] / (double)count;
    for (size_t i = 0; i < count && count > 1; i++)
        s.variance += (values[i] - s.mean) * (values[i] - s.mean) / (double)(count - 1);
    return s;
}

struct sample sample_of_times(const double *values, size_t count)
{
    struct sample sample = sample_of(values, count);
    sample.variance = fmax(sample.variance, 1);
    return sample;
}

/* ---- Student's t ---- */

enum { MAX_STEPS = 10000 };

/* The continued fraction of the incomplete beta function, evaluated from its front by Lentz's method. */
static double statistics_beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300, enough = 1e-15;
    double value = 1, c = 1, d = 0;
    for (int step = 0; step < MAX_STEPS; step++) {
        const int half = step / 2;
        const double m = half;
        double numerator = 1;
        if (step > 0 && step % 2 == 0)
            numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        else if (step > 0)
            numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + numerator * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + numerator / c;
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        if (fabs(c * d - 1) < enough)
            break;
    }
    return value - 1;
}

/* Regularized: from 0 at x = 0 to 1 at x = 1. */
static double statistics_incomplete_beta(double x, double a, double b)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    const double front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b));
    if (x < (a + 1) / (a + b + 2)) /* the fraction converges fast only on this side */
        return front * statistics_beta_fraction(x, a, b) / a;
    return 1 - front * statistics_beta_fraction(1 - x, b, a) / b;
}

double student_two_sided(double t, double degrees)
{
    return statistics_incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

double welch_test(const struct sample *x, const struct sample *y)
{
    if (x->count < 2 || y->count < 2)
        return NAN;
    const double of_x = x->variance / (double)x->count, of_y = y->variance / (double)y->count;
    if (of_x + of_y <= 0)
        return x->mean == y->mean ? 1 : 0;
    const double t = (x->mean - y->mean) / sqrt(of_x + of_y);
    const double degrees =
        (of_x + of_y) * (of_x + of_y) / (of_x * of_x / (double)(x->count - 1) + of_y * of_y / (double)(y->count - 1));
    return student_two_sided(t, degrees);
}

/* ---- shares ---- */

static double statistics_choices(double all, double chosen)
{
    return lgamma(all + 1) - lgamma(chosen + 1) - lgamma(all - chosen + 1);
}

/* The probability of at least x of the `have` things among `of_x`, which were drawn from `of_x + of_y`. */
static double statistics_at_least(double x, double of_x, double of_y, double have)
{
    static const double enough = 1e-12;
    const double most = have < of_x ? have : of_x;
    double term = exp(statistics_choices(have, x) + statistics_choices(of_x + of_y - have, of_x - x) -
                      statistics_choices(of_x + of_y, of_x));
    double sum = 0;
    for (double k = x; k <= most && term > enough * sum; k++) {
        sum += term;
        term *= (have - k) * (of_x - k) / ((k + 1) * (of_y - have + k + 1));
    }
    return sum;
}

double share_test(uint64_t x, uint64_t of_x, uint64_t y, uint64_t of_y)
{
    const double have = (double)x + (double)y;
    const bool more = (double)x * (double)of_y > (double)y * (double)of_x;
    const double one_sided = more ? statistics_at_least((double)x, (double)of_x, (double)of_y, have)
                                  : statistics_at_least((double)y, (double)of_y, (double)of_x, have);
    return 2 * one_sided < 1 ? 2 * one_sided : 1;
}

/* ---- many tests ---- */

static int statistics_compare_places(const void *a, const void *b)
{
    const double x = **(double *const *)a, y = **(double *const *)b;
    return ORDER(x, y);
}

void adjust_for_many(double *probabilities, size_t count)
{
    double **sorted = need_memory(count, sizeof *sorted), least = 1;
    size_t tests = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(probabilities[i]))
            sorted[tests++] = &probabilities[i];
    if (tests)
        qsort(sorted, tests, sizeof *sorted, statistics_compare_places);
    for (size_t i = tests; i-- > 0;) {
        const double adjusted = *sorted[i] * (double)tests / (double)(i + 1);
        least = adjusted < least ? adjusted : least;
        *sorted[i] = least;
    }
    free(sorted);
}

bool is_significant(double probability)
{
    return probability <= 0.05;
}
