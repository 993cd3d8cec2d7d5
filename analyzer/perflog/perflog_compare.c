/* Matches the markers of several PerfLog logs, tests their changes, and compares these with conditions. */
#include "perflog/perflog_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/numbers.h"
#include "base/quote.h"
#include "base/sorted.h"
#include "base/statistics.h"
#include "base/visible.h"

/* A marker of one log. */
struct perflog_logged {
    struct perflog_row row;
    unsigned side;
};

struct perflog_all {
    struct perflog_logged *list;
    size_t count, room;
};

static int perflog_compare_markers(const struct perflog_row *x, const struct perflog_row *y)
{
    int order = strcmp(x->app, y->app);
    if (order == 0)
        order = strcmp(x->marker, y->marker);
    if (order == 0 && !*x->marker)
        order = ORDER(x->id, y->id);
    return order ? order : x->in_ticks - y->in_ticks;
}

static int perflog_compare_logged(const void *a, const void *b)
{
    return perflog_compare_markers(&((const struct perflog_logged *)a)->row, &((const struct perflog_logged *)b)->row);
}

static void perflog_add_rows(struct perflog_all *all, const struct perflog *log, unsigned side)
{
    size_t count;
    struct perflog_row *rows = perflog_rows(log, false, &count);
    for (size_t i = 0; i < count; i++) {
        GROW(all->list, all->count, all->room);
        all->list[all->count++] = (struct perflog_logged){ rows[i], side };
    }
    free(rows);
}

/* The application that all rows of a side have, or NULL. */
static const char *perflog_only_app(const struct perflog_all *all, unsigned side)
{
    const char *app = NULL;
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].side != side)
            continue;
        if (app && strcmp(app, all->list[i].row.app) != 0)
            return NULL;
        app = all->list[i].row.app;
    }
    return app;
}

/* If each side has only one application, they are taken as versions of one application even if their names differ. */
static void perflog_unify_apps(struct perflog_all *all)
{
    const char *before = perflog_only_app(all, 0), *after = perflog_only_app(all, 1);
    char quoted[2][QUOTE_ROOM];
    if (!before || !after || strcmp(before, after) == 0)
        return;
    say("the logs are of two applications, '%s' and '%s': only the names of markers are compared",
        quote(quoted[0], before, strlen(before)), quote(quoted[1], after, strlen(after)));
    for (size_t i = 0; i < all->count; i++)
        all->list[i].row.app = before;
}

/* ---- values ---- */

/* Whether the log's marker has the value. */
static bool perflog_value_of(const struct perflog_row *row, enum perflog_compared value, uint64_t *number)
{
    *number = value == PERFLOG_COUNT ? row->count : value == PERFLOG_TOTAL ? row->total : row->mean;
    return value != PERFLOG_MEAN || row->count;
}

static struct gate_sums perflog_sums(const struct perflog_change *change)
{
    return (struct gate_sums){ change->sum[0], change->sum[1], change->runs[0], change->runs[1] };
}

static void perflog_sum_up(struct perflog_change *change, const struct perflog_logged *first, size_t count,
                           enum perflog_compared value, const size_t log_count[2])
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        const unsigned side = first[i].side;
        if (!perflog_value_of(&first[i].row, value, &number))
            continue;
        change->sum[side] = add_saturated(change->sum[side], number);
        change->runs[side]++;
    }
    for (int side = 0; side < 2; side++) {
        if (value != PERFLOG_MEAN)
            change->runs[side] = log_count[side];
        change->mean[side] = mean_of_sum(change->sum[side], change->runs[side]);
    }
}

static struct sample perflog_sample(const struct perflog_logged *first, size_t count, enum perflog_compared value,
                                    unsigned side, size_t runs)
{
    double *values = need_memory(runs + 1, sizeof *values); /* a log without the marker has 0 */
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        if (first[i].side == side && perflog_value_of(&first[i].row, value, &number) && known < runs)
            values[known++] = (double)number;
    }
    const struct sample sample = value == PERFLOG_COUNT ? sample_of(values, runs) : sample_of_times(values, runs);
    free(values);
    return sample;
}

static bool perflog_changes(const struct perflog_change *change)
{
    const struct gate_sums sums = perflog_sums(change);
    return gate_sums_differ(&sums);
}

/* Counts on which the logs of each side agree are exact. */
static void perflog_test(struct perflog_change *change, const struct perflog_logged *first, size_t count,
                         enum perflog_compared value)
{
    const struct sample before = perflog_sample(first, count, value, 0, change->runs[0]);
    const struct sample after = perflog_sample(first, count, value, 1, change->runs[1]);
    change->probability = NAN;
    change->exact = value == PERFLOG_COUNT && before.variance <= 0 && after.variance <= 0;
    if (!change->exact && change->runs[0] && change->runs[1])
        change->probability = welch_test(&before, &after);
}

static struct perflog_compared_row perflog_compare_row(const struct perflog_logged *first, size_t count,
                                                       const size_t log_count[2])
{
    struct perflog_compared_row row = { first->row.app, first->row.marker, first->row.id,
                                        .in_ticks = first->row.in_ticks };
    for (size_t i = 0; i < count; i++)
        row.present[first[i].side] = true;
    for (enum perflog_compared value = 0; value < PERFLOG_COMPARED; value++) {
        struct perflog_change *change = &row.values[value];
        perflog_sum_up(change, first, count, value, log_count);
        perflog_test(change, first, count, value);
    }
    return row;
}

static void perflog_judge(struct perflog_comparison *c, enum perflog_compared value)
{
    double *probabilities = need_memory(c->row_count + 1, sizeof *probabilities);
    for (size_t i = 0; i < c->row_count; i++)
        probabilities[i] = c->rows[i].values[value].probability;
    adjust_for_many(probabilities, c->row_count);
    for (size_t i = 0; i < c->row_count; i++) {
        struct perflog_change *change = &c->rows[i].values[value];
        change->probability = probabilities[i];
        change->significant = (change->exact || is_significant(probabilities[i])) && perflog_changes(change);
    }
    free(probabilities);
}

struct perflog_comparison perflog_compare(struct perflog *const *before, size_t before_count,
                                          struct perflog *const *after, size_t after_count)
{
    struct perflog_comparison c = { .log_count = { before_count, after_count } };
    struct perflog_all all = { 0 };
    for (size_t i = 0; i < before_count; i++)
        perflog_add_rows(&all, before[i], 0);
    for (size_t i = 0; i < after_count; i++)
        perflog_add_rows(&all, after[i], 1);
    perflog_unify_apps(&all);
    if (all.count)
        qsort(all.list, all.count, sizeof *all.list, perflog_compare_logged);
    c.rows = need_memory(all.count + 1, sizeof *c.rows);
    for (size_t first = 0, next; first < all.count; first = next) {
        for (next = first + 1; next < all.count && perflog_compare_logged(&all.list[first], &all.list[next]) == 0;)
            next++;
        c.rows[c.row_count++] = perflog_compare_row(&all.list[first], next - first, c.log_count);
    }
    free(all.list);
    for (enum perflog_compared value = 0; value < PERFLOG_COMPARED; value++)
        perflog_judge(&c, value);
    return c;
}

void perflog_comparison_drop(struct perflog_comparison *c)
{
    free(c->rows);
    *c = (struct perflog_comparison){ .rows = NULL };
}

/* ---- conditions ---- */

bool perflog_gate_parse(struct gate *gate, const char *text, struct error *error)
{
    static const char *const names[] = {
        [PERFLOG_COUNT] = "count", [PERFLOG_MEAN] = "mean", [PERFLOG_TOTAL] = "total"
    };
    if (!gate_parse(gate, text, names, PERFLOG_COMPARED, error))
        return false;
    if (gate->value == PERFLOG_COUNT && gate->unit == GATE_TIME)
        return error_set(error, "counts have no unit of time");
    if (gate->value != PERFLOG_COUNT && gate->unit == GATE_COUNT)
        return error_set(error, "a time needs a unit: %%, ns, us, ms or s");
    return true;
}

const char *perflog_gate_check(const struct gate *gate, const struct perflog_comparison *c)
{
    for (size_t i = 0; i < c->row_count && gate->unit == GATE_TIME; i++)
        if (c->rows[i].in_ticks)
            return "some durations are ticks, as no RESOLUTION is known; give --resolution, or a percentage";
    return NULL;
}

/* Counts are exact. Times must differ by more than chance, if that is known. */
static bool perflog_gate_fails(const struct gate *gate, const void *comparison, size_t row)
{
    const struct perflog_comparison *c = comparison;
    const struct perflog_change *change = &c->rows[row].values[gate->value];
    const struct gate_sums sums = perflog_sums(change);
    if (!sums.runs_before || !sums.runs_after)
        return false;
    if (gate->value != PERFLOG_COUNT && !gate->all && perflog_is_tested(c) && !change->significant)
        return false;
    return gate_is_met(gate, &sums);
}

static void perflog_gate_print(const struct gate *gate, const void *comparison, size_t number, FILE *out)
{
    const struct perflog_comparison *c = comparison;
    const struct perflog_compared_row *row = &c->rows[number];
    const struct perflog_change *change = &row->values[gate->value];
    const struct gate_sums sums = perflog_sums(change);
    const char *unit = gate->value == PERFLOG_COUNT ? "" : row->in_ticks ? " ticks" : " ns";
    char id[32];
    snprintf(id, sizeof id, "%" PRIu32, row->id);
    print_text(out, "  %s: ", *row->marker ? row->marker : id);
    fprintf(out, "%" PRIu64 "%s -> %" PRIu64 "%s", change->mean[0], unit, change->mean[1], unit);
    if (change->sum[0])
        fprintf(out, " (%+.2f %%)", gate_percent(&sums));
    fputs(!row->present[0] ? " (new)\n" : !row->present[1] ? " (gone)\n" : "\n", out);
}

size_t perflog_gate_report(const struct gate *gate, const struct perflog_comparison *c, FILE *out)
{
    const struct gate_rows rows = { c, "marker", c->row_count, perflog_gate_fails, perflog_gate_print, NULL };
    return gate_report(gate, &rows, out);
}
