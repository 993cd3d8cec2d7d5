/*
 * PerfLog: a text log of markers and the duration of each activation (docs/perflog.md). A process is an application in
 * it, a function a marker. There are 100 numbers for markers; if more are needed, numbers are reused in turn, and the
 * log registers them again.
 *
 * An activation's duration is that of its call without the calls of the same function within it, which have durations
 * of their own. So the count and the sum of a marker equal the report's calls and elapsed inclusive time. Durations are
 * whole ticks: what rounding leaves, and what a call lacks that is shorter than its probes should have been, is carried
 * to the marker's next line.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/path_text.h"
#include "base/units.h"
#include "export/formats.h"
#include "export/slices.h"
#include "profile/calls.h"

enum {
    MAX_MARKERS = 100,
    MEMORY_MARKER = 102,
    CPU_MARKER = 103,
    LONGEST_NAME = 511,
    LONGEST_APP = 32,
};

/* A process. */
struct perflog_app {
    const struct trace_process *process; /* NULL if the session does not know it */
    char name[LONGEST_APP + 1];
    bool registered;
    uint32_t functions[MAX_MARKERS + 1]; /* by number, 1 + function; 0 if free */
    uint8_t last_marker;
    uint8_t *markers; /* by function; 0 if it has none */
    size_t next_sample;
};

struct perflog_log {
    const struct analysis *session;
    FILE *out;
    char **names;
    bool *chosen; /* by function */
    size_t function_count;
    struct perflog_app *apps; /* one for each process of the session, and one for unknown processes */
    size_t app_count;
    bool has_samples;
    struct intern base_names; /* of the processes' programs */
    uint32_t *name_uses;      /* by the number of a base name: of how many processes it is */
    struct perflog_total *totals;
    size_t total_count;
    struct number_index *total_places; /* (function, app) -> place in totals */
};

/* The sum of a process' calls of a function, as in the report. */
struct perflog_total {
    uint32_t app, function;
    uint64_t elapsed;
    uint64_t printed; /* ticks */
    uint64_t carried; /* 1/256 ticks, signed: not yet printed */
};

/* ---- the header ---- */

/* Writes the kernel's version: "6.1.0-18-amd64" is version 6.1, build 0. */
static void perflog_print_system(const struct perflog_log *log)
{
    const struct trace_host *host = &log->session->file->host;
    unsigned major = 0, minor = 0, build = 0;
    if (host->release)
        sscanf(host->release, "%u.%u.%u", &major, &minor, &build);
    const bool arm = log->session->file->header.machine == DWELL_MACHINE_AARCH64;
    fprintf(log->out, "## PERF ## OSVERSION=[%u.%u] BUILD=[%u]\n", major, minor, build);
    fprintf(log->out, "## PERF ## PLATFORM=[%s] CPU=[%s]\n", host->system ? host->system : "Linux",
            host->machine ? host->machine
            : arm         ? "aarch64"
                          : "x86_64");
    fprintf(log->out, "## PERF ## DEVNAME=[%s]\n", host->node ? host->node : host->system ? host->system : "Linux");
}

static void perflog_print_line(const struct perflog_log *log, const struct perflog_app *app, unsigned marker,
                               const char *name)
{
    fprintf(log->out, "## PERF ## REGISTERED MARKER [%s] AS [%u] BY APP [%s]\n", name, marker, app->name);
}

static void perflog_register_app(const struct perflog_log *log, struct perflog_app *app)
{
    char text[LONGEST_APP + 8];
    app->registered = true;
    app->markers = need_memory(log->function_count + 1, sizeof *app->markers);
    fprintf(log->out, "## PERF ## REGISTERED APP [%s] PROCCESSID [0x%08" PRIx32 "]\n", app->name,
            app->process ? app->process->pid : 0);
    fprintf(log->out, "## PERF ## RESOLUTION [%" PRIu64 "] TICKS PER SECOND\n",
            log->session->file->header.ticks_per_second);
    if (!app->process || !app->process->sample_count)
        return;
    snprintf(text, sizeof text, "CPU: %s", app->name);
    perflog_print_line(log, app, CPU_MARKER, text);
    snprintf(text, sizeof text, "MEM: %s", app->name);
    perflog_print_line(log, app, MEMORY_MARKER, text);
}

static void perflog_register_marker(const struct perflog_log *log, struct perflog_app *app, uint32_t function)
{
    const unsigned marker = app->last_marker = (uint8_t)(app->last_marker % MAX_MARKERS + 1);
    if (app->functions[marker])
        app->markers[app->functions[marker] - 1] = 0;
    app->functions[marker] = function + 1;
    app->markers[function] = (uint8_t)marker;
    perflog_print_line(log, app, marker, log->names[function]);
}

static void perflog_print_duration(const struct perflog_log *log, struct perflog_app *app, uint32_t function,
                                   uint64_t ticks)
{
    if (!app->registered)
        perflog_register_app(log, app);
    if (!app->markers[function])
        perflog_register_marker(log, app, function);
    fprintf(log->out, "## PERF ## APP [%s] EVT [%u] DUR [%" PRIu64 "]\n", app->name, app->markers[function], ticks);
}

/* ---- CPU and memory ---- */

/* Writes a sample. The CPU time is in percent of one CPU, so several threads may use more than 100 percent. */
static void perflog_print_sample(const struct perflog_log *log, const struct perflog_app *app,
                                 const struct trace_sample *before, const struct trace_sample *sample)
{
    const uint64_t rate = log->session->file->header.ticks_per_second;
    if (before && sample->time > before->time && sample->cpu >= before->cpu)
        fprintf(log->out, "## PERF ## APP [%s] EVT [%u] CPU [%f]\n", app->name, CPU_MARKER,
                100.0 * (double)(sample->cpu - before->cpu) / (double)ticks_to_ns(sample->time - before->time, rate));
    if (sample->resident)
        fprintf(log->out, "## PERF ## APP [%s] EVT [%u] MEM [%" PRIu64 "]\n", app->name, MEMORY_MARKER,
                sample->resident);
}

/* Writes all processes' samples that were taken before `time`. */
static void perflog_print_samples(struct perflog_log *log, uint64_t time)
{
    for (;;) {
        struct perflog_app *first = NULL;
        for (size_t i = 0; i + 1 < log->app_count; i++) {
            struct perflog_app *app = &log->apps[i];
            const struct trace_process *p = app->process;
            if (app->next_sample < p->sample_count && p->samples[app->next_sample].time < time &&
                (!first || p->samples[app->next_sample].time < first->process->samples[first->next_sample].time))
                first = app;
        }
        if (!first)
            return;
        const struct trace_sample *sample = &first->process->samples[first->next_sample];
        if (!slices_hold(log->session, first->process->serial, sample->time)) {
            first->next_sample++;
            continue;
        }
        if (!first->registered)
            perflog_register_app(log, first);
        perflog_print_sample(log, first, first->next_sample ? sample - 1 : NULL, sample);
        first->next_sample++;
    }
}

/* ---- sums of functions ---- */

static struct perflog_app *perflog_find_app(const struct perflog_log *log, uint32_t process)
{
    const struct trace_process *p = session_file_process(log->session->file, process);
    return &log->apps[p ? (size_t)(p - log->session->file->processes) : log->app_count - 1];
}

static bool perflog_is_open_above(const struct profile *p, uint32_t node)
{
    const uint32_t function = p->nodes[node].function;
    for (uint32_t above = p->nodes[node].parent; above != PROFILE_NONE; above = p->nodes[above].parent)
        if (p->nodes[above].function == function)
            return true;
    return false;
}

static int perflog_compare_totals(const void *a, const void *b)
{
    const struct perflog_total *x = a, *y = b;
    if (x->app != y->app)
        return x->app < y->app ? -1 : 1;
    if (x->elapsed != y->elapsed)
        return x->elapsed < y->elapsed ? 1 : -1;
    return (x->function > y->function) - (x->function < y->function);
}

static uint32_t *perflog_find_node_apps(const struct perflog_log *log)
{
    const struct profile *p = log->session->profile;
    uint32_t *apps = need_memory(p->node_count + 1, sizeof *apps);
    for (size_t i = 0; i < p->thread_count; i++)
        apps[p->threads[i].root] = (uint32_t)(perflog_find_app(log, p->threads[i].process) - log->apps);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            apps[i] = apps[p->nodes[i].parent];
    return apps;
}

/* Sums up the times of the chosen functions by function and process. */
static void perflog_add_up_totals(struct perflog_log *log)
{
    const struct profile *p = log->session->profile;
    uint32_t *apps = perflog_find_node_apps(log);
    log->totals = need_memory(p->node_count + 1, sizeof *log->totals);
    log->total_places = index_new();
    for (uint32_t i = 0; i < p->node_count; i++) {
        const uint32_t function = p->nodes[i].function;
        if (function == PROFILE_NONE || !log->chosen[function])
            continue;
        struct index_slot *slot = index_find(log->total_places, function, apps[i]);
        const size_t at = slot->value_plus_1 ? slot->value_plus_1 - 1 : log->total_count;
        if (at == log->total_count) {
            log->totals[log->total_count++] = (struct perflog_total){ .app = apps[i], .function = function };
            index_set(log->total_places, slot, function, apps[i], (uint32_t)at);
        }
        if (!perflog_is_open_above(p, i))
            log->totals[at].elapsed += log->session->rollup->nodes[i].elapsed_inclusive;
    }
    free(apps);
}

/* One line for each function of a process. */
static void perflog_print_totals(struct perflog_log *log)
{
    if (log->total_count)
        qsort(log->totals, log->total_count, sizeof *log->totals, perflog_compare_totals);
    for (size_t i = 0; i < log->total_count; i++)
        perflog_print_duration(log, &log->apps[log->totals[i].app], log->totals[i].function, log->totals[i].elapsed);
}

/* ---- single calls ---- */

/* The lines add up to the report. If the last calls lack time, no later line can make up for it, so the sum is limited.
 */
static uint64_t perflog_duration(const struct perflog_log *log, struct perflog_total *total, uint64_t amount)
{
    total->carried += amount;
    uint64_t ticks = (int64_t)total->carried > 0 ? total->carried / DWELL_PROBE_FRACTION : 0;
    if (!log->session->selection)
        ticks = smaller(ticks, less(total->elapsed, total->printed));
    total->carried -= ticks * DWELL_PROBE_FRACTION;
    total->printed += ticks;
    return ticks;
}

static bool perflog_add_call(void *context, const struct finished_call *call)
{
    struct perflog_log *log = context;
    if (log->has_samples)
        perflog_print_samples(log, call->end);
    struct perflog_app *app = perflog_find_app(log, call->process);
    const struct index_slot *slot = index_find(log->total_places, call->function, (uint32_t)(app - log->apps));
    if (slot->value_plus_1)
        perflog_print_duration(log, app, call->function,
                               perflog_duration(log, &log->totals[slot->value_plus_1 - 1], call->once));
    return !ferror(log->out);
}

/* ---- start and end ---- */

/* Makes a name fit for a line of the log. The log's brackets may be in it. */
static void perflog_make_printable(char *name, size_t longest)
{
    if (strlen(name) > longest) {
        while (longest > 0 && (name[longest] & 0xc0) == 0x80) /* do not cut a UTF-8 character */
            longest--;
        name[longest] = '\0';
    }
    for (; *name; name++)
        if (iscntrl((unsigned char)*name))
            *name = '?';
}

static void perflog_count_names(struct perflog_log *log)
{
    const struct session_file *file = log->session->file;
    log->name_uses = need_memory(file->process_count + 1, sizeof *log->name_uses);
    for (size_t i = 0; i < file->process_count; i++) {
        const char *name = path_file_name(file->processes[i].path);
        log->name_uses[intern(&log->base_names, name, strlen(name))]++;
    }
}

static void perflog_name_app(const struct perflog_log *log, struct perflog_app *app)
{
    const char *name = app->process ? path_file_name(app->process->path) : "";
    const bool shared = !*name || log->name_uses[intern_find(&log->base_names, name, strlen(name))] > 1;
    char suffix[32] = "";
    if (shared && app->process)
        snprintf(suffix, sizeof suffix, "-%" PRIu32 ".%" PRIu32, app->process->pid, app->process->serial);
    snprintf(app->name, sizeof app->name, "%s", *name ? name : "process");
    perflog_make_printable(app->name, LONGEST_APP - strlen(suffix));
    strcat(app->name, suffix);
}

static void perflog_begin_log(struct perflog_log *log, const struct analysis *session,
                              const struct export_options *options, FILE *out)
{
    const struct session_file *file = session->file;
    *log = (struct perflog_log){ .session = session, .out = out, .function_count = session->profile->function_count };
    log->names = export_unique_names(session);
    log->chosen = need_memory(log->function_count + 1, sizeof *log->chosen);
    size_t count;
    uint32_t *chosen = export_choose_functions(session, options, &count);
    for (size_t i = 0; i < count; i++)
        log->chosen[chosen[i]] = true;
    free(chosen);
    for (size_t i = 0; i < log->function_count; i++)
        perflog_make_printable(log->names[i], LONGEST_NAME);
    perflog_count_names(log);
    log->app_count = file->process_count + 1;
    log->apps = need_memory(log->app_count, sizeof *log->apps);
    for (size_t i = 0; i < log->app_count; i++) {
        log->apps[i].process = i < file->process_count ? &file->processes[i] : NULL;
        log->has_samples |= i < file->process_count && file->processes[i].sample_count;
        perflog_name_app(log, &log->apps[i]);
    }
}

static void perflog_end_log(struct perflog_log *log)
{
    for (size_t i = 0; i < log->function_count; i++)
        free(log->names[i]);
    for (size_t i = 0; i < log->app_count; i++)
        free(log->apps[i].markers);
    index_free(log->total_places);
    free(log->totals);
    intern_drop(&log->base_names);
    free(log->name_uses);
    free(log->names);
    free(log->chosen);
    free(log->apps);
}

bool export_perflog(const struct analysis *session, const struct export_options *options, FILE *out,
                    struct error *error)
{
    (void)error;
    struct perflog_log log;
    perflog_begin_log(&log, session, options, out);
    perflog_print_system(&log);
    perflog_add_up_totals(&log);
    if (options->aggregate)
        perflog_print_totals(&log);
    else
        analysis_follow_calls(session, true, perflog_add_call, &log);
    perflog_print_samples(&log, UINT64_MAX);
    perflog_end_log(&log);
    return true;
}
