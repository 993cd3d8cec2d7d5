/* Parses conditions on exponents, and fits the laws of both sides when all sessions are loaded. */
#include "commands/exponent_gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/loaded_values.h"
#include "arguments/value_choice.h"
#include "base/comparison.h"
#include "base/memory.h"
#include "base/visible.h"
#include "commands/commands.h"
#include "tables/scaling.h"

static const char gate_begin[] = "exponent(";

bool exponent_gate_is(const char *text)
{
    return strncmp(text + strspn(text, " "), gate_begin, sizeof gate_begin - 1) == 0;
}

/* The last parenthesis before the sign: names of C++ have others. */
static const char *exponent_gate_end(const char *text)
{
    const char *end = strrchr(text, ')');
    return end && end[1 + strspn(end + 1, " ")] ? end : NULL;
}

static bool exponent_gate_read_limit(struct exponent_gate *gate, const char *at)
{
    enum comparison sign;
    char *end;
    at += strspn(at, " ");
    const size_t length = comparison_read(at, &sign);
    gate->above = sign == COMPARE_GREATER;
    if (!length || (sign != COMPARE_GREATER && sign != COMPARE_LESS))
        return false;
    gate->limit = strtod(at + length, &end);
    return end != at + length && !end[strspn(end, " ")] && isfinite(gate->limit);
}

bool exponent_gates_add(struct exponent_gates *gates, const char *text, struct error *error)
{
    const char *name = text + strspn(text, " ") + sizeof gate_begin - 1, *end = exponent_gate_end(name);
    struct exponent_gate gate = { .text = text };
    if (!end || end == name || !exponent_gate_read_limit(&gate, end + 1))
        return error_set(error, "such a condition is a function, a value, > or <, and a change of the exponent, as in "
                                "'exponent(sort:n) > +0.2'");
    gate.function = comparison_side(name, (size_t)(end - name));
    gate.what = value_choice_take_what(gate.function);
    GROW(gates->list, gates->count, gates->room);
    gates->list[gates->count++] = gate;
    return true;
}

/* ---- sessions ---- */

static void exponent_gate_load(struct exponent_gate *gate, enum diff_side side, const struct analysis *analysis,
                               const struct recorded_values *values)
{
    struct error error = { NULL };
    struct recorded_argument argument;
    const uint32_t function = option_timed_function(analysis, gate->function);
    if (!recorded_argument_find(&argument, analysis, values, function, gate->what, &error))
        die(STATUS_ERROR, "--fail-if '%s': %s: %s", gate->text, analysis->file->path, error.text);
    if (!recorded_value_is_number(argument.value))
        die(STATUS_ERROR, "--fail-if '%s': %s is no number", gate->text, argument.value->name);
    scaling_calls_add(&gate->sides[side], analysis, &argument, PROFILE_NONE);
}

void exponent_gates_load(struct exponent_gates *gates, enum diff_side side, const struct analysis *analysis)
{
    if (!gates->count)
        return;
    for (size_t i = 0; i < gates->count; i++)
        exponent_gate_load(&gates->list[i], side, analysis, loaded_values(analysis));
}

/* ---- the comparison ---- */

static struct power_law exponent_gate_fit(const struct exponent_gate *gate, enum diff_side side)
{
    static const char *const names[] = { [DIFF_BEFORE] = "before", [DIFF_AFTER] = "after" };
    struct error error = { NULL };
    struct scaling scaling;
    if (!gate->sides[side].series_count)
        die(STATUS_ERROR, "--fail-if '%s': these sessions have no single calls with values", gate->text);
    if (!scaling_find(&scaling, &gate->sides[side], &error))
        die(STATUS_ERROR, "--fail-if '%s': %s: %s", gate->text, names[side], error.text);
    const struct power_law law = scaling.law;
    scaling_drop(&scaling);
    if (!law.certain)
        die(STATUS_ERROR, "--fail-if '%s': %s: too few different values for an interval of the exponent", gate->text,
            names[side]);
    return law;
}

void exponent_gates_fit(struct exponent_gates *gates)
{
    for (size_t i = 0; i < gates->count; i++)
        for (enum diff_side side = 0; side < DIFF_SIDES; side++)
            gates->list[i].laws[side] = exponent_gate_fit(&gates->list[i], side);
}

static bool exponent_gate_is_met(const struct exponent_gate *gate, double change)
{
    return gate->above ? change > gate->limit : change < gate->limit;
}

static bool exponent_gate_is_certain(const struct power_law *before, const struct power_law *after)
{
    return before->high.exponent < after->low.exponent || after->high.exponent < before->low.exponent;
}

static bool exponent_gate_report(const struct exponent_gate *gate, FILE *out)
{
    const struct power_law *before = &gate->laws[DIFF_BEFORE], *after = &gate->laws[DIFF_AFTER];
    const double change = after->best.exponent - before->best.exponent;
    const bool certain = exponent_gate_is_certain(before, after);
    if (!exponent_gate_is_met(gate, change))
        return false;
    const char *what = gate->what ? gate->what : "n";
    char *of_before = scaling_law_text(before, what), *of_after = scaling_law_text(after, what);
    print_text(out, "dwell: --fail-if '%s': %s\n", gate->text,
               certain ? "the exponent has changed" : "left out, as the intervals overlap");
    print_text(out, "  %s: %s -> %s (%+.2f)\n", gate->function, of_before, of_after, scaling_round(change, 100));
    free(of_before);
    free(of_after);
    return certain;
}

bool exponent_gates_report(const struct exponent_gates *gates, FILE *out)
{
    bool failed = false;
    for (size_t i = 0; i < gates->count; i++)
        failed |= exponent_gate_report(&gates->list[i], out);
    return failed;
}

void exponent_gates_drop(struct exponent_gates *gates)
{
    for (size_t i = 0; i < gates->count; i++) {
        free(gates->list[i].function);
        for (int side = 0; side < DIFF_SIDES; side++)
            scaling_calls_drop(&gates->list[i].sides[side]);
    }
    free(gates->list);
}
