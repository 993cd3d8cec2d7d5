/* Medians of shares, and the shares far from them. */
#include "fleet/outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

static double outliers_median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_doubles);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

double outlier_score(const struct outlier *o)
{
    return fabs(o->share - o->usual) / fmax(o->spread, 0.001);
}

static void outliers_forget(struct outliers_search *s)
{
    memset(s->shares, 0, s->units * sizeof *s->shares);
    memset(s->least, 0xff, s->units * sizeof *s->least);
    memset(s->most, 0, s->units * sizeof *s->most);
}

/* Finds the outliers of the function in memory, and forgets it. */
static void outliers_find(struct outliers_search *s)
{
    const double normal = 1.4826; /* standard deviations to a median distance */
    if (s->units < OUTLIERS_FEWEST)
        return;
    memcpy(s->sorted, s->shares, s->units * sizeof *s->sorted);
    const double usual = outliers_median(s->sorted, s->units);
    for (size_t i = 0; i < s->units; i++)
        s->sorted[i] = fabs(s->shares[i] - usual);
    const double spread = normal * outliers_median(s->sorted, s->units);
    for (size_t i = 0; i < s->units; i++) {
        const struct outlier o = { .unit = (uint32_t)i,
                                   .function = s->function,
                                   .share = s->shares[i],
                                   .usual = usual,
                                   .spread = spread,
                                   .least = s->least[i],
                                   .most = s->most[i] };
        if (fabs(o.share - o.usual) < 0.01 || outlier_score(&o) < 5)
            continue;
        GROW(s->list, s->count, s->room);
        s->list[s->count++] = o;
    }
    outliers_forget(s);
}

struct outliers_search outliers_begin(const uint64_t *wholes, size_t units)
{
    struct outliers_search s = { .wholes = wholes,
                                 .units = units,
                                 .shares = need_memory(units, sizeof(double)),
                                 .sorted = need_memory(units, sizeof(double)),
                                 .least = need_memory(units, sizeof(uint64_t)),
                                 .most = need_memory(units, sizeof(uint64_t)) };
    outliers_forget(&s);
    return s;
}

void outliers_add(struct outliers_search *s, const struct outliers_part *part)
{
    const uint32_t unit = part->unit;
    if (part->function != s->function)
        outliers_find(s);
    s->function = part->function;
    s->shares[unit] += (double)part->time / (double)(s->wholes[unit] ? s->wholes[unit] : 1);
    s->least[unit] = smaller(s->least[unit], part->least);
    s->most[unit] = larger(s->most[unit], part->most);
}

static int outliers_compare(const void *a, const void *b)
{
    const struct outlier *x = a, *y = b;
    const double size = fabs(x->share - x->usual), other = fabs(y->share - y->usual);
    if (size > other || size < other)
        return size > other ? -1 : 1;
    return x->function != y->function ? ORDER(x->function, y->function) : ORDER(x->unit, y->unit);
}

void outliers_end(struct outliers_search *s)
{
    outliers_find(s);
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, outliers_compare);
}

void outliers_drop(struct outliers_search *s)
{
    free(s->list);
    free(s->shares);
    free(s->sorted);
    free(s->least);
    free(s->most);
}
