/* Prints what a session holds and what was lost as JSON, or as CSV. */
#include "report/info_json.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analysis/cpu_check.h"
#include "analysis/names.h"
#include "base/intern.h"
#include "base/json_text.h"
#include "base/numbers.h"
#include "base/units.h"
#include "report/kept_activities.h"
#include "report/kept_ring.h"
#include "report/table_formats.h"
#include "trace/library_slots.h"
#include "trace/recorded_names.h"
#include "trace/recorded_values.h"
#include "trace/samples.h"

static void info_json_text(struct json_object *to, const char *key, const char *text)
{
    json_object_object_add(to, key, text && *text ? json_new_text(text) : NULL);
}

static void info_json_number(struct json_object *to, const char *key, bool known, uint64_t number)
{
    json_object_object_add(to, key, known ? json_object_new_uint64(number) : NULL);
}

static void info_json_percent(struct json_object *to, const char *key, bool known, double percent)
{
    char digits[PERCENT_ROOM];
    percent_digits(percent, digits);
    json_object_object_add(to, key, known ? json_object_new_double_s(percent, digits) : NULL);
}

static uint64_t info_json_ns(const struct session_file *f, uint64_t ticks)
{
    return ticks_to_ns(ticks, f->header.ticks_per_second);
}

static const char *info_json_mode(const struct session_file *f)
{
    return f->header.origin & DWELL_ORIGIN_IMPORTED                     ? "imported"
           : f->sums.summed_count                                       ? "sums"
           : f->header.shared_ring || f->header.mode == DWELL_MODE_RING ? "ring"
           : f->header.mode == DWELL_MODE_PROFILE                       ? "profile"
                                                                        : "trace";
}

static void info_json_add_recording(struct json_object *to, const struct session_file *f)
{
    const struct dwell_file_header *h = &f->header;
    const time_t start = (time_t)(h->start_realtime / 1000000000u);
    char text[64];
    struct tm tm;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &tm));
    info_json_text(to, "recorded", text);
    info_json_number(to, "duration_ns", h->end_ticks != 0, info_json_ns(f, h->end_ticks - h->start_ticks));
    info_json_text(to, "state",
                   h->state != DWELL_COMPLETE ? "unfinished"
                   : f->health.lacks_parts    ? "damaged"
                                              : "complete");
    info_json_text(to, "mode", info_json_mode(f));
    info_json_text(to, "clock", recorded_clock_name(h->clock));
    info_json_number(to, "ticks_per_second", true, h->ticks_per_second);
    info_json_text(to, "machine", recorded_machine_name(h->machine));
    info_json_text(to, "host", f->host.node);
    info_json_number(to, "processors", f->host.processors != 0, f->host.processors);
    json_object_object_add(to, "call_sites", json_object_new_boolean(h->also & DWELL_ALSO_CALL_SITES));
}

static void info_json_add_counts(struct json_object *to, const struct analysis *analysis)
{
    const struct session_file *f = analysis->file;
    const struct profile_counts *c = &analysis->profile->counts;
    const struct summary *summary = &analysis->summary;
    const bool events = !summary->imported;
    struct stat status;
    const bool has_size = fstat(f->fd, &status) == 0;
    info_json_number(to, "enters", events, c->enters);
    info_json_number(to, "exits", events, c->exits);
    info_json_number(to, "unwound", events, c->unwound);
    info_json_number(to, "intervals", events, c->intervals);
    info_json_number(to, "flagged_intervals", events, c->flagged_intervals);
    info_json_number(to, "os_events", events && summary->application_known, c->os_events);
    info_json_number(to, "page_faults", events && summary->application_known, c->page_faults);
    info_json_number(to, "blocked_ns", events && summary->off_cpu_known, info_json_ns(f, c->blocked));
    info_json_number(to, "preempted_ns", events && summary->off_cpu_known, info_json_ns(f, c->preempted));
    info_json_number(to, "samples", f->header.sample_period != 0, samples_count(f));
    info_json_number(to, "lost_samples", f->header.sample_period != 0, f->header.lost_samples);
    info_json_number(to, "paused_ns", events, info_json_ns(f, c->paused));
    info_json_number(to, "functions", true, analysis->profile->function_count);
    info_json_number(to, "modules", true, analysis->profile->module_count);
    info_json_number(to, "counted_functions", true, summary->counted);
    info_json_number(to, "size_bytes", has_size, has_size ? (uint64_t)status.st_size : 0);
    info_json_number(to, "lost_events", events, f->header.lost_events);
    info_json_number(to, "lost_trace_events", events, f->header.lost_trace_events);
    info_json_number(to, "lost_threads", events, f->header.lost_threads);
    info_json_number(to, "overhead_ns", summary->overhead_known, info_json_ns(f, summary->overhead));
    info_json_percent(to, "budget_percent", summary->asked_percent > 0, summary->asked_percent);
    info_json_percent(to, "budget_reached_percent", summary->asked_percent > 0, summary->reached_percent);
}

/* Each note once: many processes may have the same. */
static struct json_object *info_json_notes(const struct session_file *f)
{
    struct json_object *list = json_object_new_array();
    struct intern seen = { .index = NULL };
    for (size_t i = 0; i < f->labels.note_count; i++) {
        const size_t count = seen.count;
        if (intern(&seen, f->labels.notes[i], strlen(f->labels.notes[i])) == count)
            json_object_array_add(list, json_new_text(f->labels.notes[i]));
    }
    intern_drop(&seen);
    return list;
}

static struct json_object *info_json_process(const struct session_file *f, const struct trace_process *p,
                                             const struct cpu_check *cpu)
{
    struct json_object *object = json_object_new_object();
    const bool started = p->start_time > f->header.start_ticks;
    info_json_number(object, "pid", true, p->pid);
    info_json_number(object, "parent", true, p->parent_pid);
    info_json_number(object, "start_ns", started, started ? info_json_ns(f, p->start_time - f->header.start_ticks) : 0);
    info_json_text(object, "end",
                   p->end_how == DWELL_END_EXIT       ? "exit"
                   : p->end_how == DWELL_END_SIGNAL   ? "signal"
                   : p->end_how == DWELL_END_EXECUTED ? "exec"
                                                      : NULL);
    info_json_number(object, "end_value", p->end_how == DWELL_END_EXIT || p->end_how == DWELL_END_SIGNAL, p->end_value);
    info_json_text(object, "path", p->path);
    info_json_text(object, "arguments", p->arguments);
    info_json_text(object, "name", p->name);
    info_json_number(object, "cpu_by_kernel_ns", cpu->known, cpu->kernel);
    info_json_number(object, "cpu_in_report_ns", cpu->known, cpu->functions);
    return object;
}

static struct json_object *info_json_processes(const struct analysis *analysis)
{
    struct json_object *list = json_object_new_array();
    struct cpu_check *checks = cpu_checks(analysis);
    for (size_t i = 0; i < analysis->file->process_count; i++)
        json_object_array_add(list, info_json_process(analysis->file, &analysis->file->processes[i], &checks[i]));
    free(checks);
    return list;
}

static struct json_object *info_json_threads(const struct analysis *analysis)
{
    const struct session_file *f = analysis->file;
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < f->thread_count; i++) {
        const struct trace_thread *t = &f->threads[i];
        const struct trace_process *p = session_file_process(f, t->process);
        struct json_object *object = json_object_new_object();
        info_json_text(object, "name", t->name);
        info_json_text(object, "title", analysis_thread_name(analysis, t->serial));
        info_json_number(object, "tid", true, t->tid);
        info_json_number(object, "pid", p != NULL, p ? p->pid : 0);
        info_json_text(object, "os_events_from", recorded_source_name(t->os_source));
        json_object_array_add(list, object);
    }
    return list;
}

static struct json_object *info_json_facts(const struct analysis *analysis, const char *path)
{
    struct json_object *facts = json_object_new_object();
    info_json_text(facts, "file", path);
    info_json_add_recording(facts, analysis->file);
    info_json_add_counts(facts, analysis);
    return facts;
}

void info_print_csv(const struct analysis *analysis, const char *path)
{
    static const struct column columns[] = { { "fact", "FACT", CELL_TEXT, USE_ALWAYS, false },
                                             { "value", "VALUE", CELL_TEXT, USE_ALWAYS, false } };
    struct json_object *facts = info_json_facts(analysis, path);
    struct table t = table_make(columns, sizeof columns / sizeof *columns, NULL);
    json_object_object_foreach(facts, key, value)
    {
        struct cell *row = table_row(&t);
        cell_text(&row[0], key);
        if (value)
            cell_text(&row[1], json_object_get_string(value));
    }
    table_print_csv(&t, stdout);
    table_drop(&t);
    json_object_put(facts);
}

static struct json_object *info_json_kept_call(const struct session_file *f, const struct dwell_keep *keep,
                                               const struct trace_kept *call, struct namer *namer, const char *activity)
{
    struct json_object *object = json_object_new_object();
    const struct function_name none = { NULL }, *name = activity
                                                            ? &none
                                                            : namer_find_function(namer, call->process, call->function,
                                                                                  call->enter_time);
    const struct trace_thread *t = session_file_thread(f, call->thread);
    const struct trace_process *p = session_file_process(f, call->process);
    const uint64_t ring = kept_ring_needed(f, keep, call);
    info_json_text(object, "function", name->name);
    info_json_text(object, "module", name->module);
    info_json_text(object, "activity", activity);
    info_json_number(object, "pid", p != NULL, p ? p->pid : 0);
    info_json_number(object, "tid", t != NULL, t ? t->tid : 0);
    info_json_number(object, "start_ns", true, info_json_ns(f, less(call->enter_time, f->header.start_ticks)));
    info_json_number(object, "duration_ns", true, info_json_ns(f, less(call->exit_time, call->enter_time)));
    json_object_object_add(object, "usual", json_object_new_boolean(call->usual));
    info_json_number(object, "around_ns", keep != NULL, keep ? info_json_ns(f, kept_around(call, keep)) : 0);
    info_json_number(object, "missing_ns", true, info_json_ns(f, call->missing));
    info_json_number(object, "ring_bytes", ring != 0, ring);
    return object;
}

/* What `dwell record --keep` has kept. */
static struct json_object *info_json_kept(const struct session_file *f)
{
    struct dwell_keep keep;
    struct json_object *object = json_object_new_object(), *watches = json_object_new_array(),
                       *calls = json_object_new_array();
    const bool known = kept_settings_read(f, &keep);
    for (uint32_t i = 0; known && i < keep.watches; i++) {
        struct json_object *watch = json_object_new_object();
        info_json_text(watch, "text", keep.watch[i].text);
        const bool stated = keep.watch[i].rule == DWELL_KEEP_ABOVE;
        info_json_number(watch, "limit_ns", stated, stated ? info_json_ns(f, keep.watch[i].limit) : 0);
        json_object_array_add(watches, watch);
    }
    const struct dwell_keep *settings = known ? &keep : NULL;
    struct namer *namer = namer_new(f);
    struct kept_activities activities = kept_activities_read(f);
    for (size_t i = 0; i < f->kept.count; i++)
        json_object_array_add(calls,
                              info_json_kept_call(f, settings, &f->kept.calls[i], namer,
                                                  kept_activities_name(&activities, settings, &f->kept.calls[i])));
    kept_activities_free(&activities);
    namer_free(namer);
    info_json_number(object, "around_ns", known, known ? info_json_ns(f, keep.around) : 0);
    json_object_object_add(object, "all_processes",
                           known ? json_object_new_boolean(keep.flags & DWELL_KEEP_OTHERS) : NULL);
    info_json_number(object, "usual_one_in", known && keep.usual, known ? keep.usual : 0);
    info_json_number(object, "slow_calls", true, f->more.kept_calls);
    info_json_number(object, "usual_calls", true, f->more.usual_calls);
    info_json_number(object, "limited_calls", true, f->more.limited_calls);
    info_json_number(object, "unkept_calls", true, f->more.unkept_calls);
    info_json_number(object, "dropped_slow_calls", true, f->more.dropped_calls);
    info_json_number(object, "dropped_usual_calls", true, f->more.dropped_usual);
    info_json_number(object, "dropped_processes", true, f->more.dropped_processes);
    info_json_number(object, "forgotten_activities", true, f->more.forgotten);
    json_object_object_add(object, "watches", watches);
    json_object_object_add(object, "calls", calls);
    return object;
}

static struct json_object *info_json_values(const struct session_file *f)
{
    struct recorded_values values = recorded_values_list(f);
    struct json_object *object = json_object_new_object(), *functions = json_object_new_array();
    for (size_t i = 0; i < values.function_count; i++) {
        const struct recorded_function *r = &values.functions[i];
        struct json_object *function = json_object_new_object(), *names = json_object_new_array();
        for (uint32_t j = 0; j < r->value_count; j++)
            json_object_array_add(names, json_new_text(r->values[j].name));
        json_object_object_add(function, "module", json_new_text(r->path));
        json_object_object_add(function, "offset", json_object_new_uint64(r->offset));
        json_object_object_add(function, "values", names);
        info_json_number(function, "calls", !session_file_why_sums(f), r->rows);
        json_object_array_add(functions, function);
    }
    json_object_object_add(object, "functions", functions);
    json_object_object_add(object, "lost_calls", json_object_new_uint64(f->more.lost_values));
    json_object_object_add(object, "lost_unstored", json_object_new_uint64(f->more.unstored_values));
    json_object_object_add(object, "lost_late", json_object_new_uint64(f->more.late_values));
    json_object_object_add(object, "later_calls", json_object_new_uint64(values.later_calls));
    json_object_object_add(object, "damaged_chunks", json_object_new_uint64(values.damaged_chunks));
    recorded_values_free(&values);
    return object;
}

void info_print_json(const struct analysis *analysis, const char *path)
{
    struct json_object *facts = info_json_facts(analysis, path);
    json_object_object_add(facts, "notes", info_json_notes(analysis->file));
    json_begin(stdout);
    fputs("\"session\": ", stdout);
    json_put_object(stdout, facts);
    fputs(",\n ", stdout);
    json_print_remarks(&analysis->summary, stdout);
    fputs("\"processes\": ", stdout);
    json_put_object(stdout, info_json_processes(analysis));
    fputs(",\n \"threads\": ", stdout);
    json_put_object(stdout, info_json_threads(analysis));
    if (analysis->file->more.keep) {
        fputs(",\n \"keep\": ", stdout);
        json_put_object(stdout, info_json_kept(analysis->file));
    }
    if (analysis->file->more.values) {
        fputs(",\n \"values\": ", stdout);
        json_put_object(stdout, info_json_values(analysis->file));
    }
    const struct library_slots libraries = library_slots_read(analysis->file);
    if (libraries.functions)
        printf(",\n \"library_calls\": { \"modules\": %" PRIu32 ", \"functions\": %" PRIu32 " }", libraries.modules,
               libraries.functions);
    fputs("}\n", stdout);
}
