/* Makes the JSON header of a session: functions, modules, threads, values, sums and remarks. */
#include "view/facts.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/bounds.h"
#include "analysis/budget_reached.h"
#include "analysis/probe_share.h"
#include "analysis/waiting_names.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/display_name.h"
#include "trace/recorded_names.h"

static void facts_add_text(struct json_object *object, const char *key, const char *text)
{
    json_object_object_add(object, key, text ? json_new_text(text) : NULL);
}

static void facts_add_number(struct json_object *object, const char *key, uint64_t number)
{
    json_object_object_add(object, key, json_object_new_uint64(number));
}

static void facts_add_flag(struct json_object *object, const char *key, bool flag)
{
    json_object_object_add(object, key, json_object_new_boolean(flag));
}

/* ---- lists ---- */

static struct json_object *facts_modules(const struct analysis *analysis, const struct order *order)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < analysis->profile->module_count; i++) {
        const struct profile_module *m = &analysis->profile->modules[order->modules[i]];
        struct json_object *module = json_object_new_object();
        char *name = names_module(m->path), *id = need_hex(m->build_id, m->build_id_length);
        facts_add_text(module, "name", name);
        facts_add_text(module, "path", m->path);
        facts_add_text(module, "build_id", id);
        json_object_array_add(list, module);
        free(name);
        free(id);
    }
    return list;
}

static struct json_object *facts_functions(const struct analysis *analysis, const struct order *order)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < analysis->profile->function_count; i++) {
        const struct profile_function *f = &analysis->profile->functions[order->functions[i]];
        const struct function_name *name = &analysis->names[order->functions[i]];
        struct json_object *function = json_object_new_object();
        char address[32];
        snprintf(address, sizeof address, "0x%" PRIx64, f->offset);
        char *shown = display_name(name->name);
        facts_add_text(function, "name", name->name);
        facts_add_text(function, "shown", strcmp(shown, name->name) == 0 ? NULL : shown);
        free(shown);
        facts_add_number(function, "module", order->module_ranks[f->module]);
        facts_add_text(function, "file", name->file);
        facts_add_number(function, "line", name->line);
        facts_add_text(function, "address", function_has_address(analysis, order->functions[i]) ? address : NULL);
        facts_add_flag(function, "waits", has_waiting_name(analysis, order->functions[i]));
        json_object_array_add(list, function);
    }
    return list;
}

/* The cost of a process' probes, if it was subtracted. */
static struct json_object *facts_probes(const struct analysis *analysis, const struct trace_process *p)
{
    if (analysis->raw || !p || !p->probes.rounds)
        return NULL;
    struct json_object *probes = json_object_new_object();
    facts_add_number(probes, "in_callee", p->probes.in_callee);
    facts_add_number(probes, "in_caller", p->probes.in_caller);
    facts_add_number(probes, "first_callee", p->probes.first_callee);
    return probes;
}

static struct json_object *facts_processes(const struct analysis *analysis, const uint32_t *serials, size_t count)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        const struct trace_process *p = session_file_process(analysis->file, serials[i]);
        struct json_object *process = json_object_new_object();
        char *name = names_module(p ? p->path : "");
        facts_add_number(process, "id", p ? p->pid : 0);
        facts_add_number(process, "parent", p ? p->parent_pid : 0);
        facts_add_text(process, "name", name);
        facts_add_text(process, "given_name", p && p->name[0] ? p->name : NULL);
        facts_add_text(process, "command", p ? p->arguments : "");
        facts_add_text(process, "path", p ? p->path : "");
        json_object_object_add(process, "probes", facts_probes(analysis, p));
        json_object_array_add(list, process);
        free(name);
    }
    return list;
}

static size_t facts_process_index(const uint32_t *list, size_t count, uint32_t serial)
{
    const uint32_t *found = bsearch(&serial, list, count, sizeof *list, compare_numbers_32);
    return (size_t)(found - list);
}

static const char *facts_source_name(const struct trace_thread *t)
{
    const char *name = t ? recorded_source_name(t->os_source) : NULL;
    return name ? name : "unknown";
}

static struct json_object *facts_threads(const struct analysis *analysis, const struct order *order,
                                         const uint32_t *serials, size_t process_count)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < analysis->profile->thread_count; i++) {
        const struct profile_thread *of = &analysis->profile->threads[order->threads[i]];
        const struct trace_thread *t = session_file_thread(analysis->file, of->thread);
        struct json_object *thread = json_object_new_object();
        facts_add_number(thread, "id", t ? t->tid : 0);
        facts_add_number(thread, "process", facts_process_index(serials, process_count, of->process));
        facts_add_text(thread, "name", t && t->name[0] ? t->name : "[unknown]");
        facts_add_text(thread, "title", t ? analysis_thread_title(analysis, t->serial) : NULL);
        facts_add_text(thread, "os_source", facts_source_name(t));
        json_object_array_add(list, thread);
    }
    return list;
}

static struct json_object *facts_texts(char *const *lines, size_t count)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, json_new_text(lines[i]));
    return list;
}

static struct json_object *facts_remarks(const struct summary *summary)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < summary->remark_count; i++)
        if (!summary_is_caveat(summary, i))
            json_object_array_add(list, json_new_text(summary->remarks[i]));
    char *probes = probe_share_remark(summary, times_value(&summary->sums, VALUE_OVERHEAD, INCLUSIVE),
                                      times_value(&summary->sums, probe_share_rest(summary), INCLUSIVE), "");
    if (probes)
        json_object_array_add(list, json_new_text(probes));
    free(probes);
    return list;
}

/* ---- values ---- */

/* Adds how a derived value is computed: the whole minus its parts, or the part in percent of the whole. */
static void facts_add_formula(struct json_object *object, const struct value *v)
{
    struct json_object *parts = json_object_new_array();
    for (unsigned i = 0; i < v->part_count; i++)
        json_object_array_add(parts, json_new_text(value_table[v->parts[i]].key));
    facts_add_text(object, "whole", value_table[v->whole].key);
    json_object_object_add(object, "parts", parts);
}

static struct json_object *facts_value(enum value_id value, const struct summary *summary)
{
    static const char *const kinds[] = { "time", "count", "percent" };
    static const char *const of_samples[] = { "samples with it on the stack", "samples with it on top of the stack" };
    const bool samples = summary->samples && value == VALUE_ELAPSED;
    const struct value *v = &value_table[value];
    struct json_object *object = json_object_new_object(), *meanings = json_object_new_array();
    facts_add_text(object, "key", v->key);
    facts_add_text(object, "title", samples ? "Samples" : v->label);
    facts_add_text(object, "kind", kinds[v->kind]);
    for (unsigned form = 0; form < v->forms; form++)
        json_object_array_add(meanings, json_new_text(samples ? of_samples[form] : v->meanings[form]));
    json_object_object_add(object, "meanings", meanings);
    facts_add_flag(object, "known", value_is_known(value, summary_knows(summary), NULL));
    facts_add_flag(object, "shown", v->shown & SHOWN_IN_PAGE);
    facts_add_flag(object, "share_shown", v->shown & SHARE_SHOWN_IN_PAGE);
    facts_add_flag(object, "completed", v->needs & NEEDS_COMPLETED);
    facts_add_flag(object, "off_cpu", v->off_cpu);
    facts_add_flag(object, "of_probes", v->of_probes);
    if (v->part_count)
        facts_add_formula(object, v);
    return object;
}

static struct json_object *facts_values(const struct summary *summary)
{
    struct json_object *list = json_object_new_array();
    for (enum value_id i = 0; i < VALUE_COUNT; i++)
        json_object_array_add(list, facts_value(i, summary));
    return list;
}

/* ---- the session ---- */

/* Shortest and longest calls have no sums, and the page computes derived values itself. */
static bool facts_has_total(const struct value *v)
{
    return !v->part_count && !(v->needs & NEEDS_COMPLETED);
}

struct json_object *facts_totals(const struct analysis *analysis)
{
    struct json_object *object = json_object_new_object();
    const struct times *t = &analysis->summary.whole; /* what the page's percentages are of */
    const struct profile_counts *c = &analysis->profile->counts;
    const struct {
        const char *key;
        uint64_t number;
    } members[] = {
        { "events", analysis->summary.events },
        { "lost_events", analysis->summary.lost_events },
        { "os_events", analysis->summary.os_events },
        { "enters", c->enters },
        { "exits", c->exits },
        { "unwound", c->unwound },
        { "intervals", c->intervals },
        { "flagged_intervals", c->flagged_intervals },
        { "pauses", c->pauses },
        { "paused", c->paused },
    };
    for (enum value_id i = 0; i < VALUE_COUNT; i++)
        for (unsigned form = 0; facts_has_total(&value_table[i]) && form < value_table[i].forms; form++)
            facts_add_number(object, value_table[i].names[form], times_value(t, i, (enum value_form)form));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        facts_add_number(object, members[i].key, members[i].number);
    return object;
}

static struct json_object *facts_host(const struct session_file *f)
{
    struct json_object *object;
    if (!f->host.node)
        return NULL;
    object = json_object_new_object();
    facts_add_text(object, "node", f->host.node);
    facts_add_text(object, "system", f->host.system);
    facts_add_text(object, "release", f->host.release);
    facts_add_text(object, "version", f->host.version);
    facts_add_text(object, "machine", f->host.machine);
    return object;
}

static void facts_add_time(struct json_object *object, const struct session_file *f)
{
    const uint64_t second = 1000000000u;
    const time_t start = (time_t)(f->header.start_realtime / second);
    char text[64];
    struct tm tm;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", localtime_r(&start, &tm));
    facts_add_text(object, "recorded", text);
    facts_add_number(object, "recorded_seconds", (uint64_t)start);
    facts_add_number(object, "duration_ticks",
                     f->header.end_ticks > f->header.start_ticks ? f->header.end_ticks - f->header.start_ticks : 0);
    facts_add_number(object, "ticks_per_second", f->header.ticks_per_second);
}

/* Adds the command line, and as title the command line without the program's folder. */
static void facts_add_command(struct json_object *object, const struct analysis *analysis, const uint32_t *serials,
                              size_t count)
{
    const struct trace_process *p = count ? session_file_process(analysis->file, serials[0]) : NULL;
    const char *command = p ? p->arguments : "";
    char *name = names_module(p ? p->path : "");
    const size_t program = strcspn(command, " ");
    char *title = need_text("%s%s", name, command + program);
    facts_add_text(object, "title", title);
    facts_add_text(object, "command", command);
    free(title);
    free(name);
}

static void facts_add_kind(struct json_object *object, const struct analysis *analysis)
{
    static const char *const modes[] = {
        [DWELL_MODE_TRACE] = "trace", [DWELL_MODE_PROFILE] = "profile", [DWELL_MODE_RING] = "ring"
    };
    const struct dwell_file_header *h = &analysis->file->header;
    facts_add_text(object, "mode", h->mode < sizeof modes / sizeof *modes ? modes[h->mode] : "trace");
    facts_add_text(object, "clock", recorded_clock_name(h->clock));
    facts_add_flag(object, "complete", h->state == DWELL_COMPLETE);
    facts_add_flag(object, "application", analysis->summary.application_known);
    facts_add_flag(object, "off_cpu", analysis->summary.off_cpu_known);
    facts_add_flag(object, "overhead", analysis->summary.overhead_known);
    facts_add_flag(object, "samples", analysis->summary.samples);
    facts_add_flag(object, "imported", analysis->summary.imported);
    facts_add_flag(object, "partial_paths", analysis->summary.partial_paths);
    facts_add_flag(object, "timing", summary_has_timing(&analysis->summary));
    facts_add_number(object, "stack_samples", analysis->summary.stack_samples);
    facts_add_number(object, "samples_in_probes", analysis->summary.samples_in_probes);
    facts_add_number(object, "sample_period", h->sample_period);
    facts_add_number(object, "sample_cost", analysis->raw ? 0 : h->sample_cost);
    facts_add_text(object, "slice", analysis->summary.selection);
}

struct json_object *facts_of(const struct analysis *analysis, const struct order *order)
{
    struct json_object *object = json_object_new_object();
    size_t count;
    uint32_t *serials = rollup_process_list(analysis->profile, &count);
    facts_add_text(object, "dwell", DWELL_VERSION_TEXT);
    facts_add_text(object, "path", analysis->summary.path);
    facts_add_command(object, analysis, serials, count);
    facts_add_time(object, analysis->file);
    facts_add_kind(object, analysis);
    json_object_object_add(object, "host", facts_host(analysis->file));
    json_object_object_add(object, "remarks", facts_remarks(&analysis->summary));
    facts_add_number(object, "losses", analysis->summary.loss_count);
    facts_add_number(object, "run_ticks", analysis->summary.run);
    char *bounds = bounds_remark(&analysis->summary);
    facts_add_text(object, "application_bounds", bounds);
    free(bounds);
    char *added = budget_added_text(&analysis->summary);
    facts_add_text(object, "overhead_reached", added);
    free(added);
    json_object_object_add(object, "notes",
                           facts_texts(analysis->file->labels.notes, analysis->file->labels.note_count));
    json_object_object_add(object, "session", facts_totals(analysis));
    json_object_object_add(object, "values", facts_values(&analysis->summary));
    json_object_object_add(object, "modules", facts_modules(analysis, order));
    json_object_object_add(object, "functions", facts_functions(analysis, order));
    json_object_object_add(object, "processes", facts_processes(analysis, serials, count));
    json_object_object_add(object, "threads", facts_threads(analysis, order, serials, count));
    free(serials);
    return object;
}
