/* Compares the rows of a comparison with the conditions that fail it, and prints those that fail. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_options.h"
#include "base/visible.h"
#include "comparison/diff.h"

bool diff_gate_parse(struct gate *gate, const char *text, struct error *error)
{
    const char *names[DIFF_VALUES];
    for (enum diff_value i = 0; i < DIFF_VALUES; i++)
        names[i] = diff_value_name(i);
    if (!gate_parse(gate, text, names, DIFF_VALUES, error))
        return false;
    if (gate->value == DIFF_CALLS && gate->unit == GATE_TIME)
        return error_set(error, "calls have no unit of time");
    return true;
}

const char *diff_gate_check(const struct gate *gate, const struct diff *d)
{
    if (!d->known[gate->value])
        return "some of these sessions do not have this value";
    if (gate->unit == GATE_TIME && d->samples)
        return "the sessions' values are samples, which have no unit of time";
    if (gate->unit == GATE_COUNT && gate->value != DIFF_CALLS && !d->samples)
        return "a time needs a unit: %, ns, us, ms or s";
    if (gate->value != DIFF_CALLS && !gate->all && !diff_is_tested(d))
        return "one session on a side does not show how far times differ by chance; give several on each (dwell record "
               "--runs 5), or write all_ before the value";
    return NULL;
}

/* A table marks what chance explains in one of twenty cases. A failing job is worse than a mark. */
static const double gate_probability = 0.01;

static bool gate_means_meet(const struct gate *gate, const struct diff *d, const struct diff_row *row)
{
    const struct diff_pair *pair = &row->values[gate->value];
    const struct gate_sums sums = diff_sums(d, pair);
    return diff_row_knows(d, row, (enum diff_value)gate->value) && diff_pair_is_certain(d, pair) &&
           gate_is_met(gate, &sums);
}

/* Whether chance has no part in the calls before, and each run after meets the condition. */
static bool gate_calls_are_certain(const struct gate *gate, const struct diff *d, const struct diff_row *row)
{
    const uint64_t nearest = gate->above ? row->least_calls[DIFF_AFTER] : row->most_calls[DIFF_AFTER];
    const struct gate_sums sums = { row->values[DIFF_CALLS].sum[DIFF_BEFORE], nearest, d->side_count[DIFF_BEFORE], 1 };
    return row->chance == CHANCE_NONE && gate_is_met(gate, &sums);
}

bool diff_gate_fails(const struct gate *gate, const struct diff *d, const struct diff_row *row)
{
    if (!gate_means_meet(gate, d, row))
        return false;
    if (gate->all)
        return true;
    if (gate->value == DIFF_CALLS)
        return gate_calls_are_certain(gate, d, row);
    return row->values[gate->value].probability <= gate_probability;
}

bool diff_gate_leaves_out(const struct gate *gate, const struct diff *d, const struct diff_row *row)
{
    return gate->value == DIFF_CALLS && gate_means_meet(gate, d, row) && !diff_gate_fails(gate, d, row);
}

const char *diff_chance_text(const struct diff_row *row)
{
    static const char *const texts[] = {
        [CHANCE_NONE] = "differs between the runs after",
        [CHANCE_SYSTEM] = "a call of the system, or a wait",
        [CHANCE_CALLED] = "called by such a call",
        [CHANCE_RUNS] = "differs between the runs before",
        [CHANCE_WAITS] = "differs no more than its callers' waits for a condition",
    };
    return texts[row->chance];
}

/* ---- the report of failures ---- */

static void gate_print_time(uint64_t ns, FILE *out)
{
    char text[TIME_TEXT];
    text_time(ns, text);
    fputs(text, out);
}

static void gate_print_value(const struct diff *d, const struct diff_pair *pair, enum diff_value value,
                             enum diff_side side, FILE *out)
{
    if (value != DIFF_CALLS && !d->samples)
        gate_print_time(pair->mean[side], out);
    else if (pair->sum[side] % d->side_count[side])
        fprintf(out, "%.2f", (double)pair->sum[side] / (double)d->side_count[side]);
    else
        fprintf(out, "%" PRIu64, pair->mean[side]);
}

void diff_print_change(const struct diff *d, const struct diff_row *row, enum diff_value value, FILE *out)
{
    const struct diff_pair *pair = &row->values[value];
    const struct gate_sums sums = diff_sums(d, pair);
    if (!diff_row_knows(d, row, value)) {
        fputs("unknown", out);
        return;
    }
    gate_print_value(d, pair, value, DIFF_BEFORE, out);
    fputs(" -> ", out);
    gate_print_value(d, pair, value, DIFF_AFTER, out);
    if (!row->present[DIFF_BEFORE])
        fputs(" (new)", out);
    else if (!row->present[DIFF_AFTER])
        fputs(" (gone)", out);
    else if (pair->sum[DIFF_BEFORE])
        fprintf(out, " (%+.2f %%)", gate_percent(&sums));
}

static bool gate_row_fails(const struct gate *gate, const void *comparison, size_t row)
{
    const struct diff *d = comparison;
    return diff_gate_fails(gate, d, &d->rows[row]);
}

static bool gate_row_is_left_out(const struct gate *gate, const void *comparison, size_t row)
{
    const struct diff *d = comparison;
    return diff_gate_leaves_out(gate, d, &d->rows[row]);
}

static void gate_print_row(const struct gate *gate, const void *comparison, size_t row, FILE *out)
{
    const struct diff *d = comparison;
    char *name = diff_row_name(d, &d->rows[row]);
    print_text(out, "  %s: ", name);
    diff_print_change(d, &d->rows[row], (enum diff_value)gate->value, out);
    if (diff_gate_leaves_out(gate, d, &d->rows[row]))
        fprintf(out, ": %s", diff_chance_text(&d->rows[row]));
    fputs("\n", out);
    free(name);
}

size_t diff_gate_report(const struct gate *gate, const struct diff *d, FILE *out)
{
    static const char *const things[] = {
        [DIFF_FUNCTIONS] = "function", [DIFF_MODULES] = "module", [DIFF_PATHS] = "call path"
    };
    const struct gate_rows rows = {
        d, things[d->by], d->row_count, gate_row_fails, gate_print_row, gate_row_is_left_out
    };
    const size_t failing = gate_report(gate, &rows, out);
    if (failing && gate->value == DIFF_CALLS && !gate->all && d->threads && d->side_count[DIFF_BEFORE] == 1)
        fputs(
            "  one session before does not show which calls differ between runs; several do (dwell record --runs 3)\n",
            out);
    return failing;
}
