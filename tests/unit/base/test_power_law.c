/* Laws that are planted into points are found: exactly without noise, and closely with noise and wrong points. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/power_law.h"

TestSuite(unit_power_law, .timeout = 600);

enum { SIZES = 7, CALLS = 6 };

/* n is 100, 200, ... 6400. */
static double law_size(size_t i)
{
    return 100 * pow(2, (double)i);
}

static void law_plant(struct law_point points[SIZES], double constant, double exponent)
{
    for (size_t i = 0; i < SIZES; i++)
        points[i] = (struct law_point){ law_size(i), constant + 3 * pow(law_size(i), exponent), CALLS };
}

static void law_expect(const struct power_law *law, double exponent, double tolerance)
{
    cr_assert(law->certain);
    cr_assert(fabs(law->best.exponent - exponent) <= tolerance, "%f is not %f", law->best.exponent, exponent);
}

/* ---- without noise ---- */

Test(unit_power_law, is_exact)
{
    static const double exponents[] = { 0, 0.5, 1, 1.5, 2, 3 };
    struct law_point points[SIZES];
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        law_plant(points, 0, exponents[i]);
        const struct power_law law = power_law_fit(points, SIZES);
        law_expect(&law, exponents[i], 1e-4);
        cr_assert(law.high.exponent - law.low.exponent < 1e-3);
        cr_assert(fabs(power_curve_at(&law.best, 10000) / (3 * pow(10000, exponents[i])) - 1) < 1e-3);
        cr_assert(eq(sz, law_change_find(points, SIZES).first, 0));
    }
}

Test(unit_power_law, is_exact_with_a_constant)
{
    struct law_point points[SIZES];
    for (double exponent = 1; exponent < 2.1; exponent += 0.5) {
        law_plant(points, 5000, exponent);
        const struct power_law law = power_law_fit(points, SIZES);
        law_expect(&law, exponent, 1e-3);
        cr_assert(fabs(law.best.constant / 5000 - 1) < 1e-2);
    }
}

Test(unit_power_law, falls)
{
    struct law_point points[SIZES];
    law_plant(points, 0, -1);
    const struct power_law law = power_law_fit(points, SIZES);
    law_expect(&law, -1, 1e-4);
}

/* An exponent is in its own interval, also if the law is steeper than any that is looked for. */
Test(unit_power_law, steeper_than_the_steepest)
{
    static const double exponents[] = { -5, 10 }, ends[] = { -3, 8 };
    struct law_point points[SIZES];
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        law_plant(points, 0, exponents[i]);
        const struct power_law law = power_law_fit(points, SIZES);
        law_expect(&law, ends[i], 1e-4);
        cr_assert(law.low.exponent <= law.best.exponent && law.best.exponent <= law.high.exponent, "%f: %f to %f",
                  law.best.exponent, law.low.exponent, law.high.exponent);
    }
}

/* One of seven points is wrong by a factor. */
Test(unit_power_law, ignores_wrong_points)
{
    struct law_point points[SIZES];
    for (size_t wrong = 0; wrong < SIZES; wrong++) {
        law_plant(points, 0, 1.5);
        points[wrong].time *= 3;
        const struct power_law law = power_law_fit(points, SIZES);
        law_expect(&law, 1.5, 1e-2);
    }
}

Test(unit_power_law, of_few_points_has_no_interval)
{
    const struct law_point points[] = { { 10, 100, 1 }, { 20, 400, 1 } };
    const struct power_law law = power_law_fit(points, 2);
    cr_assert(not(law.certain));
    cr_assert(fabs(law.best.exponent - 2) < 1e-3);
}

/* ---- the usual laws ---- */

Test(unit_power_law, names_the_usual_law)
{
    struct law_point points[SIZES];
    for (int law = 0; law < USUAL_LAWS; law++) {
        for (size_t i = 0; i < SIZES; i++) {
            const double n = law_size(i), logarithm = log(n);
            const double times[] = { 1, logarithm, n, n * logarithm, n * n, n * n * logarithm, n * n * n };
            points[i] = (struct law_point){ n, 10 + 7 * times[law], CALLS };
        }
        const struct usual_fit fit = usual_law_find(points, SIZES);
        cr_assert(eq(int, (int)fit.law, law), "%s is not %s", usual_law_names[fit.law], usual_law_names[law]);
        cr_assert(fabs(usual_law_at(&fit, points[SIZES - 1].n) / points[SIZES - 1].time - 1) < 1e-6);
    }
}

/* ---- noise ---- */

static uint64_t random_state;

static double law_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random_state >> 11) / (double)(UINT64_C(1) << 53);
}

/* About normal. */
static double law_noise(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += law_random();
    return sum;
}

static int law_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of calls with 4 % of noise, one in 12 of which another program has made up to ten times as long. */
static double law_measure(double time)
{
    double calls[CALLS];
    for (size_t i = 0; i < CALLS; i++) {
        calls[i] = time * exp(0.04 * law_noise());
        if (law_random() < 1.0 / 12)
            calls[i] *= 1 + 9 * law_random();
    }
    qsort(calls, CALLS, sizeof *calls, law_compare);
    return calls[(CALLS - 1) / 2];
}

static const double planted[] = { 1, 1.5, 2 };

/* Each exponent is within 0.05 in at least 39 of 40 runs, and its interval holds it in at least 34. */
Test(unit_power_law, is_close_with_noise)
{
    enum { RUNS = 40 };
    for (size_t law = 0; law < sizeof planted / sizeof *planted; law++) {
        int close = 0, held = 0;
        random_state = 1;
        for (int run = 0; run < RUNS; run++) {
            struct law_point points[SIZES];
            for (size_t i = 0; i < SIZES; i++)
                points[i] = (struct law_point){ law_size(i), law_measure(pow(law_size(i), planted[law])), CALLS };
            const struct power_law found = power_law_fit(points, SIZES);
            close += fabs(found.best.exponent - planted[law]) <= 0.05;
            held += found.low.exponent <= planted[law] && planted[law] <= found.high.exponent;
        }
        cr_assert(ge(int, close, RUNS - 1), "exponent %g: %d of %d", planted[law], close, RUNS);
        cr_assert(ge(int, held, RUNS - 6), "exponent %g: %d of %d", planted[law], held, RUNS);
    }
}

/* Of 100 intervals, some 95 hold the exponent, with few sizes and with more. */
static int law_count_held(size_t sizes, double exponent, int runs)
{
    int held = 0;
    for (int run = 0; run < runs; run++) {
        struct law_point points[2 * SIZES];
        for (size_t i = 0; i < sizes; i++) {
            const double n = 100 * pow(64, (double)i / (double)(sizes - 1));
            points[i] = (struct law_point){ n, law_measure(pow(n, exponent)), CALLS };
        }
        const struct power_law found = power_law_fit(points, sizes);
        held += found.low.exponent <= exponent && exponent <= found.high.exponent;
    }
    return held;
}

Test(unit_power_law, intervals_hold_the_exponent_as_often_as_they_say)
{
    enum { RUNS = 150, LAWS = 3 };
    for (size_t sizes = SIZES; sizes <= 2 * SIZES; sizes += SIZES) {
        int held = 0;
        random_state = 5;
        for (size_t law = 0; law < LAWS; law++)
            held += law_count_held(sizes, planted[law], RUNS);
        cr_assert(ge(int, 100 * held, 92 * LAWS * RUNS), "%zu sizes: %d", sizes, held);
        cr_assert(le(int, 100 * held, 98 * LAWS * RUNS), "%zu sizes: %d", sizes, held);
    }
}

Test(unit_power_law, tells_n_log_n_from_n_with_noise)
{
    enum { RUNS = 40 };
    random_state = 2;
    for (int run = 0; run < RUNS; run++) {
        struct law_point linear[SIZES], more[SIZES];
        for (size_t i = 0; i < SIZES; i++) {
            const double n = law_size(i);
            linear[i] = (struct law_point){ n, law_measure(n), CALLS };
            more[i] = (struct law_point){ n, law_measure(n * log(n)), CALLS };
        }
        cr_assert(eq(int, (int)usual_law_find(linear, SIZES).law, LAW_N), "run %d", run);
        cr_assert(eq(int, (int)usual_law_find(more, SIZES).law, LAW_N_LOG_N), "run %d", run);
    }
}

/* ---- two laws ---- */

/* Below 1000 the time is linear. From there on, it is quadratic, as if a list left the cache. */
Test(unit_power_law, finds_where_the_law_changes)
{
    enum { POINTS = 10 };
    struct law_point points[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        const double n = law_size(i) / 2, time = n < 1000 ? 5 * n : 5 * n * n / 1000;
        points[i] = (struct law_point){ n, time, CALLS };
    }
    const struct law_change change = law_change_find(points, POINTS);
    cr_assert(eq(sz, change.first, 5));
    cr_assert(fabs(change.at - sqrt(800.0 * 1600)) < 1e-6);
    law_expect(&change.below, 1, 1e-3);
    law_expect(&change.above, 2, 1e-3);
}

Test(unit_power_law, has_steps)
{
    enum { POINTS = 10 };
    struct law_point points[POINTS];
    for (size_t i = 0; i < POINTS; i++)
        points[i] = (struct law_point){ law_size(i), (i < 4 ? 1 : 3) * law_size(i), CALLS };
    cr_assert(eq(sz, law_change_find(points, POINTS).first, 4));
}

Test(unit_power_law, of_noise_does_not_change)
{
    random_state = 3;
    for (int run = 0; run < 20; run++) {
        struct law_point points[SIZES];
        for (size_t i = 0; i < SIZES; i++)
            points[i] = (struct law_point){ law_size(i), law_measure(law_size(i)), CALLS };
        cr_assert(eq(sz, law_change_find(points, SIZES).first, 0), "run %d", run);
    }
}
