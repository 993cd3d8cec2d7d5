/* Conditions that fail a comparison, for scripts that check a program's speed: parses and evaluates them, and prints
 * the rows that fail. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/visible.h"
#include "base/wide.h"
#include "report/diff.h"

static const char *gate_skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* The length of digits with an optional point between them. strtod would accept more. */
static size_t gate_number_length(const char *at)
{
    static const char digits[] = "0123456789";
    const size_t whole = strspn(at, digits);
    if (!whole || at[whole] != '.')
        return whole;
    const size_t rest = strspn(at + whole + 1, digits);
    return rest ? whole + 1 + rest : 0;
}

static double gate_read_number(const char *at, size_t length)
{
    double number = 0, place = 1;
    bool behind = false;
    for (size_t i = 0; i < length; i++) {
        if (at[i] == '.') {
            behind = true;
            continue;
        }
        number = number * 10 + (at[i] - '0');
        place = behind ? place * 10 : place;
    }
    return number / place;
}

static bool gate_read_unit(struct diff_gate *gate, const char *at)
{
    static const struct {
        const char *name;
        int unit;
        double factor;
    } units[] = {
        { "", GATE_COUNT, 1 },    { "%", GATE_PERCENT, 1 }, { "ns", GATE_TIME, 1 },
        { "us", GATE_TIME, 1e3 }, { "ms", GATE_TIME, 1e6 }, { "s", GATE_TIME, 1e9 },
    };
    const size_t length = strcspn(at, " \t");
    if (*gate_skip_blanks(at + length))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != length || strncmp(units[i].name, at, length) != 0)
            continue;
        gate->unit = units[i].unit;
        gate->limit *= units[i].factor;
        return true;
    }
    return false;
}

static bool gate_set_unknown_value(struct error *error)
{
    size_t length;
    char *names = NULL;
    FILE *out = need_stream(&names, &length);
    for (enum diff_value i = 0; i < DIFF_VALUES; i++)
        fprintf(out, "%s%s", i ? ", " : "", diff_value_name(i));
    need_stream_end(out);
    error_set(error, "unknown value; the values are %s", names);
    free(names);
    return false;
}

bool diff_gate_parse(struct diff_gate *gate, const char *text, struct error *error)
{
    static const char form[] =
        "a condition is a value, > or <, and a change, such as 'calls > +0' or 'cpu_exclusive > +10%'";
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    const char *at = gate_skip_blanks(text);
    const size_t length = strspn(at, letters);
    *gate = (struct diff_gate){ .text = text, .value = diff_value_named(at, length) };
    at = gate_skip_blanks(at + length);
    if (!length || (*at != '>' && *at != '<'))
        return error_set(error, "%s", form);
    gate->above = *at == '>';
    at = gate_skip_blanks(at + 1);
    const bool less = *at == '-';
    at = gate_skip_blanks(at + (*at == '-' || *at == '+'));
    const size_t digits = gate_number_length(at);
    if (!digits)
        return error_set(error, "%s", form);
    gate->limit = less ? -gate_read_number(at, digits) : gate_read_number(at, digits);
    if (!gate_read_unit(gate, gate_skip_blanks(at + digits)))
        return error_set(error, "unknown unit; the units are %%, ns, us, ms and s");
    if (gate->value == DIFF_VALUES)
        return gate_set_unknown_value(error);
    if (gate->value == DIFF_CALLS && gate->unit == GATE_TIME)
        return error_set(error, "calls have no unit of time");
    return true;
}

const char *diff_gate_check(const struct diff_gate *gate, const struct diff *d)
{
    if (!d->known[gate->value])
        return "some of these sessions do not have this value";
    if (gate->unit == GATE_TIME && d->samples)
        return "the sessions' values are samples, which have no unit of time";
    if (gate->unit == GATE_COUNT && gate->value != DIFF_CALLS && !d->samples)
        return "a time needs a unit: %, ns, us, ms or s";
    return NULL;
}

/* The difference of the means, multiplied by both numbers of runs. It is an integer, so calls are compared exactly. */
static int128 gate_scaled_change(const struct diff *d, const struct diff_pair *pair)
{
    return (int128)pair->sum[DIFF_AFTER] * (int128)d->side_count[DIFF_BEFORE] -
           (int128)pair->sum[DIFF_BEFORE] * (int128)d->side_count[DIFF_AFTER];
}

bool diff_gate_fails(const struct diff_gate *gate, const struct diff *d, const struct diff_row *row)
{
    const struct diff_pair *pair = &row->values[gate->value];
    if (!diff_row_knows(d, row, gate->value))
        return false;
    if (!diff_pair_is_certain(d, pair))
        return false;
    if (gate->value != DIFF_CALLS && diff_is_tested(d) && pair->judged != JUDGED_SIGNIFICANT)
        return false;
    const long double scaled = (long double)gate_scaled_change(d, pair);
    const long double scale = (long double)d->side_count[DIFF_BEFORE] * (long double)d->side_count[DIFF_AFTER];
    long double change = scaled / scale;
    if (gate->unit == GATE_PERCENT) {
        const long double before = (long double)pair->sum[DIFF_BEFORE] * (long double)d->side_count[DIFF_AFTER];
        if (pair->sum[DIFF_BEFORE] == 0 && pair->sum[DIFF_AFTER])
            return gate->above; /* a change from zero is more than any percentage */
        change = pair->sum[DIFF_BEFORE] ? 100 * scaled / before : 0;
    }
    return gate->above ? change > (long double)gate->limit : change < (long double)gate->limit;
}

/* ---- the report of failures ---- */

enum { MAX_PRINTED = 10 };

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
        fprintf(out, " (%+.2f %%)",
                (double)(100 * (long double)gate_scaled_change(d, pair) /
                         ((long double)pair->sum[DIFF_BEFORE] * (long double)d->side_count[DIFF_AFTER])));
}

static void gate_print_failure(const struct diff_gate *gate, const struct diff *d, const struct diff_row *row,
                               FILE *out)
{
    char *name = diff_row_name(d, row);
    print_text(out, "  %s: ", name);
    diff_print_change(d, row, gate->value, out);
    fputs("\n", out);
    free(name);
}

size_t diff_gate_report(const struct diff_gate *gate, const struct diff *d, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < d->row_count; i++)
        count += diff_gate_fails(gate, d, &d->rows[i]);
    if (!count)
        return 0;
    static const char *const things[] = { "function", "module", "call path" };
    print_text(out, "dwell: --fail-if '%s': %zu %s%s\n", gate->text, count, things[d->by], count == 1 ? "" : "s");
    size_t printed = 0;
    for (size_t i = 0; i < d->row_count && printed < MAX_PRINTED; i++)
        if (diff_gate_fails(gate, d, &d->rows[i]) && ++printed)
            gate_print_failure(gate, d, &d->rows[i], out);
    if (count > printed)
        fprintf(out, "  and %zu more\n", count - printed);
    return count;
}
