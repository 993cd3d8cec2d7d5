/* Fits power laws. Errors are logarithms, as those of times are relative. A fit begins with the least sum of absolute
 * errors, which a few wrong points do not move. Then it is the one of least squares, in which points that are far from
 * it do not count. */
#include "base/power_law.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "base/statistics.h"

const char *const usual_law_names[USUAL_LAWS] = {
    [LAW_CONSTANT] = "1", [LAW_LOG_N] = "log n",         [LAW_N] = "n",     [LAW_N_LOG_N] = "n log n",
    [LAW_N_2] = "n^2",    [LAW_N_2_LOG_N] = "n^2 log n", [LAW_N_3] = "n^3",
};

/* ---- a constant and a factor ---- */

struct law_fit {
    const struct law_point *points;
    size_t count;
    double unit;      /* the geometric mean of all n */
    double *shape;    /* by point: what the factor multiplies */
    double *weights;  /* by point: of the equations */
    double *errors;   /* by point: the logarithm of the time over that of the fit */
    double *trust;    /* by point: how much it counts at first */
    double *counts;   /* by point: the same, less if it is far from the fit */
    bool no_constant; /* t = b * n^k */
    struct power_curve curve;
};

/* A median of few calls is less certain. Beyond some calls, what is left is not chance. */
static double law_trust(const struct law_point *p)
{
    static const double enough = 4;
    const double calls = (double)p->calls;
    return calls / (calls + enough);
}

static struct law_fit law_fit_begin(const struct law_point *points, size_t count)
{
    struct law_fit f = { .points = points, .count = count };
    double logs = 0;
    double **lists[] = { &f.shape, &f.weights, &f.errors, &f.trust, &f.counts };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = need_memory(count + 1, sizeof **lists[i]);
    for (size_t i = 0; i < count; i++) {
        f.trust[i] = f.counts[i] = law_trust(&points[i]);
        logs += log(points[i].n);
    }
    f.curve.unit = f.unit = count ? exp(logs / (double)count) : 1;
    return f;
}

static void law_fit_drop(struct law_fit *f)
{
    free(f->shape);
    free(f->weights);
    free(f->errors);
    free(f->trust);
    free(f->counts);
}

/* Minimises the weighted squares of the errors. Neither number is negative. */
static void law_solve(struct law_fit *f)
{
    static const double alike = 1e-12; /* the shape is constant */
    double uu = 0, uv = 0, vv = 0, u = 0, v = 0;
    for (size_t i = 0; i < f->count; i++) {
        const double one = 1 / f->points[i].time, other = f->shape[i] / f->points[i].time, w = f->weights[i];
        uu += w * one * one;
        uv += w * one * other;
        vv += w * other * other;
        u += w * one;
        v += w * other;
    }
    const double divisor = uu * vv - uv * uv;
    const bool both = !f->no_constant && divisor > alike * uu * vv;
    f->curve.constant = both ? fmax(0, (u * vv - v * uv) / divisor) : 0;
    f->curve.factor = both ? (uu * v - uv * u) / divisor : 0;
    if (!(f->curve.constant > 0))
        f->curve.factor = vv > 0 ? v / vv : 0;
    if (f->curve.factor < 0) {
        f->curve.factor = 0;
        f->curve.constant = u / uu;
    }
}

/* The time of the fit. A shape can be zero, and errors must have logarithms. */
static double law_time(const struct law_fit *f, size_t i)
{
    static const double least = 1e-6;
    return fmax(f->curve.constant + f->curve.factor * f->shape[i], least * f->points[i].time);
}

/* Weights with which the solver of linear equations minimises the squares of errors that are logarithms, or their
 * absolute values. `trust` is by point. */
static void law_weigh_errors(struct law_fit *f, const double *trust, bool absolute)
{
    static const double least = 1e-7;
    for (size_t i = 0; i < f->count; i++) {
        const double ratio = law_time(f, i) / f->points[i].time, error = fabs(log(ratio));
        const double slope = absolute ? 1 : error, distance = fabs(1 - ratio) * ratio;
        f->weights[i] = trust[i] * (error > least ? slope / distance : absolute ? 1 / least : 1);
    }
}

/* Fits the constant and the factor to the shape. Returns the sum of the errors' squares, or of their absolute values,
 * each times its point's trust. */
static double law_fit_shape(struct law_fit *f, const double *trust, bool absolute)
{
    const int rounds = absolute ? 20 : 4;
    double sum = 0;
    for (size_t i = 0; i < f->count; i++)
        f->weights[i] = trust[i];
    law_solve(f);
    for (int round = 0; round < rounds; round++) {
        law_weigh_errors(f, trust, absolute);
        law_solve(f);
    }
    for (size_t i = 0; i < f->count; i++) {
        f->errors[i] = log(f->points[i].time / law_time(f, i));
        sum += trust[i] * (absolute ? fabs(f->errors[i]) : f->errors[i] * f->errors[i]);
    }
    return sum;
}

static double law_least_squares(struct law_fit *f)
{
    return law_fit_shape(f, f->counts, false);
}

static double law_least_distances(struct law_fit *f)
{
    return law_fit_shape(f, f->trust, true);
}

/* ---- the exponent ---- */

static const double exponent_least = -3, exponent_most = 8, exponent_step = 0.1;

typedef double law_measure(struct law_fit *f);

static double law_try(struct law_fit *f, double exponent, law_measure *measure)
{
    f->curve.exponent = exponent;
    for (size_t i = 0; i < f->count; i++)
        f->shape[i] = pow(f->points[i].n / f->unit, exponent);
    return measure(f);
}

/* Narrows the range around the smallest sum by the golden section. */
static double law_narrow(struct law_fit *f, double from, double to, law_measure *measure)
{
    static const double golden = 0.6180339887498949, enough = 1e-7;
    double left = to - golden * (to - from), right = from + golden * (to - from);
    double of_left = law_try(f, left, measure), of_right = law_try(f, right, measure);
    while (to - from > enough) {
        if (of_left <= of_right) {
            to = right;
            right = left;
            of_right = of_left;
            left = to - golden * (to - from);
            of_left = law_try(f, left, measure);
        } else {
            from = left;
            left = right;
            of_left = of_right;
            right = from + golden * (to - from);
            of_right = law_try(f, right, measure);
        }
    }
    return law_try(f, (from + to) / 2, measure);
}

/* Returns the smallest sum. The fit has its curve and errors then. */
static double law_search(struct law_fit *f, law_measure *measure)
{
    double best = 0, least = INFINITY;
    const int steps = (int)lround((exponent_most - exponent_least) / exponent_step);
    for (int i = 0; i <= steps; i++) {
        const double exponent = exponent_least + i * exponent_step, sum = law_try(f, exponent, measure);
        if (sum < least) {
            least = sum;
            best = exponent;
        }
    }
    return law_narrow(f, fmax(best - exponent_step, exponent_least), fmin(best + exponent_step, exponent_most),
                      measure);
}

/* ---- points that do not count ---- */

/* How far points usually are from the fit, which goes through as many points as it has parameters. */
static double law_spread(const struct law_fit *f)
{
    static const double normal = 1.4826, least = 1e-6;
    enum { PARAMETERS = 3 };
    double *sizes = need_memory(f->count, sizeof *sizes);
    for (size_t i = 0; i < f->count; i++)
        sizes[i] = fabs(f->errors[i]);
    qsort(sizes, f->count, sizeof *sizes, compare_doubles);
    const size_t first = f->count > PARAMETERS ? PARAMETERS : f->count - 1;
    const double median = sizes[first + (f->count - first) / 2];
    free(sizes);
    return fmax(least, normal * median);
}

/* Tukey's weights. */
static void law_weigh(struct law_fit *f, double spread)
{
    static const double far = 4.685;
    for (size_t i = 0; i < f->count; i++) {
        const double distance = f->errors[i] / (far * spread), rest = 1 - distance * distance;
        f->counts[i] = fabs(distance) < 1 ? f->trust[i] * rest * rest : 0;
    }
}

static size_t law_counting_points(const struct law_fit *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        count += f->counts[i] > 0;
    return count;
}

/* ---- the interval ---- */

/* The square of Student's t for 95 %. */
static double law_chance(double degrees)
{
    double from = 1, to = 20;
    while (to - from > 1e-9) {
        const double middle = (from + to) / 2;
        if (student_two_sided(middle, degrees) > 0.05)
            from = middle;
        else
            to = middle;
    }
    return from * from;
}

/* The curve on one side of the best exponent at which the sum reaches the limit, or the last exponent. */
static struct power_curve law_find_end(struct law_fit *f, double best, double end, double limit)
{
    double inside = best, outside = end;
    if (law_try(f, end, law_least_squares) <= limit)
        return f->curve;
    while (fabs(outside - inside) > 1e-7) {
        const double middle = (inside + outside) / 2;
        if (law_try(f, middle, law_least_squares) <= limit)
            inside = middle;
        else
            outside = middle;
    }
    law_try(f, inside, law_least_squares);
    return f->curve;
}

/* How many points count: half of one that counts half as much as it is trusted. */
static double law_effective_points(const struct law_fit *f)
{
    double points = 0;
    for (size_t i = 0; i < f->count; i++)
        points += f->counts[i] / f->trust[i];
    return points;
}

/* Tukey's weights are less than 1 also for usual errors, so that the sum is too small, and more so of few points: this
 * is Huber's correction for errors that are normal. */
static double law_widening(double parameters, double points)
{
    static const double weighted = 1.218, few = 0.162;
    const double more = 1 + few * parameters / points;
    return weighted * more * more;
}

static void law_find_interval(struct law_fit *f, struct power_law *law, double sum)
{
    const size_t counting = law_counting_points(f), parameters = f->no_constant ? 2 : 3;
    law->certain = counting > parameters;
    law->low = law->high = law->best;
    if (!law->certain)
        return;
    const double points = law_effective_points(f), degrees = fmax(1, points - (double)parameters);
    const double limit = sum * (1 + law_widening((double)parameters, points) * law_chance(degrees) / degrees);
    law->low = law_find_end(f, law->best.exponent, exponent_least, limit);
    law->high = law_find_end(f, law->best.exponent, exponent_most, limit);
}

/* ---- one law ---- */

/* Finds which points count. Returns how far these are from the fit. */
static double law_settle(struct law_fit *f)
{
    enum { ROUNDS = 5 };
    law_search(f, law_least_distances);
    const double spread = law_spread(f);
    law_weigh(f, spread);
    for (int round = 0; round < ROUNDS; round++) {
        law_search(f, law_least_squares);
        law_weigh(f, spread);
    }
    return spread;
}

/* Whether a constant makes the fit better than chance does. The fit with one has settled to that spread. It must not
 * be that only a wrong point needs the constant. */
static bool law_needs_constant(struct law_fit *f, double spread)
{
    static const double nothing = 1e-12;
    const double with = law_search(f, law_least_squares);
    const size_t counting = law_counting_points(f);
    f->no_constant = true;
    const double without = law_search(f, law_least_squares);
    if (counting <= LAW_POINTS || without <= nothing || law_settle(f) <= spread)
        return false;
    const double degrees = (double)(counting - LAW_POINTS);
    return (without - with) * degrees > with * law_chance(degrees);
}

struct power_law power_law_fit(const struct law_point *points, size_t count)
{
    struct power_law law = { .certain = false };
    struct law_fit f = law_fit_begin(points, count);
    const double spread = law_settle(&f);
    f.no_constant = !law_needs_constant(&f, spread);
    law_settle(&f);
    const double sum = law_search(&f, law_least_squares);
    law.best = f.curve;
    law_find_interval(&f, &law, sum);
    law_fit_drop(&f);
    return law;
}

double power_curve_at(const struct power_curve *curve, double n)
{
    return curve->constant + curve->factor * pow(n / curve->unit, curve->exponent);
}

/* ---- usual laws ---- */

static double usual_law_shape(enum usual_law law, double n)
{
    const double logarithm = fmax(0, log(n));
    switch (law) {
    case LAW_LOG_N:
        return logarithm;
    case LAW_N:
        return n;
    case LAW_N_LOG_N:
        return n * logarithm;
    case LAW_N_2:
        return n * n;
    case LAW_N_2_LOG_N:
        return n * n * logarithm;
    case LAW_N_3:
        return n * n * n;
    default:
        return 1;
    }
}

struct usual_fit usual_law_find(const struct law_point *points, size_t count)
{
    static const double better = 1 - 1e-9; /* equal ones: the simplest */
    struct usual_fit best = { .law = LAW_CONSTANT };
    double least = INFINITY;
    struct law_fit f = law_fit_begin(points, count);
    for (int law = 0; law < USUAL_LAWS; law++) {
        for (size_t i = 0; i < count; i++)
            f.shape[i] = usual_law_shape((enum usual_law)law, points[i].n);
        const double sum = law_least_distances(&f);
        if (sum >= least * better)
            continue;
        least = sum;
        best = (struct usual_fit){ (enum usual_law)law, f.curve.constant, f.curve.factor };
    }
    law_fit_drop(&f);
    return best;
}

double usual_law_at(const struct usual_fit *fit, double n)
{
    return fit->constant + fit->factor * usual_law_shape(fit->law, n);
}

/* ---- two laws ---- */

static double law_distances(const struct law_point *points, size_t count, bool no_constant)
{
    struct law_fit f = law_fit_begin(points, count);
    f.no_constant = no_constant;
    const double sum = law_search(&f, law_least_distances);
    law_fit_drop(&f);
    return sum;
}

/* Whether the laws differ by much: in their exponents, or by a step between them. */
static bool law_differs(const struct law_change *c)
{
    static const double exponents = 0.3, step = 1.25;
    const double below = power_curve_at(&c->below.best, c->at), above = power_curve_at(&c->above.best, c->at);
    return fabs(c->above.best.exponent - c->below.best.exponent) > exponents || above > below * step ||
           below > above * step;
}

struct law_change law_change_find(const struct law_point *points, size_t count)
{
    enum { ONE = 3, TWO = 5 /* parameters */ };
    static const double much = 3;
    struct law_change none = { .first = 0 }, change = none;
    if (count < TWO + 2)
        return none;
    double least = law_distances(points, count, false) / (double)(count - ONE) / much;
    for (size_t i = LAW_POINTS; i + LAW_POINTS <= count; i++) {
        const double sum = law_distances(points, i, true) + law_distances(points + i, count - i, true);
        if (sum / (double)(count - TWO) < least) {
            least = sum / (double)(count - TWO);
            change.first = i;
        }
    }
    if (!change.first)
        return none;
    change.at = sqrt(points[change.first - 1].n * points[change.first].n);
    change.below = power_law_fit(points, change.first);
    change.above = power_law_fit(points + change.first, count - change.first);
    return law_differs(&change) ? change : none;
}
