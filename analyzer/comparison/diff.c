/* Compares sessions: gives their functions, modules and call paths common numbers and their values one unit, tests the
 * changes for significance, and sorts the rows. */
#include "comparison/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/statistics.h"
#include "base/units.h"
#include "comparison/diff_chance.h"
#include "comparison/diff_levels.h"
#include "comparison/diff_names.h"
#include "comparison/diff_percentiles.h"
#include "comparison/diff_waits.h"

enum { NS_PER_SECOND = 1000000000 }; /* values are in nanoseconds */

const struct diff_compared diff_compared[DIFF_VALUES] = {
    [DIFF_CALLS] = { VALUE_CALLS, INCLUSIVE },
    [DIFF_ELAPSED_INCLUSIVE] = { VALUE_ELAPSED, INCLUSIVE },
    [DIFF_ELAPSED_EXCLUSIVE] = { VALUE_ELAPSED, EXCLUSIVE },
    [DIFF_APPLICATION_INCLUSIVE] = { VALUE_APPLICATION, INCLUSIVE },
    [DIFF_APPLICATION_EXCLUSIVE] = { VALUE_APPLICATION, EXCLUSIVE },
    [DIFF_CPU_INCLUSIVE] = { VALUE_CPU, INCLUSIVE },
    [DIFF_CPU_EXCLUSIVE] = { VALUE_CPU, EXCLUSIVE },
    [DIFF_P50] = { VALUE_ELAPSED, INCLUSIVE, "p50", 50 },
    [DIFF_P90] = { VALUE_ELAPSED, INCLUSIVE, "p90", 90 },
    [DIFF_P99] = { VALUE_ELAPSED, INCLUSIVE, "p99", 99 },
    [DIFF_MAX] = { VALUE_ELAPSED, INCLUSIVE, "max", 100 },
};

const char *diff_value_name(enum diff_value value)
{
    const struct diff_compared *c = &diff_compared[value];
    return c->name ? c->name : value_column(c->value, c->form);
}

enum diff_value diff_value_named(const char *name, size_t length)
{
    for (enum diff_value i = 0; i < DIFF_VALUES; i++)
        if (strlen(diff_value_name(i)) == length && strncmp(diff_value_name(i), name, length) == 0)
            return i;
    return DIFF_VALUES;
}

struct diff *diff_new(enum diff_by by)
{
    struct diff *d = need_memory(1, sizeof *d);
    d->by = by;
    d->keys = profile_new();
    profile_root(d->keys, 0, 0);
    for (int i = 0; i < DIFF_VALUES; i++)
        d->known[i] = true;
    return d;
}

void diff_free(struct diff *d)
{
    for (size_t i = 0; i < d->run_count; i++) {
        free(d->runs[i].path);
        free(d->runs[i].part);
        free(d->runs[i].rows);
        free(d->runs[i].waits);
        diff_percentiles_drop(&d->runs[i]);
    }
    for (size_t i = 0; i < d->remark_count; i++)
        free(d->remarks[i]);
    free(d->program);
    free(d->runs);
    free(d->remarks);
    free(d->remark_codes);
    free(d->rows);
    free(d->places);
    free(d->levels);
    free(d->unknown);
    free(d->called);
    profile_free(d->keys);
    intern_drop(&d->names);
    free(d);
}

void diff_add_remark(struct diff *d, const char *code, char *line)
{
    GROW(d->remark_codes, d->remark_count, d->code_room);
    d->remark_codes[d->remark_count] = code;
    GROW(d->remarks, d->remark_count, d->remark_room);
    d->remarks[d->remark_count++] = line;
}

bool diff_has_caveats(const struct diff *d)
{
    bool any = false;
    for (size_t i = 0; i < d->remark_count; i++)
        any |= remark_is_caveat(d->remark_codes[i]);
    return any;
}

/* ---- common numbers ---- */

/* The key of each of the profile's functions, modules or nodes. */
static uint32_t *diff_find_keys(struct diff *d, const struct profile *p, size_t count)
{
    uint32_t *keys = need_memory(count, sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        if (d->by == DIFF_MODULES)
            keys[i] = diff_common_module(d, p, (uint32_t)i);
        else if (d->by == DIFF_FUNCTIONS)
            keys[i] = diff_common_function(d, p, (uint32_t)i);
        else if (p->nodes[i].parent == PROFILE_NONE)
            keys[i] = profile_root(d->keys, 0, 0);
        else
            keys[i] =
                profile_child(d->keys, keys[p->nodes[i].parent], diff_common_function(d, p, p->nodes[i].function));
    }
    return keys;
}

size_t diff_key_count(const struct diff *d)
{
    return d->by == DIFF_FUNCTIONS ? d->keys->function_count
           : d->by == DIFF_MODULES ? d->keys->module_count
                                   : d->keys->node_count;
}

static struct diff_values diff_values_of_times(const struct times *t, uint64_t ticks_per_second)
{
    struct diff_values values = { .uncalled = times_are_sampled(t) && !t->calls };
    for (enum diff_value i = 0; i < DIFF_SUMS; i++) {
        const struct diff_compared *c = &diff_compared[i];
        const uint64_t value = times_value(t, c->value, c->form);
        values.of[i] = value_table[c->value].kind == VALUE_IS_TIME ? ticks_to_ns(value, ticks_per_second) : value;
        values.error[i] = ticks_to_ns(times_error(t, c->value, c->form), ticks_per_second);
    }
    return values;
}

/* The time of which a session need not have a sample: zero samples are below three with a probability of 95 %. Each
 * stands for the same part of the time on the CPU. */
static double diff_least_time(const struct diff_run *run, uint64_t samples)
{
    static const double most_of_none = 2.9957; /* -ln(0.05) */
    const uint64_t time = run->total.of[run->cpu_known ? DIFF_CPU_INCLUSIVE : DIFF_ELAPSED_INCLUSIVE];
    return samples ? most_of_none * (double)time / (double)samples : 0;
}

/* A path can occur twice: with calls, and as known by samples. */
static void diff_add_path(struct diff_values *to, const struct diff_values *path)
{
    const bool is_first = !to->of[DIFF_CALLS] && !to->of[DIFF_ELAPSED_INCLUSIVE];
    for (int i = 0; i < DIFF_VALUES; i++) {
        to->of[i] += path->of[i];
        to->error[i] = (uint64_t)llround(hypot((double)to->error[i], (double)path->error[i]));
    }
    to->uncalled = path->uncalled && (is_first || to->uncalled);
}

static void diff_fill_run(struct diff *d, struct diff_run *run, const struct profile *named, uint64_t ticks_per_second)
{
    struct rollup *rollup = rollup_new(named);
    const enum rollup_by by = d->by == DIFF_MODULES ? BY_MODULE : BY_FUNCTION;
    const size_t count = d->by == DIFF_PATHS ? named->node_count : rollup_group_count(rollup, by);
    struct times *sums = d->by == DIFF_PATHS ? NULL : rollup_groups(rollup, by);
    uint32_t *keys = diff_find_keys(d, named, count);
    run->row_count = diff_key_count(d);
    run->rows = need_memory(run->row_count, sizeof *run->rows);
    for (size_t i = 0; i < count; i++) {
        const struct diff_values values = diff_values_of_times(sums ? &sums[i] : &rollup->nodes[i], ticks_per_second);
        diff_add_path(&run->rows[keys[i]], &values);
        if (sums) /* the time of a module's counted calls is mostly in that of its callers */
            run->rows[keys[i]].counted =
                times_are_counted(&sums[i]) || (d->by == DIFF_FUNCTIONS && times_are_partial(&sums[i]));
    }
    diff_waits_fill(d, run, named, keys);
    run->total = diff_values_of_times(&rollup->session, ticks_per_second);
    if (d->percentiles)
        diff_percentiles_fill(d, run, named, keys, ticks_per_second);
    free(keys);
    free(sums);
    rollup_free(rollup);
}

bool diff_add(struct diff *d, enum diff_side side, const struct analysis *analysis, struct error *error)
{
    const struct summary *summary = &analysis->summary;
    if (d->run_count && d->samples != summary->samples)
        return error_set(error, "%s: its values are %s, those of %s are not", summary->path,
                         summary->samples ? "samples" : "times", d->runs[0].path);
    d->samples = summary->samples;
    struct diff_renaming renaming = diff_find_renaming(d, side, analysis);
    struct profile *named = diff_name_profile(d, analysis, &renaming);
    diff_levels_add(d, analysis, &renaming, named);
    diff_chance_add(d, named);
    free(renaming.from);
    GROW(d->runs, d->run_count, d->run_room);
    struct diff_run *run = &d->runs[d->run_count++];
    *run = (struct diff_run){
        .path = need_copy(summary->path, strlen(summary->path)),
        .part = summary->selection ? need_copy(summary->selection, strlen(summary->selection)) : NULL,
        .side = side,
        .ran = ticks_to_ns(summary->run, summary->ticks_per_second),
        .application_known = summary->application_known,
        .cpu_known = summary->off_cpu_known && !summary->imported,
        .has_samples = summary->stack_samples > 0,
        .events = summary->events,
        .lost_events = summary->lost_events,
    };
    d->side_count[side]++;
    d->estimated |= run->has_samples;
    d->percentiles = analysis->durations && d->by != DIFF_MODULES && !summary->samples && summary->durations_known &&
                     (d->percentiles || d->run_count == 1);
    d->threads |= summary->threads > 1 || summary->processes > 1;
    diff_fill_run(d, run, named, summary->samples ? 1000000000 : summary->ticks_per_second);
    run->least_time = diff_least_time(run, summary->stack_samples);
    profile_free(named);
    const unsigned knows = summary_knows(summary) & ~(summary->imported ? NEEDS_OFF_CPU : 0u);
    for (enum diff_value i = 0; i < DIFF_VALUES; i++)
        d->known[i] &=
            value_is_known(diff_compared[i].value, knows, NULL) && (!diff_is_percentile(i) || d->percentiles);
    for (size_t i = 0; i < summary->loss_count; i++)
        diff_add_remark(d, summary_code(summary, i), need_text("%s: %s", summary->path, summary->remarks[i]));
    return true;
}

/* ---- rows ---- */

static bool diff_values_present(const struct diff_values *v)
{
    return v->of[DIFF_CALLS] || v->of[DIFF_ELAPSED_INCLUSIVE] || v->of[DIFF_ELAPSED_EXCLUSIVE];
}

static const struct diff_values *diff_run_values(const struct diff_run *run, uint32_t key)
{
    static const struct diff_values none;
    return key < run->row_count ? &run->rows[key] : &none;
}

/* A session without samples does not know the time of functions without probes: it is in their callers' time. */
static bool diff_lacks_samples(const struct diff *d, uint32_t key)
{
    for (size_t i = 0; i < d->run_count; i++)
        if (!d->runs[i].has_samples && !diff_values_present(diff_run_values(&d->runs[i], key)))
            return true;
    return false;
}

/* Where samples estimate the row's time in some session, one that has no sample of it does not know that it is zero. */
static double diff_error(const struct diff_run *run, const struct diff_values *values, enum diff_value value,
                         bool estimated)
{
    const bool is_time = value != DIFF_CALLS && !diff_is_percentile(value);
    return estimated && is_time && !values->of[value] && !values->error[value] ? run->least_time
                                                                               : (double)values->error[value];
}

static bool diff_is_estimated(const struct diff *d, uint32_t key)
{
    for (size_t i = 0; i < d->run_count; i++) {
        const struct diff_values *values = diff_run_values(&d->runs[i], key);
        for (enum diff_value value = 0; value < DIFF_SUMS; value++)
            if (values->error[value])
                return true;
    }
    return false;
}

static struct diff_row diff_make_row(const struct diff *d, uint32_t key, enum diff_chance chance)
{
    struct diff_row row = { .key = key, .chance = chance, .timed = true, .least_calls = { UINT64_MAX, UINT64_MAX } };
    const bool estimated = diff_is_estimated(d, key);
    for (size_t i = 0; i < d->run_count; i++) {
        const struct diff_run *run = &d->runs[i];
        const struct diff_values *values = diff_run_values(run, key);
        row.present[run->side] |= diff_values_present(values);
        row.counted |= values->counted;
        row.uncalled |= values->uncalled;
        row.timed &= diff_percentiles_has(run, key);
        row.least_calls[run->side] = smaller(row.least_calls[run->side], values->of[DIFF_CALLS]);
        row.most_calls[run->side] = larger(row.most_calls[run->side], values->of[DIFF_CALLS]);
        for (int j = 0; j < DIFF_VALUES; j++) {
            struct diff_pair *pair = &row.values[j];
            pair->sum[run->side] = add_saturated(pair->sum[run->side], values->of[j]);
            pair->error[run->side] =
                hypot(pair->error[run->side], diff_error(run, values, (enum diff_value)j, estimated));
        }
    }
    if (!chance && row.least_calls[DIFF_BEFORE] != row.most_calls[DIFF_BEFORE])
        row.chance = CHANCE_RUNS;
    else if (!chance && diff_waits_explain(d, &row))
        row.chance = CHANCE_WAITS;
    row.counted |= row.uncalled && diff_lacks_samples(d, key);
    row.counted |= d->unknown && d->unknown[key] & DIFF_UNKNOWN_TIMES;
    row.uncalled |= d->unknown && d->unknown[key] & DIFF_UNKNOWN_CALLS;
    for (int j = 0; j < DIFF_VALUES; j++) {
        row.values[j].probability = NAN;
        for (int side = 0; side < DIFF_SIDES; side++)
            row.values[j].mean[side] = mean_of_sum(row.values[j].sum[side], d->side_count[side]);
        for (int side = 0; side < DIFF_SIDES; side++)
            row.values[j].error[side] /= d->side_count[side] ? (double)d->side_count[side] : 1;
    }
    return row;
}

/* The mean over the side's runs. */
static uint64_t diff_side_total(const struct diff *d, enum diff_side side, enum diff_value value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < d->run_count; i++)
        if (d->runs[i].side == side)
            sum = add_saturated(sum, d->runs[i].total.of[value]);
    return mean_of_sum(sum, d->side_count[side]);
}

static bool diff_row_is_small(const struct diff *d, const struct diff_row *row, const struct amount *min)
{
    for (int side = 0; side < DIFF_SIDES; side++) {
        const double least = amount_ticks(min, diff_side_total(d, side, DIFF_ELAPSED_INCLUSIVE), NS_PER_SECOND);
        if ((double)row->values[DIFF_ELAPSED_INCLUSIVE].mean[side] >= least)
            return false;
    }
    return true;
}

static void diff_make_rows(struct diff *d, const struct amount *min)
{
    const size_t count = diff_key_count(d);
    uint8_t *chance = diff_chance_judge(d);
    for (size_t key = 0; key < count; key++) {
        if (d->by == DIFF_PATHS && d->keys->nodes[key].parent == PROFILE_NONE)
            continue;
        const struct diff_row row = diff_make_row(d, (uint32_t)key, (enum diff_chance)chance[key]);
        if ((!row.present[DIFF_BEFORE] && !row.present[DIFF_AFTER]) || diff_row_is_small(d, &row, min))
            continue;
        GROW(d->rows, d->row_count, d->row_room);
        d->rows[d->row_count++] = row;
    }
    free(chance);
}

/* ---- judging ---- */

static struct sample diff_side_sample(const struct diff *d, const struct diff_row *row, enum diff_value value,
                                      enum diff_side side)
{
    double *values = need_memory(d->side_count[side], sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < d->run_count; i++)
        if (d->runs[i].side == side)
            values[count++] = (double)diff_run_values(&d->runs[i], row->key)->of[value];
    struct sample sample = value == DIFF_CALLS ? sample_of(values, count) : sample_of_times(values, count);
    if (diff_is_percentile(value))
        diff_percentiles_blur(&sample);
    free(values);
    return sample;
}

/* Whether chance has no part in the calls: then any change of them is certain. */
static bool diff_calls_are_exact(const struct diff_row *row)
{
    return row->chance == CHANCE_NONE && row->least_calls[DIFF_BEFORE] == row->most_calls[DIFF_BEFORE] &&
           row->least_calls[DIFF_AFTER] == row->most_calls[DIFF_AFTER];
}

struct gate_sums diff_sums(const struct diff *d, const struct diff_pair *pair)
{
    return (struct gate_sums){ pair->sum[DIFF_BEFORE], pair->sum[DIFF_AFTER], d->side_count[DIFF_BEFORE],
                               d->side_count[DIFF_AFTER] };
}

static bool diff_pair_is_changed(const struct diff *d, const struct diff_pair *pair)
{
    const struct gate_sums sums = diff_sums(d, pair);
    return gate_sums_differ(&sums);
}

double diff_pair_error(const struct diff_pair *pair)
{
    return hypot(pair->error[DIFF_BEFORE], pair->error[DIFF_AFTER]);
}

bool diff_pair_is_certain(const struct diff *d, const struct diff_pair *pair)
{
    const double before = (double)pair->sum[DIFF_BEFORE] / (double)d->side_count[DIFF_BEFORE];
    const double after = (double)pair->sum[DIFF_AFTER] / (double)d->side_count[DIFF_AFTER];
    const double error = diff_pair_error(pair);
    return error <= 0 || fabs(after - before) > error;
}

static bool diff_pair_is_large(const struct diff *d, const struct diff_pair *pair, enum diff_value value,
                               const struct amount *large)
{
    const bool application = value == DIFF_APPLICATION_INCLUSIVE || value == DIFF_APPLICATION_EXCLUSIVE;
    const enum diff_value whole = application ? DIFF_APPLICATION_INCLUSIVE : DIFF_ELAPSED_INCLUSIVE;
    const double before = (double)pair->mean[DIFF_BEFORE], after = (double)pair->mean[DIFF_AFTER];
    return before != after &&
           fabs(after - before) >= amount_ticks(large, diff_side_total(d, DIFF_BEFORE, whole), NS_PER_SECOND);
}

static void diff_judge_value(struct diff *d, enum diff_value value, const struct diff_options *options)
{
    double *probabilities = need_memory(d->row_count, sizeof *probabilities);
    for (size_t i = 0; i < d->row_count; i++) {
        const struct sample before = diff_side_sample(d, &d->rows[i], value, DIFF_BEFORE);
        const struct sample after = diff_side_sample(d, &d->rows[i], value, DIFF_AFTER);
        const bool exact = value == DIFF_CALLS && diff_calls_are_exact(&d->rows[i]);
        const bool unknown = exact || !diff_row_knows(d, &d->rows[i], value);
        probabilities[i] = unknown ? NAN
                           : diff_is_percentile(value) && !diff_is_tested(d)
                               ? diff_percentiles_test(d, &d->rows[i], value)
                               : welch_test(&before, &after);
    }
    adjust_for_many(probabilities, d->row_count);
    for (size_t i = 0; i < d->row_count; i++) {
        struct diff_pair *pair = &d->rows[i].values[value];
        pair->probability = probabilities[i];
        if (!diff_pair_is_certain(d, pair))
            pair->judged = JUDGED_NOTHING;
        else if (diff_is_percentile(value) && !diff_is_tested(d))
            pair->judged = diff_percentiles_judge(pair);
        else if (is_significant(probabilities[i]))
            pair->judged = JUDGED_SIGNIFICANT;
        else if (value == DIFF_CALLS)
            pair->judged = diff_calls_are_exact(&d->rows[i]) && diff_row_knows(d, &d->rows[i], value) &&
                                   diff_pair_is_changed(d, pair)
                               ? JUDGED_CERTAIN
                               : JUDGED_NOTHING;
        else if (!diff_is_tested(d) && diff_row_knows(d, &d->rows[i], value) &&
                 diff_pair_is_large(d, pair, value, &options->large))
            pair->judged = JUDGED_LARGE;
    }
    free(probabilities);
}

/* ---- order ---- */

static int diff_compare_functions(const struct diff *d, uint32_t f, uint32_t g)
{
    const int order = strcmp(diff_function_name(d, f), diff_function_name(d, g));
    return order ? order : strcmp(diff_function_module(d, f), diff_function_module(d, g));
}

/* Compares paths by function, depth and callers. Recursions can be as deep as a stack; comparing the depth first avoids
 * most walks up the path. */
static int diff_compare_paths(const struct diff *d, uint32_t x, uint32_t y)
{
    const struct profile_node *nodes = d->keys->nodes;
    int order = diff_compare_functions(d, nodes[x].function, nodes[y].function);
    if (order == 0 && d->places[x].depth != d->places[y].depth)
        return d->places[x].depth < d->places[y].depth ? -1 : 1;
    while (order == 0 && nodes[x].parent != nodes[y].parent) {
        x = nodes[x].parent;
        y = nodes[y].parent;
        order = diff_compare_functions(d, nodes[x].function, nodes[y].function);
    }
    return order;
}

/* Compares rows so that their order does not depend on the order of events in the sessions. */
static int diff_compare_keys(const struct diff *d, uint32_t x, uint32_t y)
{
    if (d->by == DIFF_MODULES)
        return strcmp(d->keys->modules[x].path, d->keys->modules[y].path);
    return d->by == DIFF_PATHS ? diff_compare_paths(d, x, y) : diff_compare_functions(d, x, y);
}

static void diff_find_places(struct diff *d)
{
    const struct profile *p = d->keys;
    d->places = need_memory(p->node_count, sizeof *d->places);
    for (size_t i = 0; i < p->node_count; i++) {
        const uint32_t parent = p->nodes[i].parent;
        if (parent == PROFILE_NONE)
            continue;
        const struct diff_place *before = &d->places[parent];
        const bool again = p->nodes[parent].function == p->nodes[i].function;
        d->places[i] = (struct diff_place){
            .depth = before->depth + 1,
            .repeats = again ? before->repeats + 1 : 1,
            .above = again ? before->above : parent,
        };
    }
}

struct diff_order {
    const struct diff *diff;
    enum diff_value value;
};

/* Zero if it is unknown. */
static uint64_t diff_row_distance(const struct diff *d, const struct diff_row *row, enum diff_value value)
{
    const struct diff_pair *pair = &row->values[value];
    const uint64_t before = pair->mean[DIFF_BEFORE], after = pair->mean[DIFF_AFTER];
    return !diff_row_knows(d, row, value) ? 0 : before < after ? after - before : before - after;
}

/* The least change in the 95 % interval: zero if no change is in it. */
static uint64_t diff_row_least_change(const struct diff *d, const struct diff_row *row, enum diff_value value)
{
    const double error = diff_pair_error(&row->values[value]);
    return less(diff_row_distance(d, row, value), error < (double)UINT64_MAX / 2 ? (uint64_t)ceil(error) : UINT64_MAX);
}

static int diff_compare_rows(const void *a, const void *b, void *data)
{
    const struct diff_row *x = a, *y = b;
    const struct diff_order *order = data;
    if (order->value < DIFF_VALUES) {
        const struct diff_pair *p = &x->values[order->value], *q = &y->values[order->value];
        if (p->judged != q->judged)
            return p->judged < q->judged ? 1 : -1;
        const uint64_t least_x = diff_row_least_change(order->diff, x, order->value),
                       least_y = diff_row_least_change(order->diff, y, order->value);
        if (least_x != least_y)
            return least_x < least_y ? 1 : -1;
        const uint64_t far_x = diff_row_distance(order->diff, x, order->value),
                       far_y = diff_row_distance(order->diff, y, order->value);
        if (far_x != far_y)
            return far_x < far_y ? 1 : -1;
    }
    return diff_compare_keys(order->diff, x->key, y->key);
}

void diff_judge(struct diff *d, const struct diff_options *options)
{
    diff_find_places(d);
    d->unknown = diff_levels_judge(d);
    diff_make_rows(d, &options->min);
    for (int value = 0; value < DIFF_VALUES; value++)
        if (d->known[value])
            diff_judge_value(d, (enum diff_value)value, options);
    struct diff_order order = { d, options->sort };
    if (d->row_count)
        qsort_r(d->rows, d->row_count, sizeof *d->rows, diff_compare_rows, &order);
}

bool diff_is_equal(const struct diff *d)
{
    for (size_t i = 0; i < d->row_count; i++)
        for (int value = 0; value < DIFF_VALUES; value++)
            if (diff_row_knows(d, &d->rows[i], (enum diff_value)value) &&
                diff_pair_is_changed(d, &d->rows[i].values[value]))
                return false;
    return d->row_count > 0;
}

/* ---- names ---- */

const char *diff_function_name(const struct diff *d, uint32_t function)
{
    return d->names.pieces[d->keys->functions[function].offset].bytes;
}

const char *diff_function_module(const struct diff *d, uint32_t function)
{
    return d->keys->modules[d->keys->functions[function].module].path;
}

enum { MAX_SHOWN = 64 };

char *diff_path(const struct diff *d, uint32_t node)
{
    const struct profile_node *nodes = d->keys->nodes;
    uint32_t shown[MAX_SHOWN];
    char *path = NULL;
    size_t count = 0, length = 0;
    for (; count < MAX_SHOWN && nodes[node].parent != PROFILE_NONE; node = d->places[node].above)
        shown[count++] = node;
    FILE *out = need_stream(&path, &length);
    if (nodes[node].parent != PROFILE_NONE)
        fputs("...;", out);
    while (count-- > 0) {
        fputs(diff_function_name(d, nodes[shown[count]].function), out);
        if (d->places[shown[count]].repeats > 1)
            fprintf(out, " x%u", d->places[shown[count]].repeats);
        fputs(count ? ";" : "", out);
    }
    need_stream_end(out);
    return path;
}

char *diff_row_name(const struct diff *d, const struct diff_row *row)
{
    if (d->by == DIFF_PATHS)
        return diff_path(d, row->key);
    if (d->by == DIFF_MODULES)
        return need_copy(d->keys->modules[row->key].path, strlen(d->keys->modules[row->key].path));
    return need_text("%s (%s)", diff_function_name(d, row->key), diff_function_module(d, row->key));
}
