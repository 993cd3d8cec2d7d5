/* Finds the recorded values of a function by its name and theirs. */
#include "tables/recorded_argument.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/shell_word.h"

/* Modules without a build-id are not told apart. */
static bool argument_is_in(const struct profile_module *m, const struct recorded_function *r)
{
    return !m->build_id_length || !r->build_id_length ||
           (m->build_id_length == r->build_id_length && memcmp(m->build_id, r->build_id, r->build_id_length) == 0);
}

static bool argument_is_of(const struct analysis *analysis, uint32_t function, const struct recorded_function *r)
{
    const struct profile *p = analysis->profile;
    if (!argument_is_in(&p->modules[p->functions[function].module], r))
        return false;
    if (p->functions[function].offset == r->offset)
        return true;
    for (size_t i = 0; i < p->alias_count; i++)
        if (p->aliases[i].function == function && p->aliases[i].offset == r->offset)
            return true;
    return false;
}

const struct recorded_function *recorded_argument_function(struct recorded_argument *a, const struct analysis *analysis)
{
    for (size_t i = 0; i < a->values->function_count; i++) {
        if (!argument_is_of(analysis, a->function, &a->values->functions[i]))
            continue;
        a->recorded = (uint32_t)i;
        return &a->values->functions[i];
    }
    return NULL;
}

static const struct recorded_function *argument_need_function(struct recorded_argument *a,
                                                              const struct analysis *analysis, struct error *error)
{
    const struct recorded_function *r = recorded_argument_function(a, analysis);
    const char *name = analysis->names[a->function].name;
    char *word = shell_word(name);
    if (!r && recorded_values_are_withheld())
        error_set(error, "values are left out here: dwell mcp --with-values shows them");
    else if (!r)
        error_set(error, "no values of %s are recorded; dwell record --values %s does so", name, word);
    free(word);
    return r;
}

static char *argument_list_names(const struct recorded_function *r)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (uint32_t i = 0; i < r->value_count; i++)
        fprintf(out, "%s%s", i ? ", " : "", r->values[i].name);
    need_stream_end(out);
    return text;
}

/* Without a name, the only value is meant, or the only one that is no result. */
static bool argument_is_meant(const struct recorded_function *r, uint32_t number, const char *what)
{
    uint32_t others = 0;
    if (what)
        return strcmp(r->values[number].name, what) == 0;
    for (uint32_t i = 0; i < r->value_count; i++)
        others += i != number && (r->values[number].result || !r->values[i].result);
    return others == 0;
}

static bool argument_find_value(struct recorded_argument *a, const struct recorded_function *r, const char *what,
                                struct error *error)
{
    for (uint32_t i = 0; i < r->value_count; i++) {
        if (!argument_is_meant(r, i, what))
            continue;
        a->index = i;
        a->value = &r->values[i];
        return true;
    }
    char *names = argument_list_names(r);
    if (what)
        error_set(error, "'%s' is not recorded of that function; what is: %s", what, names);
    else
        error_set(error, "several values are recorded of that function; name one as FUNCTION:WHAT: %s", names);
    free(names);
    return false;
}

bool recorded_argument_find(struct recorded_argument *a, const struct analysis *analysis,
                            const struct recorded_values *values, uint32_t function, const char *what,
                            struct error *error)
{
    *a = (struct recorded_argument){ .values = values, .function = function };
    const struct recorded_function *r = argument_need_function(a, analysis, error);
    return r && argument_find_value(a, r, what, error);
}

const struct recorded_row *recorded_argument_row(const struct recorded_argument *a, uint32_t thread, uint64_t time)
{
    size_t count;
    const struct recorded_row *rows = recorded_values_at(a->values, thread, time, &count);
    while (count && rows->function != a->recorded)
        rows++, count--;
    return count ? rows : NULL;
}

bool recorded_value_is_number(const struct recorded_value *value)
{
    return value->kind == DWELL_VALUE_SIGNED || value->kind == DWELL_VALUE_UNSIGNED || value->kind == DWELL_VALUE_FLOAT;
}

static double argument_float(const struct recorded_value *value, uint64_t word)
{
    double number;
    float narrow;
    if (value->bytes == sizeof narrow) {
        memcpy(&narrow, &word, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&number, &word, sizeof number);
    return number;
}

double recorded_value_number(const struct recorded_value *value, uint64_t word)
{
    switch (value->kind) {
    case DWELL_VALUE_FLOAT:
        return argument_float(value, word);
    case DWELL_VALUE_SIGNED:
        return (double)(int64_t)word;
    case DWELL_VALUE_ENUM:
        return value->unsigned_enum ? (double)word : (double)(int64_t)word;
    default:
        return (double)word;
    }
}

void recorded_argument_remark_valueless(struct summary *summary, uint64_t calls, bool sums)
{
    if (calls)
        summary_remark(
            summary, "calls-without-values", "%s of the function %s no values, %sand %s not shown",
            COUNTED(calls, "call"), counted_word(calls, "has", "have"),
            !sums ? "" : counted_word(calls, "or is within another call of it, ", "or are within another call of it, "),
            counted_word(calls, "is", "are"));
}

void recorded_argument_remark_others(struct summary *summary, uint64_t calls)
{
    if (calls)
        summary_remark(summary, "calls-with-other-values",
                       "%s %s values beyond the first ones of their call path (others)", COUNTED(calls, "call"),
                       counted_word(calls, "has", "have"));
}

void recorded_argument_remark_losses(struct summary *summary, uint64_t lost, size_t damaged_chunks,
                                     uint64_t later_calls)
{
    if (lost)
        summary_remark(summary, "values-lost", "the values of %s were lost (dwell info says why)",
                       lost == 1 ? "1 enter or exit" : COUNTED(lost, "enters and exit"));
    if (damaged_chunks)
        summary_remark(summary, "values-damaged", "%s of values %s damaged, and %s not read to %s",
                       COUNTED(damaged_chunks, "chunk"), counted_word(damaged_chunks, "is", "are"),
                       counted_word(damaged_chunks, "was", "were"),
                       counted_word(damaged_chunks, "its end", "their ends"));
    if (later_calls)
        summary_remark(summary, "values-later",
                       "%s %s of functions whose values began while the session was read: read it again",
                       COUNTED(later_calls, "call"), counted_word(later_calls, "is", "are"));
}
