/* Loads the whole session first, as conditions name functions and their values. The calls become ranges of time, by
 * which the part is loaded as that of activities is. */
#include "commands/within_values.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/loaded_values.h"
#include "base/comparison.h"
#include "base/memory.h"
#include "base/visible.h"
#include "commands/commands.h"
#include "profile/call_scan.h"
#include "tables/recorded_argument.h"
#include "tables/value_ranges.h"
#include "tables/views.h"
#include "trace/activities.h"

/* ---- conditions ---- */

struct within_condition {
    char *function, *what, *value;
    enum comparison comparison;
    bool is_number;
    long double number; /* exact for all integers of 64 bits */
};

/* The colon before WHAT, which ends at `sign`; NULL if there is none. */
static const char *within_colon(const char *text, const char *sign)
{
    const char *colon = memrchr(text, ':', (size_t)(sign - text));
    if (!colon || colon == text || colon[-1] == ':')
        return NULL;
    const size_t spaces = strspn(colon + 1, " ");
    return colon + 1 + spaces < sign ? colon : NULL;
}

/* The point before WHAT in parse.n. */
static const char *within_point(const char *text, const char *sign)
{
    const char *point = memchr(text, '.', (size_t)(sign - text));
    return point && point > text && (isalpha((unsigned char)point[1]) || strchr("_*", point[1])) ? point : NULL;
}

typedef const char *within_border(const char *text, const char *sign);

/* The sign behind WHAT: one of operator<, A<B>::f or req->len is none. */
static const char *within_find_sign(const char *text, within_border *find)
{
    for (const char *at = text; *(at += strcspn(at, COMPARISON_SIGNS)); at++)
        if (find(text, at) && !(at[0] == '>' && at[-1] == '-'))
            return at;
    return NULL;
}

static void within_condition_drop(struct within_condition *c)
{
    free(c->function);
    free(c->what);
    free(c->value);
}

/* The condition must be dropped also if this fails. */
static bool within_parse(struct within_condition *c, const char *text)
{
    *c = (struct within_condition){ .function = NULL };
    within_border *find = within_find_sign(text, within_colon) ? within_colon : within_point;
    const char *sign = within_find_sign(text, find), *border = sign ? find(text, sign) : NULL;
    const size_t length = sign ? comparison_read(sign, &c->comparison) : 0;
    if (!length)
        return false;
    const char *value = sign + length;
    char *end;
    c->function = comparison_side(text, (size_t)(border - text));
    c->what = comparison_side(border + 1, (size_t)(sign - border - 1));
    c->value = comparison_side(value, strlen(value));
    c->number = strtold(c->value, &end);
    c->is_number = *c->value && !*end;
    return *c->function && *c->what && *c->value;
}

/* The name of a marker may have a sign in it: marker:Test=WriteFile. */
bool within_is_value(const char *text)
{
    struct within_condition c;
    const bool is = within_parse(&c, text) && !activity_is_valid_name(text);
    within_condition_drop(&c);
    return is;
}

/* Whether the text up to the sign is a column's title, as EL.EXCL is. */
static bool within_is_column(const char *text, const char *sign)
{
    char *name = comparison_side(text, (size_t)(sign - text)), *refused = view_refuse_sort(name, false, "");
    const bool is = !refused;
    free(refused);
    free(name);
    return is;
}

/* A condition on a column begins with its key, or its title. Those of waits' objects have points. */
bool within_is_filter(const char *text)
{
    static const char object[] = "object.";
    if (strncmp(text, object, sizeof object - 1) == 0)
        return false;
    const char *sign = text + strcspn(text, COMPARISON_SIGNS);
    const bool is_key = sign > text && (strcspn(text, ".:") > (size_t)(sign - text) || within_is_column(text, sign));
    return within_is_value(text) && !(is_key && *sign != '<');
}

/* ---- comparing ---- */

static long double within_number(const struct recorded_value *v, uint64_t word)
{
    if (v->kind == DWELL_VALUE_FLOAT)
        return recorded_value_number(v, word);
    const bool is_signed = v->kind == DWELL_VALUE_SIGNED || (v->kind == DWELL_VALUE_ENUM && !v->unsigned_enum);
    return is_signed ? (long double)(int64_t)word : (long double)word;
}

static bool within_has_numbers(const struct recorded_value *v)
{
    return recorded_value_is_number(v) || v->kind == DWELL_VALUE_ENUM;
}

/* Whether a terminal shows the text as this one, with an escape. */
static bool within_is_shown(const struct within_condition *c, const struct recorded_value *v, const uint64_t *words)
{
    if (!strchr(c->value, '\\'))
        return false;
    char *text = recorded_value_text(v, words), *shown = visible_text(text);
    const bool same = strcmp(c->value, shown) == 0;
    free(text);
    free(shown);
    return same;
}

/* Numbers are compared as such, and all others as the text that dwell values shows, on a terminal or in data. NAN is
 * equal to itself, as the values of dwell values are, and neither less nor more than a number. */
static bool within_holds(const struct within_condition *c, const struct recorded_value *v, const uint64_t *words)
{
    if (!words)
        return false;
    if (c->is_number && within_has_numbers(v)) {
        const long double number = within_number(v, *words);
        const int order = (number > c->number) - (number < c->number);
        if (isnan(number) || isnan(c->number))
            return (isnan(number) && isnan(c->number)) == comparison_wants_same(c->comparison) &&
                   !comparison_is_by_order(c->comparison);
        return comparison_holds(c->comparison, order);
    }
    char *data = recorded_value_data(v, words);
    const bool same = comparison_is_by_glob(c->comparison)
                          ? fnmatch(c->value, data, 0) == 0
                          : strcmp(c->value, data) == 0 || within_is_shown(c, v, words);
    free(data);
    return same == comparison_wants_same(c->comparison);
}

/* Words have no order, and numbers are no globs. */
static void within_check(const struct within_condition *c, const struct recorded_value *v, const char *option)
{
    const bool like = comparison_is_by_glob(c->comparison), by_order = comparison_is_by_order(c->comparison);
    if (recorded_value_is_number(v) && (like || !c->is_number))
        die(STATUS_ERROR, "%s: %s is a number: compare it with one, by = != < <= > >=", option, c->what);
    if (by_order && !(c->is_number && within_has_numbers(v)))
        die(STATUS_ERROR, "%s: %s is no number: compare it by = != ~ !~", option, c->what);
}

/* ---- calls ---- */

struct within_finder {
    const struct within_condition *condition;
    const struct recorded_argument *argument;
    struct thread_ranges ranges;
};

/* The range has the call's end, too. */
static void within_take_call(void *context, const struct finished_call *call)
{
    struct within_finder *f = context;
    const struct recorded_row *row = recorded_argument_row(f->argument, call->thread, call->begin);
    const uint64_t *words = row ? recorded_value_words(f->argument->values, row, f->argument->index) : NULL;
    if (within_holds(f->condition, f->argument->value, words))
        thread_ranges_add(&f->ranges, call->thread, call->begin, call->end + 1);
}

static void within_scan(struct thread_ranges *ranges, const struct analysis *analysis,
                        const struct recorded_argument *argument, const struct within_condition *c)
{
    const unsigned jobs = analysis_jobs(analysis);
    struct within_finder *finders = need_memory(jobs, sizeof *finders);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        finders[i] = (struct within_finder){ .condition = c, .argument = argument };
        contexts[i] = &finders[i];
    }
    analysis_scan_calls(analysis, argument->function, within_take_call, contexts);
    for (unsigned i = 0; i < jobs; i++) {
        for (size_t j = 0; j < finders[i].ranges.count; j++) {
            const struct thread_range *range = &finders[i].ranges.list[j];
            thread_ranges_add(ranges, range->thread, range->begin, range->end);
        }
        thread_ranges_free(&finders[i].ranges);
    }
    free(contexts);
    free(finders);
}

static void within_add(struct thread_ranges *ranges, const struct analysis *analysis, const char *text,
                       const char *option)
{
    struct within_condition c;
    struct recorded_argument argument;
    struct error error = { NULL };
    const size_t before = ranges->count;
    within_parse(&c, text);
    const uint32_t function = option_timed_function(analysis, c.function);
    if (!recorded_argument_find(&argument, analysis, loaded_values(analysis), function, c.what, &error))
        die_of(&error);
    within_check(&c, argument.value, option);
    within_scan(ranges, analysis, &argument, &c);
    if (ranges->count == before)
        die(STATUS_ERROR, "%s: no completed call has '%s'; dwell values '%s:%s' lists what they have", option, text,
            c.function, c.what);
    within_condition_drop(&c);
}

/* ---- the part ---- */

static bool within_needs_session(const struct selection_request *part)
{
    bool needs = part->valued.count > 0;
    for (size_t i = 0; i < part->within.count; i++)
        needs |= within_is_value(part->within.list[i]);
    return needs;
}

/* The calls that meet any condition. */
static void within_find_any(struct selection_request *part, const struct analysis *analysis)
{
    for (size_t i = 0; i < part->within.count; i++) {
        if (!within_is_value(part->within.list[i]))
            continue;
        if (!part->selection.within)
            part->selection.within = need_memory(1, sizeof *part->selection.within);
        within_add(part->selection.within, analysis, part->within.list[i], "--within");
    }
}

/* The time in which all conditions hold. */
static void within_find_all(struct selection_request *part, const struct analysis *analysis)
{
    for (size_t i = 0; i < part->valued.count; i++) {
        struct thread_ranges ranges = { .list = NULL };
        within_add(&ranges, analysis, part->valued.list[i], "--filter");
        thread_ranges_join(&ranges, 0, UINT64_MAX);
        if (part->valued_time) {
            thread_ranges_keep(part->valued_time, &ranges);
            thread_ranges_free(&ranges);
            continue;
        }
        part->valued_time = need_memory(1, sizeof *part->valued_time);
        *part->valued_time = ranges;
    }
}

void within_values_find(const char *path, struct analysis_options *load)
{
    const struct analysis_options options = { .jobs = load->jobs, .no_merge = load->no_merge };
    struct analysis analysis;
    load->selection.selection.within = load->selection.valued_time = NULL;
    load->selection.values = NULL;
    if (!within_needs_session(&load->selection))
        return;
    command_load(&analysis, path, &options);
    if (session_file_why_sums(analysis.file))
        die(STATUS_ERROR, "%s: %s, so it has sums without times and cannot be cut by --within", path,
            session_file_why_sums(analysis.file));
    within_find_any(&load->selection, &analysis);
    within_find_all(&load->selection, &analysis);
    load->selection.values = loaded_values_take(&analysis);
    analysis_drop(&analysis);
}
