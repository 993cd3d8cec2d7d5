/* Tests the borders between builds. */
#include "fleet/trend.h"

#include <math.h>

#include "base/statistics.h"

static struct sample trend_sample(const struct trend *t, size_t first, size_t end)
{
    return sample_of(t->values + t->begins[first], t->begins[end] - t->begins[first]);
}

/* A side of one run has no variance of its own: then it is that of the other side. */
static double trend_test(struct sample x, struct sample y)
{
    if (x.count > 1 && y.count > 1)
        return welch_test(&x, &y);
    const struct sample *many = x.count > 1 ? &x : &y;
    if (many->count < 2)
        return 1;
    if (many->variance <= 0)
        return x.mean == y.mean ? 1 : 0;
    const double t = (x.mean - y.mean) / sqrt(many->variance * (1 / (double)x.count + 1 / (double)y.count));
    return student_two_sided(t, (double)(many->count - 1));
}

static double trend_difference(const struct trend *t, size_t build)
{
    const double before = trend_sample(t, build - 1, build).mean, after = trend_sample(t, build, build + 1).mean;
    if (before <= 0)
        return after > 0 ? INFINITY : 0;
    return fabs(after - before) / before;
}

size_t trend_find_change(const struct trend *t)
{
    size_t found = 0;
    double least = 0.05, largest = 0;
    for (size_t build = 1; build < t->builds; build++) {
        const double difference = trend_difference(t, build);
        const double next = trend_test(trend_sample(t, build - 1, build), trend_sample(t, build, build + 1));
        const double all = trend_test(trend_sample(t, 0, build), trend_sample(t, build, t->builds));
        const double likely = fmin(next, all) * 2 * (double)(t->builds - 1);
        if (difference < 0.01 || likely > least || (likely >= least && found && difference <= largest))
            continue;
        found = build;
        least = likely;
        largest = difference;
    }
    return found;
}
