/* Parses conditions of --fail-if, and compares changes with them. */
#include "comparison/gate_condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/visible.h"
#include "base/wide.h"

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

static bool gate_read_unit(struct gate *gate, const char *at)
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

static bool gate_set_unknown_value(const char *const *names, size_t count, struct error *error)
{
    size_t length;
    char *list = NULL;
    FILE *out = need_stream(&list, &length);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? ", " : "", names[i]);
    need_stream_end(out);
    error_set(error, "unknown value; the values are %s", list);
    free(list);
    return false;
}

static size_t gate_find_value(const char *text, size_t length, const char *const *names, size_t count)
{
    size_t i = 0;
    while (i < count && (strlen(names[i]) != length || strncmp(names[i], text, length) != 0))
        i++;
    return i;
}

bool gate_parse(struct gate *gate, const char *text, const char *const *names, size_t count, struct error *error)
{
    static const char form[] =
        "a condition is a value, > or <, and a change, such as 'calls > +0' or 'cpu_exclusive > +10%'";
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_", prefix[] = "all_";
    const char *at = gate_skip_blanks(text);
    const bool all = strncmp(at, prefix, sizeof prefix - 1) == 0;
    at += all ? sizeof prefix - 1 : 0;
    const size_t length = strspn(at, letters);
    *gate = (struct gate){ .text = text, .value = gate_find_value(at, length, names, count), .all = all };
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
    if (gate->value == count)
        return gate_set_unknown_value(names, count, error);
    return true;
}

/* The difference of the means, multiplied by both numbers of runs: an integer. */
static int128 gate_scaled_change(const struct gate_sums *sums)
{
    return (int128)sums->after * (int128)sums->runs_before - (int128)sums->before * (int128)sums->runs_after;
}

double gate_percent(const struct gate_sums *sums)
{
    return (double)(100 * (long double)gate_scaled_change(sums) /
                    ((long double)sums->before * (long double)sums->runs_after));
}

bool gate_sums_differ(const struct gate_sums *sums)
{
    return (uint128)sums->before * sums->runs_after != (uint128)sums->after * sums->runs_before;
}

bool gate_is_met(const struct gate *gate, const struct gate_sums *sums)
{
    const long double scaled = (long double)gate_scaled_change(sums);
    long double change = scaled / ((long double)sums->runs_before * (long double)sums->runs_after);
    if (gate->unit == GATE_PERCENT) {
        if (sums->before == 0 && sums->after)
            return gate->above; /* a change from zero is more than any percentage */
        change = sums->before ? 100 * scaled / ((long double)sums->before * (long double)sums->runs_after) : 0;
    }
    return gate->above ? change > (long double)gate->limit : change < (long double)gate->limit;
}

char *gate_for_all(const struct gate *gate)
{
    return need_text("all_%s", gate_skip_blanks(gate->text));
}

typedef bool gate_test(const struct gate *gate, const void *comparison, size_t row);

static size_t gate_count(const struct gate *gate, const struct gate_rows *rows, gate_test *test)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += test(gate, rows->comparison, i);
    return count;
}

static void gate_print_rows(const struct gate *gate, const struct gate_rows *rows, gate_test *test, size_t most,
                            FILE *out)
{
    size_t found = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (test(gate, rows->comparison, i) && ++found <= most)
            rows->print(gate, rows->comparison, i, out);
    if (found > most)
        fprintf(out, "  and %zu more\n", found - most);
}

size_t gate_report(const struct gate *gate, const struct gate_rows *rows, FILE *out)
{
    enum { MOST_FAILING = 10, MOST_LEFT_OUT = 3 };
    const size_t count = gate_count(gate, rows, rows->fails);
    const size_t left_out = rows->leaves_out ? gate_count(gate, rows, rows->leaves_out) : 0;
    if (count) {
        print_text(out, "dwell: --fail-if '%s': %s\n", gate->text, COUNTED(count, rows->thing));
        gate_print_rows(gate, rows, rows->fails, MOST_FAILING, out);
    }
    if (left_out) {
        char *all = gate_for_all(gate);
        print_text(out, "dwell: --fail-if '%s': left out %s whose calls chance decides; '%s' counts %s\n", gate->text,
                   COUNTED(left_out, rows->thing), all, counted_word(left_out, "it", "them"));
        gate_print_rows(gate, rows, rows->leaves_out, MOST_LEFT_OUT, out);
        free(all);
    }
    return count;
}
