/* Compares the rows of a comparison with the conditions that fail it, and prints those that fail. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/visible.h"
#include "report/diff.h"

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
    return NULL;
}

bool diff_gate_fails(const struct gate *gate, const struct diff *d, const struct diff_row *row)
{
    const struct diff_pair *pair = &row->values[gate->value];
    const struct gate_sums sums = diff_sums(d, pair);
    if (!diff_row_knows(d, row, (enum diff_value)gate->value))
        return false;
    if (!diff_pair_is_certain(d, pair))
        return false;
    if (gate->value != DIFF_CALLS && diff_is_tested(d) && pair->judged != JUDGED_SIGNIFICANT)
        return false;
    return gate_is_met(gate, &sums);
}

/* ---- the report of failures ---- */

static void gate_print_time(uint64_t ns, FILE *out)
{
    const uint64_t thousandth = ns >= 100000000 ? 1000 : 1; /* of a millisecond, or of a microsecond */
    const uint64_t parts = ns / thousandth + (ns % thousandth * 2 >= thousandth && thousandth > 1);
    fprintf(out, "%" PRIu64 ".%03" PRIu64 " %s", parts / 1000, parts % 1000, thousandth > 1 ? "ms" : "us");
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

static void gate_print_failure(const struct gate *gate, const void *comparison, size_t row, FILE *out)
{
    const struct diff *d = comparison;
    char *name = diff_row_name(d, &d->rows[row]);
    print_text(out, "  %s: ", name);
    diff_print_change(d, &d->rows[row], (enum diff_value)gate->value, out);
    fputs("\n", out);
    free(name);
}

size_t diff_gate_report(const struct gate *gate, const struct diff *d, FILE *out)
{
    static const char *const things[] = {
        [DIFF_FUNCTIONS] = "function", [DIFF_MODULES] = "module", [DIFF_PATHS] = "call path"
    };
    const struct gate_rows rows = { d, things[d->by], d->row_count, gate_row_fails, gate_print_failure };
    return gate_report(gate, &rows, out);
}
