/* Writes the lines of a PerfLog log. They end with CR LF, as those of the library do. */
#include "perflog/perflog_writer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "base/units.h"
#include "export/slices.h"

enum {
    MEMORY_MARKER = 102,
    CPU_MARKER = 103,
    LONGEST_STRING = 511,
};

#define TAG "## PERF ## "
#define END "\r\n"

/* ---- the header ---- */

/* The kernel's version: "6.1.0-18-amd64" is version 6.1, build 0. */
static void perflog_write_version(const struct perflog_writer *w, const char *release)
{
    unsigned major, minor = 0, build = 0;
    if (release && sscanf(release, "%u.%u.%u", &major, &minor, &build) > 0)
        fprintf(w->out, TAG "OSVERSION=[%u.%u] BUILD=[%u]" END, major, minor, build);
}

/* Recordings that do not name the system and the machine are of Linux, and of the machine in the file's header. */
void perflog_write_system(const struct perflog_writer *w)
{
    const struct trace_host *host = &w->session->file->host;
    const bool recorded = !w->session->summary.imported;
    const bool arm = w->session->file->header.machine == DWELL_MACHINE_AARCH64;
    const char *platform = host->system ? host->system : recorded ? "Linux" : NULL;
    const char *cpu = host->machine ? host->machine : !recorded ? NULL : arm ? "aarch64" : "x86_64";
    const char *node = host->node ? host->node : platform;
    perflog_write_version(w, host->release);
    if (platform || cpu)
        fputs("## PERF ##", w->out);
    if (platform)
        fprintf(w->out, " PLATFORM=[%s]", platform);
    if (cpu)
        fprintf(w->out, " CPU=[%s]", cpu);
    if (platform || cpu)
        fputs(END, w->out);
    if (node)
        fprintf(w->out, TAG "DEVNAME=[%s]" END, node);
}

/* ---- registering ---- */

static void perflog_write_marker(const struct perflog_writer *w, const struct perflog_app *app, unsigned marker,
                                 const char *string)
{
    fprintf(w->out, TAG "REGISTERED MARKER [%s] AS [%u] BY APP [%s]" END, string, marker, app->name);
}

static void perflog_register_app(const struct perflog_writer *w, struct perflog_app *app)
{
    char text[PERFLOG_LONGEST_APP + 8];
    app->registered = true;
    app->markers = need_memory(w->string_count + 1, sizeof *app->markers);
    fprintf(w->out, TAG "REGISTERED APP [%s] PROCCESSID [0x%08" PRIx32 "]" END, app->name,
            app->process ? app->process->pid : 0);
    fprintf(w->out, TAG "RESOLUTION [%" PRIu64 "] TICKS PER SECOND" END, w->session->file->header.ticks_per_second);
    if (!app->process || !app->process->sample_count)
        return;
    snprintf(text, sizeof text, "CPU: %s", app->name);
    perflog_write_marker(w, app, CPU_MARKER, text);
    snprintf(text, sizeof text, "MEM: %s", app->name);
    perflog_write_marker(w, app, MEMORY_MARKER, text);
}

/* The number of a string's marker, which has been registered. */
static unsigned perflog_marker(const struct perflog_writer *w, struct perflog_app *app, uint32_t string)
{
    if (!app->registered)
        perflog_register_app(w, app);
    if (app->markers[string])
        return app->markers[string];
    const unsigned marker = app->last_marker = (uint8_t)(app->last_marker % PERFLOG_MARKERS + 1);
    if (app->strings[marker])
        app->markers[app->strings[marker] - 1] = 0;
    app->strings[marker] = string + 1;
    app->markers[string] = (uint8_t)marker;
    perflog_write_marker(w, app, marker, w->strings[string]);
    return marker;
}

/* ---- events ---- */

void perflog_write_duration(const struct perflog_writer *w, struct perflog_app *app, uint32_t string, uint64_t ticks)
{
    const unsigned marker = perflog_marker(w, app, string);
    fprintf(w->out, TAG "APP [%s] EVT [%u] DUR [%" PRIu64 "]" END, app->name, marker, ticks);
}

void perflog_write_error(const struct perflog_writer *w, struct perflog_app *app, uint32_t string)
{
    const unsigned marker = perflog_marker(w, app, string);
    fprintf(w->out, TAG "APP [%s] EVT [%u] ERROR" END, app->name, marker);
}

void perflog_write_attribute(const struct perflog_writer *w, struct perflog_app *app, uint32_t string, const char *name,
                             uint64_t value)
{
    const unsigned marker = perflog_marker(w, app, string);
    fprintf(w->out, TAG "APP [%s] EVT [%u] ATTR [%s] [%" PRIu64 "]" END, app->name, marker, name, value);
}

/* ---- CPU and memory ---- */

/* Writes a sample. The CPU time is in percent of one CPU, so several threads may use more than 100 percent. */
static void perflog_write_sample(const struct perflog_writer *w, const struct perflog_app *app,
                                 const struct trace_sample *before, const struct trace_sample *sample)
{
    const uint64_t rate = w->session->file->header.ticks_per_second;
    if (before && sample->time > before->time && sample->cpu >= before->cpu)
        fprintf(w->out, TAG "APP [%s] EVT [%u] CPU [%f]" END, app->name, CPU_MARKER,
                100.0 * (double)(sample->cpu - before->cpu) / (double)ticks_to_ns(sample->time - before->time, rate));
    if (sample->resident)
        fprintf(w->out, TAG "APP [%s] EVT [%u] MEM [%" PRIu64 "]" END, app->name, MEMORY_MARKER, sample->resident);
}

void perflog_write_samples(struct perflog_writer *w, uint64_t time)
{
    while (w->has_samples) {
        struct perflog_app *first = NULL;
        for (size_t i = 0; i + 1 < w->app_count; i++) {
            struct perflog_app *app = &w->apps[i];
            const struct trace_process *p = app->process;
            if (app->next_sample < p->sample_count && p->samples[app->next_sample].time < time &&
                (!first || p->samples[app->next_sample].time < first->process->samples[first->next_sample].time))
                first = app;
        }
        if (!first)
            return;
        const struct trace_sample *sample = &first->process->samples[first->next_sample];
        if (!slices_hold(w->session, first->process->serial, sample->time)) {
            first->next_sample++;
            continue;
        }
        if (!first->registered)
            perflog_register_app(w, first);
        perflog_write_sample(w, first, first->next_sample ? sample - 1 : NULL, sample);
        first->next_sample++;
    }
}

/* ---- begin and end ---- */

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

static void perflog_count_names(struct perflog_writer *w)
{
    const struct session_file *file = w->session->file;
    w->name_uses = need_memory(file->process_count + 1, sizeof *w->name_uses);
    for (size_t i = 0; i < file->process_count; i++) {
        const char *name = path_file_name(file->processes[i].path);
        w->name_uses[intern(&w->base_names, name, strlen(name))]++;
    }
}

static void perflog_name_app(const struct perflog_writer *w, struct perflog_app *app)
{
    const char *name = app->process ? path_file_name(app->process->path) : "";
    const bool shared = !*name || w->name_uses[intern_find(&w->base_names, name, strlen(name))] > 1;
    char suffix[32] = "";
    if (shared && app->process)
        snprintf(suffix, sizeof suffix, "-%" PRIu32 ".%" PRIu32, app->process->pid, app->process->serial);
    snprintf(app->name, sizeof app->name, "%s", *name ? name : "process");
    perflog_make_printable(app->name, PERFLOG_LONGEST_APP - strlen(suffix));
    strcat(app->name, suffix);
}

void perflog_writer_begin(struct perflog_writer *w, const struct analysis *session, char **strings, size_t count,
                          FILE *out)
{
    const struct session_file *file = session->file;
    *w = (struct perflog_writer){ .session = session, .out = out, .strings = strings, .string_count = count };
    for (size_t i = 0; i < count; i++)
        perflog_make_printable(strings[i], LONGEST_STRING);
    perflog_count_names(w);
    w->app_count = file->process_count + 1;
    w->apps = need_memory(w->app_count, sizeof *w->apps);
    for (size_t i = 0; i < w->app_count; i++) {
        w->apps[i].process = i < file->process_count ? &file->processes[i] : NULL;
        w->has_samples |= i < file->process_count && file->processes[i].sample_count;
        perflog_name_app(w, &w->apps[i]);
    }
}

void perflog_writer_end(struct perflog_writer *w)
{
    for (size_t i = 0; i < w->string_count; i++)
        free(w->strings[i]);
    for (size_t i = 0; i < w->app_count; i++)
        free(w->apps[i].markers);
    intern_drop(&w->base_names);
    free(w->name_uses);
    free(w->strings);
    free(w->apps);
}

struct perflog_app *perflog_writer_app(const struct perflog_writer *w, uint32_t process)
{
    const struct trace_process *p = session_file_process(w->session->file, process);
    return &w->apps[p ? (size_t)(p - w->session->file->processes) : w->app_count - 1];
}
