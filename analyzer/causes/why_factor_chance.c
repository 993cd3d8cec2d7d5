/*
 * Tests which factors separate the sets by more than chance: a permutation test, as for the rows. The distance of a
 * factor is how unlikely it is that so many of the slow calls have it, if these were drawn from all calls: the tail of
 * the hypergeometric distribution. So rare factors and usual ones can be compared. In each draw, the most unlikely one
 * counts. Of an axis, that is the best of all ranges: the calls of a bad time lie close together wherever it is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_options.h"
#include "causes/why_factors.h"
#include "causes/why_random.h"
#include "tables/value_ranges.h"

struct factor_test {
    const struct why_traits *traits;
    size_t calls, slow;
    double *factorials;  /* logarithms, up to that of the number of calls */
    double **tails;      /* by number of calls that have a factor: distances by number of slow ones; NULL if unused */
    uint32_t *of_traits; /* by trait: slow calls of this draw */
    uint32_t *of_bins[WHY_MOST_AXES];
    uint32_t *bin_calls[WHY_MOST_AXES]; /* all calls before the end of each bin */
};

/* ---- distances ---- */

static double factor_choices(const struct factor_test *t, size_t from, size_t take)
{
    return t->factorials[from] - t->factorials[take] - t->factorials[from - take];
}

static double *factor_make_tail(const struct factor_test *t, size_t having)
{
    const size_t most = having < t->slow ? having : t->slow, others = t->calls - having;
    double *tail = need_memory(most + 1, sizeof *tail), sum = 0;
    for (size_t k = most + 1; k-- > 0;) {
        if (t->slow - k <= others)
            sum += exp(factor_choices(t, having, k) + factor_choices(t, others, t->slow - k) -
                       factor_choices(t, t->calls, t->slow));
        tail[k] = sum > 0 && sum < 1 ? -log(sum) : sum > 0 ? 0 : HUGE_VAL;
    }
    return tail;
}

/* How unlikely it is that so many of the slow calls have what `having` calls have: minus a logarithm. */
static double factor_distance(const struct factor_test *t, size_t having, size_t slow)
{
    if (!t->tails[having])
        t->tails[having] = factor_make_tail(t, having);
    return t->tails[having][slow];
}

static struct why_range factor_best_range(const struct factor_test *t, size_t axis)
{
    const struct why_axis *a = &t->traits->axes[axis];
    struct why_range best = { .distance = -1 };
    for (size_t first = 0; first < (a->ages ? 1 : a->bins); first++) {
        size_t slow = 0;
        const size_t before = first ? t->bin_calls[axis][first - 1] : 0;
        for (size_t end = first + 1; end <= a->bins && !(first == 0 && end == a->bins); end++) {
            slow += t->of_bins[axis][end - 1];
            const double distance = factor_distance(t, t->bin_calls[axis][end - 1] - before, slow);
            if (distance > best.distance)
                best = (struct why_range){ first, end, distance };
        }
    }
    return best;
}

/* ---- draws ---- */

static void factor_clear(struct factor_test *t)
{
    for (size_t i = 0; i < t->traits->count; i++)
        t->of_traits[i] = 0;
    for (size_t i = 0; i < t->traits->axis_count; i++)
        for (size_t j = 0; j < t->traits->axes[i].bins; j++)
            t->of_bins[i][j] = 0;
}

static void factor_add_slow(struct factor_test *t, size_t call)
{
    const struct why_traits *traits = t->traits;
    for (uint32_t i = traits->first[call]; i < traits->first[call + 1]; i++)
        t->of_traits[traits->of_calls[i]]++;
    for (size_t i = 0; i < traits->axis_count; i++)
        t->of_bins[i][traits->axes[i].of_calls[call]]++;
}

static double factor_most(const struct factor_test *t)
{
    double most = 0;
    for (size_t i = 0; i < t->traits->count; i++)
        if (t->of_traits[i])
            most = fmax(most, factor_distance(t, t->traits->list[i].calls, t->of_traits[i]));
    for (size_t i = 0; i < t->traits->axis_count; i++)
        most = fmax(most, factor_best_range(t, i).distance);
    return most;
}

/* The largest distance of each draw. The caller frees them. */
static double *factor_draw_all(struct factor_test *t)
{
    double *most = need_memory(WHY_DRAWS, sizeof *most);
    size_t *order = need_memory(t->calls + 1, sizeof *order);
    uint64_t state = 0;
    for (size_t i = 0; i < t->calls; i++)
        order[i] = i;
    for (int draw = 0; draw < WHY_DRAWS; draw++) {
        factor_clear(t);
        for (size_t i = 0; i < t->slow && i < t->calls; i++)
            factor_add_slow(t, why_draw_call(&state, order, i, t->calls));
        most[draw] = factor_most(t);
    }
    free(order);
    return most;
}

static double factor_probability(const double *most, double distance)
{
    static const double alike = 1e-9;
    int count = 1;
    for (int i = 0; i < WHY_DRAWS; i++)
        count += most[i] >= distance - alike;
    return (double)count / (WHY_DRAWS + 1);
}

/* ---- factors ---- */

/* A factor differs by more than chance, and by more than a little. Takes the value, or frees it. */
static void factor_judge(struct why_factors *factors, const struct factor_test *t, const char *name, char *value,
                         size_t having, size_t slow, double probability)
{
    static const double significant = 0.05, little = 0.1;
    const double slow_share = (double)slow / (double)t->slow;
    const double usual_share = (double)(having - slow) / (double)(t->calls - t->slow);
    if (probability > significant || slow_share - usual_share < little) {
        free(value);
        return;
    }
    GROW(factors->list, factors->count, factors->room);
    factors->list[factors->count++] = (struct why_factor){
        .name = name, .value = value, .shares = { slow_share, usual_share }, .probability = probability
    };
}

static char *factor_argument_text(const struct why_axis *axis, const struct why_range *range)
{
    const struct recorded_value *v = &axis->argument;
    const size_t last = range->end - 1;
    char *from = recorded_value_text(v, &axis->begins[range->first]), *to = recorded_value_text(v, &axis->end[last]);
    char *text = strcmp(from, to) == 0      ? need_text("%s=%s", v->name, from)
                 : range->first == 0        ? need_text("%s up to %s", v->name, to)
                 : range->end == axis->bins ? need_text("%s from %s on", v->name, from)
                                            : need_text("%s from %s to %s", v->name, from, to);
    free(from);
    free(to);
    return text;
}

static char *factor_range_text(const struct why_axis *axis, const struct why_range *range)
{
    if (axis->is_argument)
        return factor_argument_text(axis, range);
    char begin[TIME_TEXT], end[TIME_TEXT];
    text_time(axis->begins[range->first], begin);
    text_time(axis->end[range->end - 1], end);
    return axis->ages ? need_text("up to %s", end) : need_text("from %s to %s", begin, end);
}

static void factor_judge_all(struct why_factors *factors, struct factor_test *t, const double *most)
{
    const struct why_traits *traits = t->traits;
    factor_clear(t);
    for (size_t i = 0; i < t->calls; i++)
        if (traits->calls[i].set == WHY_SLOW)
            factor_add_slow(t, i);
    for (size_t i = 0; i < traits->count; i++) {
        const struct why_trait *trait = &traits->list[i];
        const double distance = factor_distance(t, trait->calls, t->of_traits[i]);
        factor_judge(factors, t, trait->name, need_text("%s", trait->value), trait->calls, t->of_traits[i],
                     factor_probability(most, distance));
    }
    for (size_t i = 0; i < traits->axis_count; i++) {
        const struct why_range range = factor_best_range(t, i);
        size_t slow = 0;
        if (range.distance < 0)
            continue;
        for (size_t j = range.first; j < range.end; j++)
            slow += t->of_bins[i][j];
        factor_judge(factors, t, traits->axes[i].name, factor_range_text(&traits->axes[i], &range),
                     t->bin_calls[i][range.end - 1] - (range.first ? t->bin_calls[i][range.first - 1] : 0), slow,
                     factor_probability(most, range.distance));
    }
}

static void factor_begin(struct factor_test *t, const struct why_traits *traits)
{
    *t = (struct factor_test){ .traits = traits, .calls = traits->call_count };
    t->factorials = need_memory(t->calls + 1, sizeof *t->factorials);
    t->tails = need_memory(t->calls + 1, sizeof *t->tails);
    t->of_traits = need_memory(traits->count + 1, sizeof *t->of_traits);
    for (size_t i = 0; i < t->calls; i++) {
        t->factorials[i + 1] = t->factorials[i] + log((double)i + 1);
        t->slow += traits->calls[i].set == WHY_SLOW;
    }
    for (size_t i = 0; i < traits->axis_count; i++) {
        const struct why_axis *axis = &traits->axes[i];
        t->of_bins[i] = need_memory(axis->bins + 1, sizeof *t->of_bins[i]);
        t->bin_calls[i] = need_memory(axis->bins + 1, sizeof *t->bin_calls[i]);
        for (size_t j = 0; j < t->calls; j++)
            t->bin_calls[i][axis->of_calls[j]]++;
        for (size_t j = 1; j < axis->bins; j++)
            t->bin_calls[i][j] += t->bin_calls[i][j - 1];
    }
}

static void factor_end(struct factor_test *t)
{
    for (size_t i = 0; i <= t->calls; i++)
        free(t->tails[i]);
    for (size_t i = 0; i < t->traits->axis_count; i++) {
        free(t->of_bins[i]);
        free(t->bin_calls[i]);
    }
    free(t->tails);
    free(t->factorials);
    free(t->of_traits);
}

void why_factors_test(struct why_factors *factors, const struct why_traits *traits)
{
    struct factor_test t;
    factor_begin(&t, traits);
    if (t.slow && t.slow < t.calls) {
        double *most = factor_draw_all(&t);
        factor_judge_all(factors, &t, most);
        free(most);
    }
    factor_end(&t);
}
