/* The table of the values, and the sums that follow it: adding, scaling, and values that are derived from others. */
#include "profile/values.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "base/units.h"
#include "base/wide.h"
#include "profile/durations.h"
#include "profile/profile.h"

/* ---- the table ---- */

#define FORMS_OF(word) .forms = 2, .names = { #word "_inclusive", #word "_exclusive" }
#define TITLES(title) .heading = title, .titles = { title ".INCL", title ".EXCL" }
#define SHARES_OF(word) .shares = { #word "_inclusive_percent", #word "_exclusive_percent" }
#define KEPT_IN(member)                                                                                                \
    .offsets = { offsetof(struct times, member##_inclusive), offsetof(struct times, member##_exclusive) }

/* A value with a single form: both entries describe it. */
#define SINGLE(word, title) .forms = 1, .names = { word, word }, .heading = title, .titles = { title, title }
#define SINGLE_IN(member) .offsets = { offsetof(struct times, member), offsetof(struct times, member) }

#define SHOWN_ALWAYS (SHOWN_IN_TEXT | SHOWN_IN_DATA | SHOWN_IN_PAGE)

const struct value value_table[VALUE_COUNT] = {
    [VALUE_CALLS] = {
        .key = "calls", .label = "Calls", .kind = VALUE_IS_COUNT,
        SINGLE("calls", "CALLS"), SINGLE_IN(calls),
        .meanings = { "enters" },
        .needs = NEEDS_CALLS, .shown = SHOWN_ALWAYS,
    },
    [VALUE_ELAPSED] = {
        .key = "elapsed", .label = "Elapsed", .kind = VALUE_IS_TIME,
        FORMS_OF(elapsed), TITLES("EL"), SHARES_OF(elapsed), KEPT_IN(elapsed),
        .meanings = { "time with it on the stack", "time with it on top of the stack" },
        .shown = SHOWN_ALWAYS | SHARE_SHOWN_IN_PAGE,
    },
    [VALUE_APPLICATION] = {
        .key = "application", .label = "Application", .kind = VALUE_IS_TIME,
        FORMS_OF(application), TITLES("APP"), SHARES_OF(application), KEPT_IN(application),
        .meanings = { "elapsed inclusive without the intervals in which the OS intervened",
                      "elapsed exclusive without the intervals in which the OS intervened" },
        .needs = NEEDS_APPLICATION, .shown = SHOWN_ALWAYS,
    },
    [VALUE_MIN] = {
        .key = "min", .label = "Min", .kind = VALUE_IS_TIME,
        SINGLE("min", "MIN"), SINGLE_IN(shortest),
        .meanings = { "shortest completed call, elapsed inclusive" },
        .needs = NEEDS_CALLS | NEEDS_COMPLETED, .shown = SHOWN_IN_DATA,
    },
    [VALUE_MAX] = {
        .key = "max", .label = "Max", .kind = VALUE_IS_TIME,
        SINGLE("max", "MAX"), SINGLE_IN(longest),
        .meanings = { "longest completed call, elapsed inclusive" },
        .needs = NEEDS_CALLS | NEEDS_COMPLETED, .shown = SHOWN_IN_DATA,
    },
    [VALUE_BLOCKED] = {
        .key = "blocked", .label = "Blocked", .kind = VALUE_IS_TIME,
        FORMS_OF(blocked), TITLES("BL"), SHARES_OF(blocked), KEPT_IN(blocked),
        .meanings = { "off the CPU, waiting, with it on the stack",
                      "off the CPU, waiting, with it on top of the stack" },
        .needs = NEEDS_OFF_CPU, .shown = SHOWN_IN_DATA | SHARE_ONLY_CHOSEN, .off_cpu = true,
    },
    [VALUE_PREEMPTED] = {
        .key = "preempted", .label = "Preempted", .kind = VALUE_IS_TIME,
        FORMS_OF(preempted), TITLES("PRE"), KEPT_IN(preempted),
        .meanings = { "off the CPU while another thread ran, with it on the stack",
                      "off the CPU while another thread ran, with it on top of the stack" },
        .needs = NEEDS_OFF_CPU, .shown = SHOWN_IN_DATA, .off_cpu = true,
    },
    [VALUE_CPU] = {
        .key = "cpu", .label = "CPU", .kind = VALUE_IS_TIME,
        FORMS_OF(cpu), TITLES("CPU"), SHARES_OF(cpu),
        .whole = VALUE_ELAPSED, .parts = { VALUE_BLOCKED, VALUE_PREEMPTED }, .part_count = 2,
        .meanings = { "elapsed inclusive, less blocked and preempted", "elapsed exclusive, less blocked and preempted" },
        .needs = NEEDS_OFF_CPU, .shown = SHOWN_IN_DATA | SHARE_ONLY_CHOSEN,
    },
    [VALUE_FLAGGED_ON_CPU] = {
        .key = "flagged_on_cpu", .label = "Flagged on CPU", .kind = VALUE_IS_TIME,
        FORMS_OF(flagged_on_cpu), TITLES("FLG.CPU"), KEPT_IN(flagged_on_cpu),
        .meanings = { "on the CPU in intervals in which the OS intervened, with it on the stack",
                      "on the CPU in intervals in which the OS intervened, with it on top of the stack" },
        .needs = NEEDS_APPLICATION | NEEDS_OFF_CPU,
    },
    [VALUE_PAGE_FAULTS] = {
        .key = "page_faults", .label = "Page faults", .kind = VALUE_IS_COUNT,
        FORMS_OF(page_faults), .heading = "FAULTS", .titles = { "FAULTS", "FAULTS.EXCL" }, KEPT_IN(page_faults),
        .columns = { "page_faults" },
        .meanings = { "page faults with it on the stack", "page faults with it on top of the stack" },
        .needs = NEEDS_OFF_CPU, .shown = SHOWN_IN_DATA,
    },
    [VALUE_OVERHEAD] = {
        .key = "overhead", .label = "Overhead", .kind = VALUE_IS_TIME,
        FORMS_OF(overhead), TITLES("OVH"), KEPT_IN(overhead),
        .meanings = { "time of the probes with it on the stack, subtracted from the other times (see --raw)",
                      "time of the probes with it on top of the stack" },
        .needs = NEEDS_OVERHEAD, .shown = SHOWN_IN_DATA, .of_probes = true,
    },
    [VALUE_WAITING] = {
        .key = "waiting", .label = "Wait %", .kind = VALUE_IS_PERCENT,
        SINGLE("waiting_percent", "WAIT %"),
        .whole = VALUE_ELAPSED, .parts = { VALUE_BLOCKED }, .part_count = 1,
        .meanings = { "share of its elapsed exclusive time in which it was blocked" },
        .needs = NEEDS_OFF_CPU, .shown = SHOWN_ALWAYS,
    },
};

static uint64_t *values_member(struct times *t, enum value_id value, enum value_form form)
{
    return (uint64_t *)(void *)((char *)t + value_table[value].offsets[form]);
}

uint64_t times_value(const struct times *t, enum value_id value, enum value_form form)
{
    const struct value *v = &value_table[value];
    if (!v->part_count) {
        uint64_t number;
        memcpy(&number, (const char *)t + v->offsets[form], sizeof number);
        return number;
    }
    uint64_t rest = times_value(t, v->whole, form);
    for (unsigned i = 0; i < v->part_count; i++)
        rest = less(rest, times_value(t, v->parts[i], form));
    return rest;
}

double times_percent(const struct times *t, enum value_id value)
{
    return percent_of(times_value(t, value_table[value].parts[0], EXCLUSIVE),
                      times_value(t, value_table[value].whole, EXCLUSIVE));
}

/* Of calls that were only counted, nothing else is known. */
bool value_is_known(enum value_id value, unsigned knows, const struct times *t)
{
    if (t && times_are_counted(t) && value != VALUE_CALLS)
        return false;
    if (t && times_are_sampled(t) && !t->calls && value == VALUE_CALLS)
        return false;
    if (!t || t->shortest <= t->longest)
        knows |= NEEDS_COMPLETED;
    return (value_table[value].needs & ~knows) == 0;
}

const char *value_column(enum value_id value, enum value_form form)
{
    const struct value *v = &value_table[value];
    return v->columns[form] ? v->columns[form] : v->names[form];
}

/* ---- sums ---- */

static double values_square(uint64_t number)
{
    return (double)number * (double)number;
}

static uint64_t values_root(double square)
{
    return (uint64_t)llround(sqrt(square));
}

#define MERGE_SUM(into, from) (into) += (from)
#define MERGE_MIN(into, from) (into) = smaller(into, from)
#define MERGE_MAX(into, from) (into) = larger(into, from)
#define MERGE_NORM(into, from) (into) = values_root(values_square(into) + values_square(from))
#define NOTHING(NAME, ...)

struct times times_of_path(const struct profile_node *node)
{
    struct times t;
#define OWN_ONE(NAME, member, merge) t.member = node->member;
#define OWN_PAIR(NAME, member, formula) t.member##_exclusive = t.member##_inclusive = formula;
    VALUES(OWN_ONE, OWN_PAIR, NOTHING)
    t.counted = 0;
    t.samples = node->samples;
    t.error_squares_exclusive = values_square(node->error);
    t.pooled_exclusive = node->error_pooled;
    const bool sampled = node->site == PROFILE_SAMPLED; /* the inclusive time of another path is measured */
    t.error_squares_inclusive = sampled ? t.error_squares_exclusive : 0;
    t.pooled_inclusive = sampled ? node->error_pooled : 0;
    return t;
}

void times_add_inclusive(struct times *into, const struct times *from)
{
#define ADD_INCLUSIVE(NAME, member, formula) into->member##_inclusive += from->member##_inclusive;
    VALUES(NOTHING, ADD_INCLUSIVE, NOTHING)
    into->error_squares_inclusive += from->error_squares_inclusive;
    into->pooled_inclusive += from->pooled_inclusive;
}

static void values_add_exclusive_errors(struct times *into, const struct times *from)
{
    into->error_squares_exclusive += from->error_squares_exclusive;
    into->pooled_exclusive += from->pooled_exclusive;
}

void times_add_exclusive(struct times *into, const struct times *from)
{
#define ADD_EXCLUSIVE(NAME, member, formula) into->member##_exclusive += from->member##_exclusive;
    VALUES(NOTHING, ADD_EXCLUSIVE, NOTHING)
    values_add_exclusive_errors(into, from);
}

void times_add_own(struct times *into, const struct times *from)
{
#define ADD_ONE(NAME, member, merge) MERGE_##merge(into->member, from->member);
    VALUES(ADD_ONE, ADD_EXCLUSIVE, NOTHING)
    into->counted += from->counted;
    into->samples += from->samples;
    values_add_exclusive_errors(into, from);
}

void times_add(struct times *into, const struct times *from)
{
    times_add_own(into, from);
    times_add_inclusive(into, from);
}

void times_set_measured(struct times *t)
{
    t->error_squares_inclusive = 0;
    t->pooled_inclusive = 0;
}

void times_own_all(struct times *t)
{
#define OWN_ALL(NAME, member, formula) t->member##_exclusive = t->member##_inclusive;
    VALUES(NOTHING, OWN_ALL, NOTHING)
    t->error_squares_exclusive = t->error_squares_inclusive;
    t->pooled_exclusive = t->pooled_inclusive;
}

/* Estimated CPU time has application time in the same proportion throughout a path. */
const struct estimated_value estimated_values[ESTIMATED_VALUES] = {
    { "elapsed_inclusive_ci95", VALUE_ELAPSED, INCLUSIVE },
    { "elapsed_exclusive_ci95", VALUE_ELAPSED, EXCLUSIVE },
    { "application_inclusive_ci95", VALUE_APPLICATION, INCLUSIVE },
    { "application_exclusive_ci95", VALUE_APPLICATION, EXCLUSIVE },
    { "cpu_inclusive_ci95", VALUE_CPU, INCLUSIVE },
    { "cpu_exclusive_ci95", VALUE_CPU, EXCLUSIVE },
};

uint64_t times_error(const struct times *t, enum value_id value, enum value_form form)
{
    const double independent = form == INCLUSIVE ? t->error_squares_inclusive : t->error_squares_exclusive;
    const uint64_t pooled = form == INCLUSIVE ? t->pooled_inclusive : t->pooled_exclusive;
    const uint64_t error = values_root(independent + values_square(pooled)), cpu = times_value(t, VALUE_CPU, form);
    if (value == VALUE_ELAPSED || value == VALUE_CPU)
        return error;
    if (value != VALUE_APPLICATION || !cpu)
        return 0;
    return multiply_divide(error, smaller(times_value(t, VALUE_APPLICATION, form), cpu), cpu);
}

const char *times_timing(const struct times *t)
{
    return times_are_counted(t)   ? "counted"
           : times_are_sampled(t) ? "sampled"
           : times_are_partial(t) ? "partly"
                                  : "timed";
}

bool times_are_empty(const struct times *t)
{
    return !t->calls && !t->elapsed_inclusive && !t->page_faults_inclusive && t->shortest > t->longest;
}

void times_scale(struct times *t, uint64_t ticks_per_second)
{
    const bool completed = t->shortest <= t->longest;
    for (enum value_id i = 0; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        if (v->kind != VALUE_IS_TIME || v->part_count || ((v->needs & NEEDS_COMPLETED) && !completed))
            continue;
        for (unsigned form = 0; form < v->forms; form++) {
            uint64_t *member = values_member(t, i, (enum value_form)form);
            *member = ticks_to_ns(*member, ticks_per_second);
        }
    }
}

/* ---- amounts of call paths ---- */

void profile_add_values(struct profile_node *into, const struct profile_node *from)
{
#define ADD_AMOUNT(member, unit, merge) MERGE_##merge(into->member, from->member);
    PATH_AMOUNTS(ADD_AMOUNT)
    if (__builtin_expect(from->durations != NULL, 0))
        durations_merge(&into->durations, from->durations);
}

void amounts_clear(struct profile_node *node)
{
#define CLEAR_AMOUNT(member, unit, merge) node->member = START_##merge;
    PATH_AMOUNTS(CLEAR_AMOUNT)
    node->durations = NULL;
}

/* An open interval can count as blocked or flagged at first, and as neither once it has ended. So each part is limited
 * to the whole. */
void amounts_subtract(struct profile_node *later, const struct profile_node *earlier)
{
#define LESS_SUM(later, earlier) (later) = less(later, earlier)
#define LESS_MIN(later, earlier) (later) = START_MIN
#define LESS_MAX(later, earlier) (later) = START_MAX
#define LESS_NORM(later, earlier) (void)(earlier)
#define SUBTRACT_AMOUNT(member, unit, merge) LESS_##merge(later->member, earlier->member);
    PATH_AMOUNTS(SUBTRACT_AMOUNT)
    later->flagged = smaller(later->flagged, later->elapsed);
    later->blocked = smaller(later->blocked, later->elapsed);
    later->preempted = smaller(later->preempted, later->elapsed - later->blocked);
}

/* Without a completed call, the shortest and the longest call are not times. */
void amounts_scale(struct profile_node *node, uint64_t ticks_per_second)
{
    const bool completed = node->shortest <= node->longest;
#define IS_TICKS_TICKS true
#define IS_TICKS_COUNT false
#define IS_SCALED_SUM true
#define IS_SCALED_MIN completed
#define IS_SCALED_MAX completed
#define IS_SCALED_NORM true
#define SCALE_AMOUNT(member, unit, merge)                                                                              \
    if (IS_TICKS_##unit && IS_SCALED_##merge)                                                                          \
        node->member = ticks_to_ns(node->member, ticks_per_second);
    PATH_AMOUNTS(SCALE_AMOUNT)
    durations_scale(&node->durations, ticks_per_second);
}
