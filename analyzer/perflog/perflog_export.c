/*
 * A session as a PerfLog log: each function is a marker, and the duration of each of its calls a line (docs/export.md).
 * The program's own markers are in the same log, in the order of time.
 *
 * The duration of a call is without the calls of the same function within it, which have durations of their own.
 * Durations are whole ticks: what rounding leaves, and what a call lacks that is shorter than its probes should have
 * been, is carried to the marker's next line. A call whose begin or end is not recorded has no line. So the lines of a
 * marker and its attributes incomplete_calls and incomplete_ticks add up to the report's calls and elapsed inclusive
 * time.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/session_needs.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "export/exports.h"
#include "export/slices.h"
#include "perflog/perflog_feature.h"
#include "perflog/perflog_writer.h"
#include "profile/calls.h"
#include "trace/activities.h"

/* The calls of a function in a process, as in the report. Without --aggregate, `elapsed` is that of timed calls alone.
 */
struct perflog_total {
    uint32_t app, function;
    uint64_t elapsed, estimated, calls, timed;
    uint64_t written;           /* ticks */
    uint64_t carried;           /* 1/256 ticks, signed: not yet written */
    uint64_t incomplete;        /* calls without a line */
    uint64_t incomplete_amount; /* the time of the calls without a line, in 1/256 ticks */
};

/* An end or an error of one of the program's own timers. */
struct perflog_mark {
    const struct trace_event *event;
    const struct trace_activity *timer; /* NULL if it is an error */
    uint32_t string;
};

struct perflog_log {
    const struct analysis *session;
    struct perflog_writer writer;
    const bool *only; /* by function, or NULL */
    struct perflog_total *totals;
    size_t total_count, total_room;
    struct number_index *total_places; /* (function, app) -> place in totals */
    struct activities activities;
    struct perflog_mark *marks; /* in the order of time */
    size_t mark_count, mark_room, next_mark;
};

/* ---- sums of functions ---- */

static uint32_t perflog_app_number(const struct perflog_log *log, uint32_t process)
{
    return (uint32_t)(perflog_writer_app(&log->writer, process) - log->writer.apps);
}

static bool perflog_is_open_above(const struct profile *p, uint32_t node)
{
    const uint32_t function = p->nodes[node].function;
    for (uint32_t above = p->nodes[node].parent; above != PROFILE_NONE; above = p->nodes[above].parent)
        if (p->nodes[above].function == function)
            return true;
    return false;
}

/* The numbers of functions depend on which of a session's threads is read first. */
static int perflog_compare_functions(const struct profile *p, uint32_t a, uint32_t b)
{
    const struct profile_function *x = &p->functions[a], *y = &p->functions[b];
    const int order = strcmp(p->modules[x->module].path, p->modules[y->module].path);
    return order ? order : x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : ORDER(a, b);
}

static int perflog_compare_totals(const void *a, const void *b, void *profile)
{
    const struct perflog_total *x = a, *y = b;
    if (x->app != y->app)
        return x->app < y->app ? -1 : 1;
    if (x->elapsed != y->elapsed)
        return x->elapsed < y->elapsed ? 1 : -1;
    return perflog_compare_functions(profile, x->function, y->function);
}

static uint32_t *perflog_find_node_apps(const struct perflog_log *log)
{
    const struct profile *p = log->session->profile;
    uint32_t *apps = need_memory(p->node_count + 1, sizeof *apps);
    for (size_t i = 0; i < p->thread_count; i++)
        apps[p->threads[i].root] = perflog_app_number(log, p->threads[i].process);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            apps[i] = apps[p->nodes[i].parent];
    return apps;
}

/* NULL if the function is not chosen. */
static struct perflog_total *perflog_total_of(struct perflog_log *log, uint32_t function, uint32_t app)
{
    if (function == PROFILE_NONE || (log->only && !log->only[function]))
        return NULL;
    struct index_slot *slot = index_find(log->total_places, function, app);
    if (slot->value_plus_1)
        return &log->totals[slot->value_plus_1 - 1];
    GROW(log->totals, log->total_count, log->total_room);
    index_set(log->total_places, slot, function, app, (uint32_t)log->total_count);
    log->totals[log->total_count] = (struct perflog_total){ .app = app, .function = function };
    return &log->totals[log->total_count++];
}

/* Functions that are known by samples have no single calls: their time is in that of the lines of timed callers. */
static void perflog_add_up_totals(struct perflog_log *log, bool estimates)
{
    const struct profile *p = log->session->profile;
    uint32_t *apps = perflog_find_node_apps(log);
    log->total_places = index_new();
    for (uint32_t i = 0; i < p->node_count; i++) {
        const bool left_out = p->nodes[i].site == PROFILE_SAMPLED && !estimates;
        struct perflog_total *total = left_out ? NULL : perflog_total_of(log, p->nodes[i].function, apps[i]);
        if (!total)
            continue;
        total->timed += p->nodes[i].calls;
        total->calls += p->nodes[i].calls;
        if (p->nodes[i].site == PROFILE_SAMPLED)
            total->estimated += p->nodes[i].elapsed;
        if (!perflog_is_open_above(p, i))
            total->elapsed += log->session->rollup->nodes[i].elapsed_inclusive;
    }
    for (size_t i = 0; i < p->counted_count; i++) {
        const struct profile_counted *c = &p->counted[i];
        const uint32_t app = perflog_app_number(log, p->threads[c->thread].process);
        struct perflog_total *total = c->calls ? perflog_total_of(log, c->function, app) : NULL;
        if (total)
            total->calls += c->calls;
    }
    free(apps);
}

static struct perflog_app *perflog_app_of(const struct perflog_log *log, const struct perflog_total *total)
{
    return &log->writer.apps[total->app];
}

static void perflog_write_total(const struct perflog_log *log, const struct perflog_total *total, const char *name,
                                uint64_t value)
{
    perflog_write_attribute(&log->writer, perflog_app_of(log, total), total->function, name, value);
}

/* What the durations of a function's calls do not say. */
static void perflog_write_attributes(const struct perflog_log *log, const struct perflog_total *total)
{
    const uint64_t rest = total->incomplete_amount / DWELL_PROBE_FRACTION;
    perflog_write_total(log, total, "calls", total->calls);
    if (log->session->summary.has_counts)
        perflog_write_total(log, total, "timed_calls", total->timed);
    if (total->estimated)
        perflog_write_total(log, total, "estimated_ticks", total->estimated);
    if (!total->incomplete)
        return;
    perflog_write_total(log, total, "incomplete_calls", total->incomplete);
    perflog_write_total(log, total, "incomplete_ticks",
                        log->session->selection ? rest : less(total->elapsed, total->written));
}

/* With `durations`, also a line for the sum of each function's time. */
static void perflog_write_totals(struct perflog_log *log, bool durations)
{
    if (log->total_count)
        qsort_r(log->totals, log->total_count, sizeof *log->totals, perflog_compare_totals, log->session->profile);
    for (size_t i = 0; i < log->total_count; i++) {
        const struct perflog_total *total = &log->totals[i];
        if (!total->calls && !total->elapsed)
            continue;
        if (durations)
            perflog_write_duration(&log->writer, perflog_app_of(log, total), total->function, total->elapsed);
        perflog_write_attributes(log, total);
    }
}

/* ---- the program's own markers ---- */

static int perflog_compare_marks(const void *a, const void *b)
{
    const struct trace_event *x = ((const struct perflog_mark *)a)->event, *y = ((const struct perflog_mark *)b)->event;
    return ORDER_BY(x, y, time, thread, order);
}

static void perflog_add_mark(struct perflog_log *log, struct intern *strings, const struct trace_event *event,
                             const struct trace_activity *timer)
{
    if (!slices_hold(log->session, event->process, event->time))
        return;
    char *name = activity_marker_name(timer ? timer->start : event);
    GROW(log->marks, log->mark_count, log->mark_room);
    log->marks[log->mark_count++] =
        (struct perflog_mark){ event, timer,
                               (uint32_t)log->session->profile->function_count + intern(strings, name, strlen(name)) };
    free(name);
}

static void perflog_find_marks(struct perflog_log *log, struct intern *strings)
{
    struct activities *all = &log->activities;
    *all = activities_read(log->session->file);
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].marker)
            perflog_add_mark(log, strings, all->list[i].last, &all->list[i]);
    for (size_t i = 0; i < all->events.count; i++) {
        const struct trace_event *e = &all->events.list[i];
        if (e->type == DWELL_PERFLOG_ERROR && event_is_of_perflog(&all->events, e))
            perflog_add_mark(log, strings, e, NULL);
    }
    if (log->mark_count)
        qsort(log->marks, log->mark_count, sizeof *log->marks, perflog_compare_marks);
}

/* Those before `time`. */
static void perflog_write_marks(struct perflog_log *log, uint64_t time)
{
    for (; log->next_mark < log->mark_count; log->next_mark++) {
        const struct perflog_mark *mark = &log->marks[log->next_mark];
        if (mark->event->time >= time)
            return;
        struct perflog_app *app = perflog_writer_app(&log->writer, mark->event->process);
        if (mark->timer)
            perflog_write_duration(&log->writer, app, mark->string,
                                   less(mark->timer->last->time, mark->timer->start->time));
        else
            perflog_write_error(&log->writer, app, mark->string);
    }
}

/* ---- single calls ---- */

/* The lines add up to the report. If the last calls lack time, no later line can make up for it, so the sum is limited.
 */
static uint64_t perflog_duration(const struct perflog_log *log, struct perflog_total *total, uint64_t amount)
{
    total->carried += amount;
    uint64_t ticks = (int64_t)total->carried > 0 ? total->carried / DWELL_PROBE_FRACTION : 0;
    if (!log->session->selection)
        ticks = smaller(ticks, less(total->elapsed, total->written));
    total->carried -= ticks * DWELL_PROBE_FRACTION;
    total->written += ticks;
    return ticks;
}

static bool perflog_add_call(void *context, const struct finished_call *call)
{
    struct perflog_log *log = context;
    perflog_write_samples(&log->writer, call->end);
    perflog_write_marks(log, call->end);
    struct perflog_app *app = perflog_writer_app(&log->writer, call->process);
    const struct index_slot *slot = index_find(log->total_places, call->function, (uint32_t)(app - log->writer.apps));
    struct perflog_total *total = slot->value_plus_1 ? &log->totals[slot->value_plus_1 - 1] : NULL;
    if (!total)
        return true;
    if (call->completed) {
        perflog_write_duration(&log->writer, app, call->function, perflog_duration(log, total, call->once));
    } else {
        total->incomplete++;
        total->incomplete_amount += call->once;
    }
    return !ferror(log->writer.out);
}

/* ---- start and end ---- */

static void perflog_begin_log(struct perflog_log *log, const struct analysis *session,
                              const struct export_options *options, FILE *out)
{
    const size_t functions = session->profile->function_count;
    struct intern strings = { 0 };
    *log = (struct perflog_log){ .session = session, .only = options->only };
    perflog_find_marks(log, &strings);
    char **names = need_more(export_unique_names(session), functions + strings.count + 1, sizeof *names);
    for (size_t i = 0; i < strings.count; i++)
        names[functions + i] = need_copy(strings.pieces[i].bytes, strings.pieces[i].length);
    perflog_writer_begin(&log->writer, session, names, functions + strings.count, out);
    intern_drop(&strings);
}

static void perflog_end_log(struct perflog_log *log)
{
    perflog_writer_end(&log->writer);
    activities_free(&log->activities);
    index_free(log->total_places);
    free(log->totals);
    free(log->marks);
}

bool perflog_export(const struct analysis *session, const struct export_options *options, FILE *out,
                    struct error *error)
{
    (void)error;
    struct perflog_log log;
    perflog_begin_log(&log, session, options, out);
    perflog_write_system(&log.writer);
    perflog_add_up_totals(&log, options->aggregate);
    if (!options->aggregate)
        analysis_follow_calls(session, true, perflog_add_call, &log);
    perflog_write_samples(&log.writer, UINT64_MAX);
    perflog_write_marks(&log, UINT64_MAX);
    perflog_write_totals(&log, options->aggregate);
    perflog_end_log(&log);
    return true;
}

bool perflog_export_check(const struct analysis *session, const struct export_options *options, struct error *error)
{
    if (session->summary.samples)
        return error_set(error, "%s: a report of samples, which have no durations; export vsperf or collapsed instead",
                         session->file->path);
    const unsigned needs = options->aggregate ? 0 : SESSION_SINGLE_CALLS;
    return session_needs_check(needs, session->file, "use --aggregate for one line for each function", error);
}
