/* Finds the calls of a function with their values, and puts calls of one value, or of one range, into a row. */
#include "tables/calls_by_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "base/units.h"
#include "base/wide.h"
#include "profile/call_scan.h"
#include "tables/recorded_argument.h"

/* ---- calls ---- */

struct valued_call {
    const uint64_t *words; /* NULL if the value could not be read */
    int64_t time;          /* elapsed inclusive, in 1/256 ticks */
    uint64_t blocked;
    int32_t range; /* of the value; in the order of the ranges */
};

/* What a worker finds. */
struct value_finder {
    const struct analysis *analysis;
    const struct recorded_argument *argument;
    struct valued_call *calls;
    size_t count, room;
    uint64_t without;
};

static void value_take_call(void *context, const struct finished_call *call)
{
    struct value_finder *f = context;
    const struct recorded_row *row = recorded_argument_row(f->argument, call->thread, call->begin);
    f->without += !row;
    if (!row)
        return;
    GROW(f->calls, f->count, f->room);
    f->calls[f->count++] = (struct valued_call){
        .words = recorded_value_words(f->argument->values, row, f->argument->index),
        .time = (int64_t)call->times[CALL_ELAPSED_INCLUSIVE],
        .blocked = call->blocked,
    };
}

/* The calls of all workers are those of the first one afterwards. */
static struct value_finder value_find_calls(const struct value_finder *what)
{
    const unsigned jobs = analysis_jobs(what->analysis);
    struct value_finder *finders = need_memory(jobs, sizeof *finders);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        finders[i] = *what;
        contexts[i] = &finders[i];
    }
    analysis_scan_calls(what->analysis, what->argument->function, value_take_call, contexts);
    struct value_finder all = finders[0];
    for (unsigned i = 1; i < jobs; i++) {
        for (size_t j = 0; j < finders[i].count; j++) {
            GROW(all.calls, all.count, all.room);
            all.calls[all.count++] = finders[i].calls[j];
        }
        all.without += finders[i].without;
        free(finders[i].calls);
    }
    free(contexts);
    free(finders);
    return all;
}

/* ---- values ---- */

static bool value_is_negative(const struct recorded_value *v, uint64_t word)
{
    return v->kind == DWELL_VALUE_SIGNED && (int64_t)word < 0;
}

static int value_compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

static int value_compare_texts(const uint64_t *a, const uint64_t *b)
{
    const size_t one = recorded_text_length(a), other = recorded_text_length(b);
    const int order = memcmp(a + 1, b + 1, one < other ? one : other);
    return order ? order : (*a > *b) - (*a < *b);
}

/* Values that could not be read come last. */
static int value_compare(const struct recorded_value *v, const uint64_t *a, const uint64_t *b)
{
    if (!a || !b)
        return !a - !b;
    switch (v->kind) {
    case DWELL_VALUE_TEXT:
        return value_compare_texts(a, b);
    case DWELL_VALUE_FLOAT:
        return value_compare_doubles(recorded_value_number(v, *a), recorded_value_number(v, *b));
    case DWELL_VALUE_SIGNED:
    case DWELL_VALUE_ENUM:
        return ((int64_t)*a > (int64_t)*b) - ((int64_t)*a < (int64_t)*b);
    default:
        return (*a > *b) - (*a < *b);
    }
}

static int value_compare_calls(const void *a, const void *b, void *context)
{
    const struct valued_call *x = a, *y = b;
    int order = (x->range > y->range) - (x->range < y->range);
    if (!order && !x->range)
        order = value_compare(context, x->words, y->words);
    return order ? order : (x->time > y->time) - (x->time < y->time);
}

/* ---- ranges ---- */

enum { RANGE_ZERO = 1 << 16, RANGE_UNREAD = 1 << 20, RANGE_NAN, EXPONENTS = 2048 };

/* From a power of two to the next one; below zero, the same with the sign. */
static int32_t value_range(const struct recorded_value *v, const uint64_t *words)
{
    if (!words)
        return RANGE_UNREAD;
    int exponent;
    bool negative;
    if (v->kind == DWELL_VALUE_FLOAT) {
        const double number = recorded_value_number(v, *words);
        if (isnan(number))
            return RANGE_NAN;
        if (number == 0)
            return RANGE_ZERO;
        frexp(number, &exponent);
        exponent = isinf(number) ? EXPONENTS - 1 : exponent - 1;
        negative = number < 0;
    } else {
        negative = value_is_negative(v, *words);
        const uint64_t size = negative ? -*words : *words;
        if (!size)
            return RANGE_ZERO;
        exponent = 63 - __builtin_clzll(size);
    }
    const int32_t distance = 1 + EXPONENTS + exponent;
    return negative ? RANGE_ZERO - distance : RANGE_ZERO + distance;
}

/* 2^exponent, or -2^exponent: whole numbers are exact. */
static char *value_power(const struct recorded_value *v, int exponent, bool negative)
{
    const char *sign = negative ? "-" : "";
    if (v->kind == DWELL_VALUE_FLOAT)
        return need_text("%s%.17g", sign, ldexp(1, exponent));
    if (exponent == 64)
        return need_text("%s18446744073709551616", sign);
    return need_text("%s%" PRIu64, sign, UINT64_C(1) << exponent);
}

/* A range begins with *from and ends before *to; below zero, it begins behind *from and ends with *to. */
static void value_range_ends(const struct recorded_value *v, int32_t range, char **from, char **to)
{
    if (range == RANGE_ZERO) {
        *from = need_text("0");
        *to = need_text("0");
        return;
    }
    const bool negative = range < RANGE_ZERO;
    const int exponent = (negative ? RANGE_ZERO - range : range - RANGE_ZERO) - 1 - EXPONENTS;
    *from = value_power(v, negative ? exponent + 1 : exponent, negative);
    *to = value_power(v, negative ? exponent : exponent + 1, negative);
}

/* ---- rows ---- */

struct value_group {
    size_t first, count; /* calls */
    int128 sum;
    uint64_t blocked;
};

enum {
    BY_VALUE,
    BY_FROM, /* or the value itself */
    BY_TO,
    BY_CALLS,
    BY_CALLS_PERCENT,
    BY_ELAPSED,
    BY_ELAPSED_PERCENT,
    BY_BLOCKED,
    BY_P50,
    BY_P99,
    BY_MAX,
    BY_COLUMNS
};

static const struct column by_columns[BY_COLUMNS] = {
    [BY_VALUE] = { "value", "VALUE", CELL_TEXT, USE_TEXT, false },
    [BY_FROM] = { "from", "FROM", CELL_DIGITS, USE_DATA, false },
    [BY_TO] = { "to", "TO", CELL_DIGITS, USE_DATA, false },
    [BY_CALLS] = { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    [BY_CALLS_PERCENT] = { "calls_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    [BY_ELAPSED] = { "elapsed_inclusive", "EL.INCL", CELL_TICKS, USE_ALWAYS, false },
    [BY_ELAPSED_PERCENT] = { "elapsed_inclusive_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    [BY_BLOCKED] = { "blocked_inclusive", "BL.INCL", CELL_TICKS, USE_ALWAYS, false },
    [BY_P50] = { "p50", "P50", CELL_TICKS, USE_ALWAYS, false },
    [BY_P99] = { "p99", "P99", CELL_TICKS, USE_ALWAYS, false },
    [BY_MAX] = { "max", "MAX", CELL_TICKS, USE_ALWAYS, false },
};

/* The columns, and the keys of those that have the value's name. */
struct by_own_columns {
    struct column columns[BY_COLUMNS];
    char keys[2][DWELL_VALUES_NAME + 16];
};

static bool value_is_word(const struct recorded_value *v)
{
    return v->kind == DWELL_VALUE_TEXT || v->kind == DWELL_VALUE_CHARACTER || v->kind == DWELL_VALUE_ADDRESS;
}

static struct table by_make_table(const struct analysis *analysis, const struct recorded_value *v, bool ranges)
{
    struct by_own_columns *own = need_memory(1, sizeof *own);
    memcpy(own->columns, by_columns, sizeof by_columns);
    snprintf(own->keys[0], sizeof own->keys[0], "values.%s%s", v->name, ranges ? ".from" : "");
    snprintf(own->keys[1], sizeof own->keys[1], "values.%s.to", v->name);
    own->columns[BY_FROM].key = own->keys[0];
    own->columns[BY_TO].key = own->keys[1];
    if (!ranges && value_is_word(v))
        own->columns[BY_FROM].kind = CELL_TEXT;
    if (!ranges)
        own->columns[BY_TO].use = USE_CHOSEN;
    struct table t = table_make(own->columns, BY_COLUMNS, &analysis->summary);
    t.own_columns = own;
    t.first_value = BY_CALLS;
    return t;
}

static char *value_text(const struct recorded_value *v, const uint64_t *words)
{
    switch (v->kind) {
    case DWELL_VALUE_TEXT:
        return need_text("%.*s%s", (int)recorded_text_length(words), (const char *)(words + 1),
                         *words & DWELL_VALUES_CUT ? "..." : "");
    case DWELL_VALUE_CHARACTER:
        return *words > ' ' && *words < 127 ? need_text("%c", (int)*words) : need_text("\\x%02" PRIx64, *words & 255);
    case DWELL_VALUE_ADDRESS:
        return need_text("0x%" PRIx64, *words);
    case DWELL_VALUE_BOOL:
        return need_text("%s", *words ? "true" : "false");
    case DWELL_VALUE_FLOAT:
        return need_text("%.*g", v->bytes == sizeof(float) ? 9 : 17, recorded_value_number(v, *words));
    case DWELL_VALUE_UNSIGNED:
        return need_text("%" PRIu64, *words);
    default:
        return need_text("%" PRId64, (int64_t)*words);
    }
}

/* Data has no number for what is none. */
static void by_fill_value(struct cell *row, const struct recorded_value *v, const uint64_t *words)
{
    char *text = words ? value_text(v, words) : need_text("(unreadable)");
    cell_text(&row[BY_VALUE], text);
    if (words && !(v->kind == DWELL_VALUE_FLOAT && !isfinite(recorded_value_number(v, *words))))
        cell_text(&row[BY_FROM], text);
    free(text);
}

static void by_fill_range(struct cell *row, const struct recorded_value *v, int32_t range)
{
    if (range >= RANGE_UNREAD) {
        cell_text(&row[BY_VALUE], range == RANGE_UNREAD ? "(unreadable)" : "nan");
        return;
    }
    char *from, *to;
    value_range_ends(v, range, &from, &to);
    char *text = range == RANGE_ZERO  ? need_text("0")
                 : range > RANGE_ZERO ? need_text("%s to <%s", from, to)
                                      : need_text(">%s to %s", from, to);
    cell_text(&row[BY_VALUE], text);
    if (strcmp(from, "inf") != 0 && strcmp(from, "-inf") != 0)
        cell_text(&row[BY_FROM], from);
    if (strcmp(to, "inf") != 0 && strcmp(to, "-inf") != 0)
        cell_text(&row[BY_TO], to);
    free(text);
    free(from);
    free(to);
}

static uint64_t by_percentile(const struct valued_call *calls, size_t count, unsigned percent)
{
    const size_t wanted = (count * percent + 99) / 100;
    return call_ticks((uint64_t)calls[(wanted ? wanted : 1) - 1].time);
}

static uint64_t by_sum_ticks(int128 sum)
{
    return sum > 0 ? (uint64_t)((sum + DWELL_PROBE_FRACTION / 2) / DWELL_PROBE_FRACTION) : 0;
}

/* The calls of a group are in the order of their times. */
static void by_fill_times(struct cell *row, const struct analysis *analysis, const struct valued_call *calls,
                          const struct value_group *g, const struct value_group *all)
{
    const struct summary *s = &analysis->summary;
    cell_number(&row[BY_CALLS], g->count);
    cell_percent(&row[BY_CALLS_PERCENT], percent_of(g->count, all->count));
    cell_number(&row[BY_ELAPSED], by_sum_ticks(g->sum));
    cell_percent(&row[BY_ELAPSED_PERCENT], percent_of(by_sum_ticks(g->sum), by_sum_ticks(all->sum)));
    if (s->off_cpu_known)
        cell_number(&row[BY_BLOCKED], call_ticks(g->blocked));
    cell_call_time(&row[BY_P50], by_percentile(calls + g->first, g->count, 50), s);
    cell_call_time(&row[BY_P99], by_percentile(calls + g->first, g->count, 99), s);
    cell_call_time(&row[BY_MAX], by_percentile(calls + g->first, g->count, 100), s);
}

/* ---- groups ---- */

static bool value_same_group(const struct recorded_value *v, const struct valued_call *a, const struct valued_call *b)
{
    return a->range == b->range && (a->range || value_compare(v, a->words, b->words) == 0);
}

/* The calls must be sorted. */
static struct value_group *value_group_calls(const struct recorded_value *v, const struct value_finder *f,
                                             size_t *count)
{
    struct value_group *groups = NULL;
    size_t room = 0;
    *count = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (i == 0 || !value_same_group(v, &f->calls[i - 1], &f->calls[i])) {
            GROW(groups, *count, room);
            groups[(*count)++] = (struct value_group){ .first = i };
        }
        struct value_group *g = &groups[*count - 1];
        g->count++;
        g->sum += f->calls[i].time;
        g->blocked += f->calls[i].blocked;
    }
    return groups;
}

static void value_sort_calls(const struct recorded_value *v, struct value_finder *f)
{
    if (f->count)
        qsort_r(f->calls, f->count, sizeof *f->calls, value_compare_calls, (void *)v);
}

/* Words have no order that matters: those with the most time come first. */
static int value_compare_groups(const void *a, const void *b)
{
    const struct value_group *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void by_fill(struct table *t, const struct recorded_value *v, const struct value_finder *f,
                    const struct value_group *groups, size_t count)
{
    struct value_group all = { .count = f->count };
    for (size_t i = 0; i < count; i++)
        all.sum += groups[i].sum;
    for (size_t i = 0; i < count; i++) {
        struct cell *row = table_row(t);
        const struct valued_call *first = &f->calls[groups[i].first];
        if (first->range)
            by_fill_range(row, v, first->range);
        else
            by_fill_value(row, v, first->words);
        by_fill_times(row, f->analysis, f->calls, &groups[i], &all);
    }
}

static struct table by_make(struct value_finder *f, const struct recorded_value *v, bool each)
{
    size_t count;
    value_sort_calls(v, f);
    struct value_group *groups = value_group_calls(v, f, &count);
    const bool ranges = !each && count > DISTINCT_VALUES && recorded_value_is_number(v);
    if (ranges) {
        for (size_t i = 0; i < f->count; i++)
            f->calls[i].range = value_range(v, f->calls[i].words);
        value_sort_calls(v, f);
        free(groups);
        groups = value_group_calls(v, f, &count);
    } else if (value_is_word(v) && count) {
        qsort(groups, count, sizeof *groups, value_compare_groups);
    }
    struct table t = by_make_table(f->analysis, v, ranges);
    by_fill(&t, v, f, groups, count);
    free(groups);
    return t;
}

/* ---- the view ---- */

bool view_by_value(const struct analysis *analysis, const struct recorded_values *values, struct by_value *by,
                   struct table *table, struct error *error)
{
    struct recorded_argument argument;
    if (!recorded_argument_find(&argument, analysis, values, by->function, by->what, error))
        return false;
    const struct recorded_value *v = argument.value;
    const struct value_finder what = { .analysis = analysis, .argument = &argument };
    struct value_finder f = value_find_calls(&what);
    *table = by_make(&f, v, by->each);
    by->what = v->name;
    by->valued = f.count;
    by->valueless = f.without;
    free(f.calls);
    return true;
}
