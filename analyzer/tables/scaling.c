/* Puts calls with their values into points, and finds the laws of the points. */
#include "tables/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

/* ---- groups of calls ---- */

enum { MOST_POINTS = 40 };

struct scaling_groups {
    size_t *of_call;
    size_t count;
};

struct scaling_place {
    double value;
    size_t call;
};

/* Values of one range have one number. Without a width, each value has its own. */
static double scaling_range(double value, double width)
{
    return width > 0 ? floor(log2(value) / width) : value;
}

static size_t scaling_count_ranges(const struct scaling_place *places, size_t count, double width)
{
    size_t ranges = 0;
    for (size_t i = 0; i < count; i++)
        ranges += !i || scaling_range(places[i].value, width) != scaling_range(places[i - 1].value, width);
    return ranges;
}

/* Values have points of their own. More become ranges, from an eighth of a doubling on. */
static struct scaling_groups scaling_group(const struct scaling_calls *calls)
{
    static const double finest = 0.125;
    struct scaling_groups g = { .of_call = need_memory(calls->count + 1, sizeof *g.of_call) };
    struct scaling_place *places = need_memory(calls->count + 1, sizeof *places);
    for (size_t i = 0; i < calls->count; i++)
        places[i] = (struct scaling_place){ calls->values[i], i };
    if (calls->count)
        qsort(places, calls->count, sizeof *places, compare_doubles);
    double width = 0;
    while (scaling_count_ranges(places, calls->count, width) > MOST_POINTS)
        width = width > 0 ? 2 * width : finest;
    for (size_t i = 0; i < calls->count; i++) {
        g.count += !i || scaling_range(places[i].value, width) != scaling_range(places[i - 1].value, width);
        g.of_call[places[i].call] = g.count - 1;
    }
    free(places);
    return g;
}

_Static_assert(offsetof(struct scaling_place, value) == 0, "compare_doubles reads the first member");

/* ---- medians ---- */

/* The medians of the groups. As P50 elsewhere: of an even number, the lower one of both in the middle. The caller frees
 * them. */
static double *scaling_medians(const struct scaling_groups *g, const double *by_call, size_t calls)
{
    double *medians = need_memory(g->count + 1, sizeof *medians);
    double *numbers = need_memory(calls + 1, sizeof *numbers);
    size_t *first = need_memory(g->count + 2, sizeof *first); /* numbers of group i begin at first[i] */
    for (size_t i = 0; i < calls; i++)
        first[g->of_call[i] + 2]++;
    for (size_t i = 1; i <= g->count; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < calls; i++)
        numbers[first[g->of_call[i] + 1]++] = by_call[i];
    for (size_t i = 0; i < g->count; i++) {
        const size_t count = first[i + 1] - first[i];
        qsort(&numbers[first[i]], count, sizeof *numbers, compare_doubles);
        medians[i] = numbers[first[i] + (count - 1) / 2];
    }
    free(first);
    free(numbers);
    return medians;
}

/* The medians of a series' times. */
static double *scaling_median_times(const struct scaling_calls *calls, const struct scaling_groups *g,
                                    const struct scaling_series *series)
{
    double *times = need_memory(calls->count + 1, sizeof *times);
    for (size_t i = 0; i < series->count; i++)
        times[series->times[i].call] += series->times[i].ns;
    double *medians = scaling_medians(g, times, calls->count);
    free(times);
    return medians;
}

/* ---- points ---- */

static void scaling_fill_points(struct scaling *s, const struct scaling_calls *calls, const struct scaling_groups *g,
                                const double *times)
{
    double *values = scaling_medians(g, calls->values, calls->count);
    s->points = need_memory(g->count + 1, sizeof *s->points);
    s->point_count = g->count;
    s->calls = calls->count;
    for (size_t i = 0; i < g->count; i++)
        s->points[i] = (struct scaling_point){ .value = values[i], .median = times[i] };
    for (size_t i = 0; i < calls->count; i++)
        s->points[g->of_call[i]].calls++;
    free(values);
}

/* Those of a series whose times are above those of probes. There is room for all. */
static size_t scaling_choose_points(const struct scaling *s, const double *times, double resolution,
                                    struct law_point *chosen)
{
    size_t count = 0;
    for (size_t i = 0; i < s->point_count; i++)
        if (times[i] > resolution)
            chosen[count++] = (struct law_point){ s->points[i].value, times[i], s->points[i].calls };
    return count;
}

static void scaling_find_points(struct scaling *s, const struct scaling_calls *calls, const struct scaling_groups *g)
{
    double *times = scaling_median_times(calls, g, &calls->series[SERIES_WHOLE]);
    scaling_fill_points(s, calls, g, times);
    s->fitted = need_memory(s->point_count + 1, sizeof *s->fitted);
    s->fitted_count = scaling_choose_points(s, times, calls->resolution, s->fitted);
    free(times);
}

/* ---- the code below ---- */

/* Whether the series has a law, and time that matters: 1 % of the calls with the largest value. */
static bool scaling_find_code(const struct scaling *s, const struct scaling_calls *calls,
                              const struct scaling_groups *g, const struct scaling_series *series,
                              struct scaling_code *code)
{
    static const double matters = 1;
    const size_t last = s->point_count - 1;
    struct law_point *points = need_memory(s->point_count + 1, sizeof *points);
    double *times = scaling_median_times(calls, g, series);
    const size_t count = scaling_choose_points(s, times, calls->resolution, points);
    *code = (struct scaling_code){ .name = series->name, .module = series->module };
    code->share_percent = 100 * times[last] / s->points[last].median;
    const bool found = count >= LAW_POINTS && code->share_percent >= matters;
    if (found)
        code->law = power_law_fit(points, count);
    free(times);
    free(points);
    return found;
}

/* An exponent that is uncertain counts as the least that it may be. */
static int scaling_compare_code(const void *a, const void *b)
{
    const struct scaling_code *x = a, *y = b;
    if (x->law.certain != y->law.certain)
        return x->law.certain ? -1 : 1;
    const double of_x = x->law.low.exponent, of_y = y->law.low.exponent;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return (x->share_percent < y->share_percent) - (x->share_percent > y->share_percent);
}

static void scaling_list_code(struct scaling *s, const struct scaling_calls *calls, const struct scaling_groups *g)
{
    s->code = need_memory(calls->series_count + 1, sizeof *s->code);
    for (size_t i = SERIES_OWN; i < calls->series_count && !calls->total; i++)
        s->code_count += scaling_find_code(s, calls, g, &calls->series[i], &s->code[s->code_count]);
    if (s->code_count)
        qsort(s->code, s->code_count, sizeof *s->code, scaling_compare_code);
}

/* ---- the laws ---- */

bool scaling_find(struct scaling *s, const struct scaling_calls *calls, struct error *error)
{
    *s = (struct scaling){ .points = NULL };
    struct scaling_groups g = scaling_group(calls);
    scaling_find_points(s, calls, &g);
    const bool enough = s->fitted_count >= LAW_POINTS;
    if (enough) {
        s->law = power_law_fit(s->fitted, s->fitted_count);
        s->usual = usual_law_find(s->fitted, s->fitted_count);
        s->change = law_change_find(s->fitted, s->fitted_count);
        scaling_list_code(s, calls, &g);
    } else {
        error_set(error,
                  "a law needs calls with three different values above zero, and times above those of the "
                  "probes; there are %zu",
                  s->fitted_count);
        scaling_drop(s);
    }
    free(g.of_call);
    return enough;
}

void scaling_drop(struct scaling *s)
{
    free(s->points);
    free(s->fitted);
    free(s->code);
}

struct scaling_prediction scaling_predict(const struct scaling *s, double value, bool usual)
{
    if (usual)
        return (struct scaling_prediction){ .ns = usual_law_at(&s->usual, value) };
    const struct power_law *law = &s->law;
    if (s->change.first)
        law = value < s->change.at ? &s->change.below : &s->change.above;
    const double low = power_curve_at(&law->low, value), high = power_curve_at(&law->high, value);
    return (struct scaling_prediction){
        .ns = power_curve_at(&law->best, value),
        .low = fmin(low, high),
        .high = fmax(low, high),
        .certain = law->certain,
    };
}

/* ---- text ---- */

double scaling_round(double number, double part)
{
    return round(number * part) / part + 0.0;
}

char *scaling_law_text(const struct power_law *law, const char *n)
{
    const double best = scaling_round(law->best.exponent, 100), low = scaling_round(law->low.exponent, 100),
                 high = scaling_round(law->high.exponent, 100);
    if (!law->certain)
        return need_text("%s^%.2f (too few values for an interval)", n, best);
    return need_text("%s^%.2f (95 %%: %.2f to %.2f)", n, best, low, high);
}

/* ---- rows ---- */

char *scaling_number(double number)
{
    return need_text("%.15g", number);
}

static uint64_t scaling_whole(double ns)
{
    static const double most = 1e19;
    return ns > 0 ? (uint64_t)fmin(ns + 0.5, most) : 0;
}

struct table view_scaling(const struct scaling *s, bool usual)
{
    enum { VALUE, CALLS, MEDIAN, LAW, COLUMNS };
    static const struct column columns[COLUMNS] = {
        [VALUE] = { "value", "VALUE", CELL_DIGITS, USE_ALWAYS, false },
        [CALLS] = { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
        [MEDIAN] = { "median", "MEDIAN", CELL_NS, USE_ALWAYS, false },
        [LAW] = { "law", "LAW", CELL_NS, USE_ALWAYS, false },
    };
    struct table t = table_make(columns, COLUMNS, NULL);
    t.first_value = CALLS;
    for (size_t i = 0; i < s->point_count; i++) {
        const struct scaling_point *p = &s->points[i];
        struct cell *row = table_row(&t);
        char *value = scaling_number(p->value);
        cell_text(&row[VALUE], value);
        free(value);
        cell_number(&row[CALLS], p->calls);
        cell_number(&row[MEDIAN], scaling_whole(p->median));
        cell_number(&row[LAW], scaling_whole(scaling_predict(s, p->value, usual).ns));
    }
    return t;
}
