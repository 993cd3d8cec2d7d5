/* Medians of shares, and the shares far from them. */
#include "fleet/outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int outliers_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double outliers_median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, outliers_compare);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

double outlier_score(const struct outlier *o)
{
    return fabs(o->share - o->usual) / fmax(o->spread, 0.001);
}

size_t outliers_find(uint32_t function, const double *shares, size_t count, double *sorted, struct outlier *found)
{
    const double normal = 1.4826; /* standard deviations to a median distance */
    size_t outliers = 0;
    if (count < OUTLIERS_FEWEST)
        return 0;
    memcpy(sorted, shares, count * sizeof *sorted);
    const double usual = outliers_median(sorted, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(shares[i] - usual);
    const double spread = normal * outliers_median(sorted, count);
    for (size_t i = 0; i < count; i++) {
        const struct outlier o = {
            .unit = (uint32_t)i, .function = function, .share = shares[i], .usual = usual, .spread = spread
        };
        if (fabs(o.share - o.usual) >= 0.01 && outlier_score(&o) >= 5)
            found[outliers++] = o;
    }
    return outliers;
}
