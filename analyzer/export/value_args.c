/* Finds the recorded values of calls, and writes them in JSON. */
#include "export/value_args.h"

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

/* JSON has no number for what is none. */
static bool value_args_is_number(const struct recorded_value *v, const uint64_t *words)
{
    if (!words || recorded_value_is_word(v) || recorded_value_is_named(v, words))
        return false;
    return v->kind != DWELL_VALUE_FLOAT || isfinite(recorded_value_number(v, *words));
}

void value_args_put_json(const struct value_args *a, const struct recorded_row *row, FILE *out)
{
    const struct recorded_function *f = &a->values->functions[row->function];
    for (uint32_t i = 0; i < f->value_count; i++) {
        const uint64_t *words = recorded_value_words(a->values, row, i);
        char *text = recorded_value_text(&f->values[i], words);
        fputs(i ? "," : "{", out);
        json_put_text(out, f->values[i].name);
        fputc(':', out);
        if (value_args_is_number(&f->values[i], words))
            fputs(text, out);
        else
            json_put_text(out, text);
        free(text);
    }
    fputc('}', out);
}
