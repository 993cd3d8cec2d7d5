/* dwell scaling: how the time of a function's calls grows with a value of an argument. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/loaded_values.h"
#include "arguments/value_choice.h"
#include "base/counted_text.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text_options.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/function_words.h"
#include "report/text_lines.h"
#include "report/text_summary.h"
#include "symbols/display_name.h"
#include "tables/scaling.h"

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },     { SHARED_CALLS, NULL },    { SHARED_FORMAT, NULL }, { SHARED_TEXT, NULL },
    { SHARED_RAW, NULL },      { SHARED_NO_MERGE, NULL }, { SHARED_JOBS, NULL },   { SHARED_STRICT, NULL },
    { SHARED_CSV_SAFE, NULL }, { SHARED_END, NULL },
};

enum scaling_model { MODEL_POWER, MODEL_USUAL };
static const struct option_word models[] = { { "power", MODEL_POWER }, { "usual", MODEL_USUAL }, { NULL, 0 } };

struct scaling_settings {
    struct shared_options shared;
    struct function_words words;
    enum scaling_model model;
    const char *total;
    double *predicted; /* values for which a time is wanted */
    size_t predicted_count, predicted_room;
};

static void scaling_read_value(void *settings, const struct option_row *row, char *argument)
{
    struct scaling_settings *s = settings;
    char *end;
    const double value = strtod(argument, &end);
    (void)row;
    if (end == argument || *end || !isfinite(value) || value <= 0)
        die(STATUS_ERROR, "--predict: '%s' is no number above zero", argument);
    GROW(s->predicted, s->predicted_count, s->predicted_room);
    s->predicted[s->predicted_count++] = value;
}

static const struct option_row options[] = {
    { "model", "MODEL", "power: t = a + b*n^k (default); usual: the best of 1, log n, n, n log n, n^2, n^2 log n, n^3",
      STORE_CHOICE(struct scaling_settings, model, models) },
    { "predict", "N", "Say how long a call with this value would take; may be repeated", READ_BY(scaling_read_value) },
    { "total", "FUNCTION", "The time of all calls of this function below each call, in place of the call's own",
      STORE_TEXT(struct scaling_settings, total) },
    { TAKE_FUNCTION(struct scaling_settings, words) },
    { 0 },
};

static const struct command_line line = {
    .name = "scaling",
    .arguments = "FUNCTION:WHAT [FILE...]",
    .text =
        "Says how the time of a function's calls grows with a value of an argument.\v"
        "First record the values: dwell record --values FUNCTION:WHAT ./prog, with several values of WHAT. The "
        "exponent k of t = a + b*n^k is fitted to the median times of the values: 1 is linear, 2 is quadratic. More "
        "than 40 values become ranges. A few values that were disturbed hardly count. The interval shows how sure the "
        "exponent is. Several sessions count as one. Of recursive calls, the outermost one counts.\n\n"
        "Examples:\n"
        "  dwell scaling 'sort:n'\n"
        "  dwell scaling --predict 1000000 'sort:n' small.data large.data\n"
        "  dwell scaling --total compare 'sort:n'",
    .options = options,
    .needs = SESSION_SINGLE_CALLS,
    .shared = shared,
};

/* ---- sessions ---- */

/* What is counted over all sessions. The first one stays loaded, for its summary and names. */
struct scaling_sessions {
    struct analysis first;
    struct scaling_calls calls;
    uint32_t function;
    char *what;
    uint64_t lost, later;
    size_t damaged, count;
};

static void scaling_load_session(struct scaling_sessions *all, struct analysis *analysis,
                                 const struct scaling_settings *s, const char *function, const char *path)
{
    struct error error = { NULL };
    struct recorded_argument argument;
    shared_options_load(analysis, path, &s->shared);
    const uint32_t number = option_timed_function(analysis, function);
    const uint32_t total = s->total ? option_timed_function(analysis, s->total) : PROFILE_NONE;
    const struct recorded_values *values = loaded_values(analysis);
    if (!recorded_argument_find(&argument, analysis, values, number, all->what, &error))
        die_of(&error);
    if (!recorded_value_is_number(argument.value))
        die(STATUS_ERROR, "scaling: %s of %s is no number", argument.value->name, analysis->names[number].name);
    if (!all->what)
        all->what = need_copy(argument.value->name, strlen(argument.value->name));
    scaling_calls_add(&all->calls, analysis, &argument, total);
    all->function = all->count ? all->function : number;
    all->lost += analysis->file->more.lost_values;
    all->damaged += values->damaged_chunks;
    all->later += values->later_calls;
    all->count++;
}

static void scaling_load(struct scaling_sessions *all, const struct scaling_settings *s, const char *function)
{
    scaling_load_session(all, &all->first, s, function, function_words_file(&s->words));
    for (size_t i = 1; i < s->words.count; i++) {
        struct analysis other;
        scaling_load_session(all, &other, s, function, s->words.words[i]);
        analysis_drop(&other);
    }
}

static void scaling_add_remarks(struct scaling_sessions *all, const struct scaling *scaling)
{
    struct summary *summary = &all->first.summary;
    const size_t short_ones = scaling->point_count - scaling->fitted_count;
    recorded_argument_remark_valueless(summary, all->calls.valueless, false);
    if (all->calls.unsuitable)
        summary_remark(summary, "values-not-above-zero", "left out, as their values are not above zero: %s",
                       COUNTED(all->calls.unsuitable, "call"));
    if (short_ones)
        summary_remark(summary, "scaling-short-times", "not fitted, as they are below what the probes take: %s",
                       COUNTED(short_ones, "time"));
    recorded_argument_remark_losses(summary, all->lost, all->damaged, all->later);
}

/* ---- text ---- */

static const char *scaling_verb(const struct power_law *law)
{
    if (law->certain && law->low.exponent <= 0 && law->high.exponent >= 0)
        return "hardly changes";
    return law->best.exponent < 0 ? "falls" : "grows";
}

static void scaling_print_time(double ns, char text[TIME_TEXT])
{
    static const double most = 9e18;
    text_time((uint64_t)fmin(fmax(ns, 0) + 0.5, most), text);
}

static void scaling_print_prediction(const struct scaling *scaling, const struct scaling_settings *s, double value)
{
    const struct scaling_prediction p = scaling_predict(scaling, value, s->model == MODEL_USUAL);
    char time[TIME_TEXT], low[TIME_TEXT], high[TIME_TEXT], *number = scaling_number(value);
    scaling_print_time(p.ns, time);
    scaling_print_time(p.low, low);
    scaling_print_time(p.high, high);
    if (p.certain)
        text_print_lines(stdout, "a call with %s would take %s (95 %%: %s to %s)", number, time, low, high);
    else
        text_print_lines(stdout, "a call with %s would take %s", number, time);
    free(number);
}

static void scaling_print_change(const struct law_change *change, const char *n)
{
    char *below = scaling_law_text(&change->below, n), *above = scaling_law_text(&change->above, n);
    text_print_lines(stdout, "the law changes at about %s = %.3g: below it %s, above it %s", n, change->at, below,
                     above);
    free(below);
    free(above);
}

static void scaling_print_code(const struct scaling *scaling, const char *n)
{
    char *law = scaling_law_text(&scaling->code[0].law, n), *name = display_name(scaling->code[0].name);
    text_print_lines(stdout, "the own code of %s grows fastest: %s, %.0f %% of the time at the largest value", name,
                     law, scaling->code[0].share_percent);
    free(law);
    free(name);
}

static void scaling_print_text(const struct scaling_sessions *all, const struct scaling *scaling,
                               const struct scaling_settings *s, struct table *t)
{
    const char *what = all->what;
    char *law = scaling_law_text(&scaling->law, what), *name = display_name(all->calls.series[SERIES_WHOLE].name);
    text_print_lines(stdout, "%s: the time %s with %s, in %s with %s", name, scaling_verb(&scaling->law), law,
                     COUNTED(scaling->calls, "call"), COUNTED(scaling->point_count, "value"));
    if (s->model == MODEL_USUAL)
        text_print_lines(stdout, "the usual law that fits best is %s", usual_law_names[scaling->usual.law]);
    if (scaling->change.first)
        scaling_print_change(&scaling->change, what);
    for (size_t i = 0; i < s->predicted_count; i++)
        scaling_print_prediction(scaling, s, s->predicted[i]);
    if (scaling->code_count)
        scaling_print_code(scaling, what);
    putchar('\n');
    t->follows = t->own_summary = true;
    table_print_text(t, stdout);
    text_print_facts(&all->first.summary, true, stdout);
    free(law);
    free(name);
}

/* ---- JSON ---- */

static void scaling_print_number(const char *key, double number, bool known)
{
    if (known && isfinite(number))
        printf(", \"%s\": %.4f", key, scaling_round(number, 1e4));
    else
        printf(", \"%s\": null", key);
}

static void scaling_print_exponent(const struct power_law *law)
{
    scaling_print_number("exponent", law->best.exponent, true);
    scaling_print_number("low", law->low.exponent, law->certain);
    scaling_print_number("high", law->high.exponent, law->certain);
}

static void scaling_print_change_json(const struct law_change *change)
{
    if (!change->first) {
        fputs(",\n \"change\": null", stdout);
        return;
    }
    char *at = scaling_number(change->at);
    printf(",\n \"change\": {\"value\": %s", at);
    scaling_print_number("exponent_below", change->below.best.exponent, true);
    scaling_print_number("exponent_above", change->above.best.exponent, true);
    putchar('}');
    free(at);
}

static void scaling_print_predictions(const struct scaling *scaling, const struct scaling_settings *s)
{
    fputs(",\n \"predictions\": [", stdout);
    for (size_t i = 0; i < s->predicted_count; i++) {
        const struct scaling_prediction p = scaling_predict(scaling, s->predicted[i], s->model == MODEL_USUAL);
        char *value = scaling_number(s->predicted[i]);
        printf("%s{\"value\": %s", i ? ", " : "", value);
        printf(", \"time_ns\": %.0f", fmax(p.ns, 0));
        if (p.certain)
            printf(", \"low_ns\": %.0f, \"high_ns\": %.0f}", fmax(p.low, 0), fmax(p.high, 0));
        else
            fputs(", \"low_ns\": null, \"high_ns\": null}", stdout);
        free(value);
    }
    putchar(']');
}

static void scaling_print_code_json(const struct scaling *scaling)
{
    fputs(",\n \"code\": [", stdout);
    for (size_t i = 0; i < scaling->code_count; i++) {
        const struct scaling_code *code = &scaling->code[i];
        char *name = json_text(code->name), *module = json_text(code->module);
        printf("%s{\"function\": %s, \"module\": %s", i ? ",\n  " : "", name, module);
        scaling_print_exponent(&code->law);
        scaling_print_number("share_percent", code->share_percent, true);
        putchar('}');
        free(module);
        free(name);
    }
    putchar(']');
}

static void scaling_print_json(const struct scaling_sessions *all, const struct scaling *scaling,
                               const struct scaling_settings *s, const struct table *t)
{
    const struct function_name *name = &all->first.names[all->function];
    char *function = json_text(name->name), *module = json_text(name->module), *what = json_text(all->what);
    json_begin(stdout);
    json_print_remarks(&all->first.summary, stdout);
    printf("\"function\": %s, \"module\": %s, \"what\": %s, \"calls\": %" PRIu64, function, module, what,
           scaling->calls);
    scaling_print_exponent(&scaling->law);
    printf(", \"model\": \"%s\"", s->model == MODEL_USUAL ? usual_law_names[scaling->usual.law] : "power");
    scaling_print_change_json(&scaling->change);
    scaling_print_predictions(scaling, s);
    scaling_print_code_json(scaling);
    fputs(",\n ", stdout);
    table_print_json_rows(t, "points", stdout);
    fputs("}\n", stdout);
    free(what);
    free(module);
    free(function);
}

int command_scaling(int argc, char **argv)
{
    struct scaling_settings s = { .words = { .command = "scaling" } };
    struct scaling_sessions all = { .what = NULL };
    struct scaling scaling;
    struct error error = { NULL };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    const char *given = function_words_take(&s.words);
    char *function = need_copy(given, strlen(given));
    const char *what = value_choice_take_what(function);
    all.what = what ? need_copy(what, strlen(what)) : NULL;
    scaling_load(&all, &s, function);
    if (!scaling_find(&scaling, &all.calls, &error))
        die_of(&error);
    scaling_add_remarks(&all, &scaling);
    struct table t = view_scaling(&scaling, s.model == MODEL_USUAL);
    if (s.shared.print == table_print_text)
        scaling_print_text(&all, &scaling, &s, &t);
    else if (s.shared.print == table_print_json)
        scaling_print_json(&all, &scaling, &s, &t);
    else
        s.shared.print(&t, stdout);
    table_drop(&t);
    scaling_drop(&scaling);
    scaling_calls_drop(&all.calls);
    analysis_drop(&all.first);
    free(all.what);
    free(function);
    free(s.predicted);
    shared_options_drop(&s.shared);
    function_words_drop(&s.words);
    return finish_output();
}
