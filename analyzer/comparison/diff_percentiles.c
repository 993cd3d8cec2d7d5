/*
 * Compares percentiles of single calls. With several runs on each side, a percentile is tested as a time is: the runs
 * show how far it differs. With one run on a side, the order of the calls shows that. If the calls of both sides were
 * alike, as many of each would take longer than a percentile of all together.
 */
#include "comparison/diff_percentiles.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/units.h"
#include "tables/percentiles.h"

/* ---- durations by key ---- */

void diff_percentiles_fill(const struct diff *d, struct diff_run *run, const struct profile *named,
                           const uint32_t *keys, uint64_t ticks_per_second)
{
    const bool by_path = d->by == DIFF_PATHS;
    const size_t count = by_path ? named->node_count : named->function_count;
    struct durations **functions = by_path ? NULL : percentiles_by_function(named);
    run->durations = need_memory(run->row_count + 1, sizeof(struct durations *));
    run->ticks_per_second = ticks_per_second;
    for (size_t i = 0; i < count; i++)
        durations_merge(&run->durations[keys[i]], by_path ? named->nodes[i].durations : functions[i]);
    if (functions)
        percentiles_free_list(functions, named);
    for (size_t key = 0; key < run->row_count; key++)
        for (enum diff_value value = DIFF_SUMS; value < DIFF_VALUES; value++) {
            uint64_t ticks;
            durations_percentiles(run->durations[key], &diff_compared[value].percent, &ticks, 1);
            run->rows[key].of[value] = ticks_to_ns(ticks, ticks_per_second);
        }
}

void diff_percentiles_drop(struct diff_run *run)
{
    for (size_t key = 0; run->durations && key < run->row_count; key++)
        free(run->durations[key]);
    free(run->durations);
}

bool diff_percentiles_has(const struct diff_run *run, uint32_t key)
{
    return run->durations && key < run->row_count && run->durations[key];
}

/* ---- several runs ---- */

void diff_percentiles_blur(struct sample *sample)
{
    const double width = sample->mean / (1 << DURATION_BITS);
    sample->variance += (double)sample->count * width * width / 12; /* of the mean: any place in a counter */
}

/* ---- single calls ---- */

struct diff_step {
    double ns, calls;
    enum diff_side side;
};

static int diff_compare_steps(const void *a, const void *b)
{
    const struct diff_step *x = a, *y = b;
    return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : (x->side > y->side) - (x->side < y->side);
}

/* The durations of a row in all runs, in ascending order. The caller frees the list. */
static struct diff_step *diff_list_steps(const struct diff *d, uint32_t key, size_t *count)
{
    struct diff_step *steps = NULL;
    size_t room = 0;
    *count = 0;
    for (size_t i = 0; i < d->run_count; i++) {
        const struct diff_run *run = &d->runs[i];
        size_t added;
        struct durations_step *list = durations_list(run->durations[key], &added);
        for (size_t j = 0; j < added; j++) {
            GROW(steps, *count, room);
            steps[(*count)++] = (struct diff_step){ (double)list[j].ticks * 1e9 / (double)run->ticks_per_second,
                                                    (double)list[j].calls, run->side };
        }
        free(list);
    }
    if (steps)
        qsort(steps, *count, sizeof *steps, diff_compare_steps);
    return steps;
}

/* The longest duration that both sides reach: only one of them has longer ones. */
static double diff_common_end(const struct diff_step *steps, size_t count)
{
    double last[DIFF_SIDES] = { 0, 0 };
    for (size_t i = 0; i < count; i++)
        last[steps[i].side] = steps[i].ns;
    return fmin(last[DIFF_BEFORE], last[DIFF_AFTER]);
}

/* The duration that so many percent of the calls do not exceed. */
static double diff_common_percentile(const struct diff_step *steps, size_t count, double percent)
{
    double calls = 0, passed = 0;
    for (size_t i = 0; i < count; i++)
        calls += steps[i].calls;
    for (size_t i = 0; i < count; i++) {
        passed += steps[i].calls;
        if (passed >= calls * percent / 100)
            return steps[i].ns;
    }
    return HUGE_VAL;
}

/* Tests how many calls of each side take longer; with `equal`, or as long. */
static double diff_test_longer(const struct diff_step *steps, size_t count, double limit, bool equal)
{
    double calls[DIFF_SIDES] = { 0, 0 }, longer[DIFF_SIDES] = { 0, 0 };
    for (size_t i = 0; i < count; i++) {
        calls[steps[i].side] += steps[i].calls;
        longer[steps[i].side] += steps[i].ns > limit || (equal && steps[i].ns >= limit) ? steps[i].calls : 0;
    }
    return share_test((uint64_t)longer[DIFF_BEFORE], (uint64_t)calls[DIFF_BEFORE], (uint64_t)longer[DIFF_AFTER],
                      (uint64_t)calls[DIFF_AFTER]);
}

/* Many calls can take as long as a percentile, so both ways of counting them are tried: of two tests, the better one is
 * right by chance twice as often. */
double diff_percentiles_test(const struct diff *d, const struct diff_row *row, enum diff_value value)
{
    size_t count;
    struct diff_step *steps = diff_list_steps(d, row->key, &count);
    double probability;
    if (value == DIFF_MAX) {
        probability = diff_test_longer(steps, count, diff_common_end(steps, count), false);
    } else {
        const double limit = diff_common_percentile(steps, count, diff_compared[value].percent);
        probability =
            2 * fmin(diff_test_longer(steps, count, limit, false), diff_test_longer(steps, count, limit, true));
    }
    free(steps);
    return fmin(probability, 1);
}

/* A machine that is a little faster in one of the runs makes all calls a little faster. */
enum diff_judged diff_percentiles_judge(const struct diff_pair *pair)
{
    static const double least_change = 0.1;
    const double before = (double)pair->mean[DIFF_BEFORE], after = (double)pair->mean[DIFF_AFTER];
    return is_significant(pair->probability) && fabs(after - before) >= least_change * before ? JUDGED_LARGE
                                                                                              : JUDGED_NOTHING;
}
