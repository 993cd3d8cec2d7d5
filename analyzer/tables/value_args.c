/* Finds the recorded values of calls, and writes them in JSON. */
#include "tables/value_args.h"

#include <math.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "tables/recorded_argument.h"
#include "tables/value_ranges.h"

struct value_args value_args_begin(const struct analysis *session, const struct recorded_values *values)
{
    struct value_args a = { values, NULL };
    const size_t count = values && values->function_count ? session->profile->function_count : 0;
    a.recorded = need_memory(session->profile->function_count + 1, sizeof *a.recorded);
    for (uint32_t i = 0; i < count; i++) {
        struct recorded_argument argument = { .values = values, .function = i };
        if (recorded_argument_function(&argument, session))
            a.recorded[i] = 1 + argument.recorded;
    }
    return a;
}

void value_args_end(struct value_args *a)
{
    free(a->recorded);
}

const struct recorded_row *value_args_of(const struct value_args *a, uint32_t function, uint32_t thread, uint64_t time)
{
    if (!a->recorded[function])
        return NULL;
    const struct recorded_argument argument = { .values = a->values,
                                                .function = function,
                                                .recorded = a->recorded[function] - 1 };
    return recorded_argument_row(&argument, thread, time);
}

static enum value_arg_kind value_arg_kind(const struct recorded_value *v, const uint64_t *words)
{
    if (!words)
        return VALUE_ARG_UNREADABLE;
    if (recorded_value_is_word(v) || recorded_value_is_named(v, words))
        return VALUE_ARG_TEXT;
    switch (v->kind) {
    case DWELL_VALUE_BOOL:
        return VALUE_ARG_BOOL;
    case DWELL_VALUE_FLOAT:
        return VALUE_ARG_REAL;
    case DWELL_VALUE_ENUM:
        return v->unsigned_enum ? VALUE_ARG_UNSIGNED : VALUE_ARG_SIGNED;
    default:
        return v->kind == DWELL_VALUE_SIGNED ? VALUE_ARG_SIGNED : VALUE_ARG_UNSIGNED;
    }
}

uint32_t value_args_count(const struct value_args *a, const struct recorded_row *row)
{
    return a->values->functions[row->function].value_count;
}

/* Some readers would show the sign of what is no number. */
static double value_arg_real(double number)
{
    return isnan(number) ? (double)NAN : number;
}

struct value_arg value_args_get(const struct value_args *a, const struct recorded_row *row, uint32_t i)
{
    const struct recorded_value *v = &a->values->functions[row->function].values[i];
    const uint64_t *words = recorded_value_words(a->values, row, i);
    const enum value_arg_kind kind = value_arg_kind(v, words);
    return (struct value_arg){
        .name = v->name,
        .kind = kind,
        .text = recorded_value_data(v, words),
        .word = words ? *words : 0,
        .real = words && kind == VALUE_ARG_REAL ? value_arg_real(recorded_value_number(v, *words)) : 0,
    };
}

char *value_args_text(const struct recorded_values *values, const struct recorded_row *row)
{
    const struct recorded_function *f = &values->functions[row->function];
    char *all;
    size_t length;
    FILE *out = need_stream(&all, &length);
    for (uint32_t i = 0; i < f->value_count; i++) {
        char *text = recorded_value_text(&f->values[i], recorded_value_words(values, row, i));
        fprintf(out, "%s%s=%s", i ? ", " : "", f->values[i].name, text);
        free(text);
    }
    need_stream_end(out);
    return all;
}

/* JSON has no number for what is none, or endless: that is a text. */
static bool value_arg_is_json(const struct value_arg *arg)
{
    return arg->kind == VALUE_ARG_REAL ? isfinite(arg->real) : arg->kind >= VALUE_ARG_BOOL;
}

void value_args_put_json(const struct value_args *a, const struct recorded_row *row, FILE *out)
{
    for (uint32_t i = 0; i < value_args_count(a, row); i++) {
        const struct value_arg arg = value_args_get(a, row, i);
        fputs(i ? "," : "{", out);
        json_put_text(out, arg.name);
        fputc(':', out);
        if (arg.kind == VALUE_ARG_UNREADABLE)
            fputs("null", out);
        else if (value_arg_is_json(&arg))
            fputs(arg.text, out);
        else
            json_put_text(out, arg.text);
        free(arg.text);
    }
    fputc('}', out);
}
