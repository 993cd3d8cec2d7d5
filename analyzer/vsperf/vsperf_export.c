/* VSPerfReport's summaries as CSV files (docs/vsperf.md): those of modules, threads and processes, and the writing of
 * the files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "export/exports.h"
#include "profile/reported.h"
#include "trace/read_error.h"
#include "vsperf/vsperf_feature.h"
#include "vsperf/vsperf_rows.h"

/* ---- modules, threads, processes ---- */

static const struct vsperf_process_rows *vsperf_find_process_rows(const struct vsperf_tables *m, uint32_t serial)
{
    size_t i = 0;
    while (m->processes[i].serial != serial) /* every process has rows */
        i++;
    return &m->processes[i];
}

/* The times of modules in one process, computed from a profile of its threads only. */
static struct times *vsperf_times_in_process(const struct analysis *analysis, uint32_t serial, enum rollup_by by)
{
    struct profile one = *analysis->profile;
    struct rollup rollup = *analysis->rollup;
    one.threads = need_memory(analysis->profile->thread_count, sizeof *one.threads);
    one.thread_count = 0;
    for (size_t i = 0; i < analysis->profile->thread_count; i++)
        if (analysis->profile->threads[i].process == serial)
            one.threads[one.thread_count++] = analysis->profile->threads[i];
    rollup.profile = &one;
    struct times *times = rollup_groups(&rollup, by);
    free(one.threads);
    return times;
}

struct vsperf_module_order {
    const struct profile *profile;
    const struct times *sums;
};

static int vsperf_compare_modules(const void *a, const void *b, void *data)
{
    const struct vsperf_module_order *o = data;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (o->sums[x].elapsed_inclusive != o->sums[y].elapsed_inclusive)
        return o->sums[x].elapsed_inclusive < o->sums[y].elapsed_inclusive ? 1 : -1;
    return strcmp(o->profile->modules[x].path, o->profile->modules[y].path);
}

static void vsperf_put_modules(const struct vsperf_file *f, const struct vsperf_tables *m,
                               const struct vsperf_process_rows *p)
{
    const struct profile *profile = f->session->profile;
    const struct vsperf_file rows = vsperf_of_process(f, p);
    struct times *sums = vsperf_times_in_process(m->session, p->serial, BY_MODULE);
    const struct dwell_stated **stated = reported_stated(profile, DWELL_REPORTED_MODULE, p->serial);
    bool *seen = need_memory(profile->module_count, sizeof *seen);
    uint32_t *sorted = need_memory(profile->module_count, sizeof *sorted);
    size_t count = 0;
    for (size_t i = 0; i < p->function_count; i++) {
        const uint32_t module = profile->functions[p->functions[i]].module;
        if (!seen[module])
            sorted[count++] = module;
        seen[module] = true;
    }
    qsort_r(sorted, count, sizeof *sorted, vsperf_compare_modules, &(struct vsperf_module_order){ profile, sums });
    for (size_t i = 0; i < count; i++) {
        char *name = names_module(profile->modules[sorted[i]].path);
        const struct call_sums called = { .times = sums[sorted[i]], .stated = stated[sorted[i]] };
        vsperf_text(&rows, name);
        vsperf_values(&rows, VSPERF_INCLUSIVE | VSPERF_CALLS, &called);
        vsperf_text(&rows, profile->modules[sorted[i]].path);
        vsperf_process(&rows);
        vsperf_end_row(&rows);
        free(name);
    }
    free(sorted);
    free(seen);
    free(sums);
    free(stated);
}

static void vsperf_write_modules(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    vsperf_titles(f, "Module Name");
    vsperf_value_titles(f, VSPERF_INCLUSIVE | VSPERF_CALLS);
    vsperf_titles(f, "Module Path");
    vsperf_process_titles(f);
    vsperf_end_row(f);
    for (size_t i = 0; i < m->count; i++)
        vsperf_put_modules(f, m, &m->processes[i]);
}

static void vsperf_put_since_start(const struct vsperf_file *f, uint64_t time)
{
    const uint64_t start = f->session->file->header.start_ticks;
    if (time)
        vsperf_number(f, time > start ? time - start : 0);
    else
        vsperf_empty(f, 1);
}

static int vsperf_compare_threads(const void *a, const void *b, void *data)
{
    const struct profile_thread *threads = data;
    const struct profile_thread *x = &threads[*(const size_t *)a], *y = &threads[*(const size_t *)b];
    return ORDER_BY(x, y, process, thread);
}

static void vsperf_write_threads(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    const struct profile *profile = f->session->profile;
    vsperf_titles(f, "Thread ID,Thread Name");
    vsperf_value_titles(f, VSPERF_INCLUSIVE | VSPERF_CALLS);
    vsperf_titles(f, "Begin Time,End Time");
    vsperf_process_titles(f);
    vsperf_end_row(f);
    struct times *sums = rollup_groups(f->session->rollup, BY_THREAD);
    size_t *sorted = need_memory(profile->thread_count, sizeof *sorted);
    for (size_t i = 0; i < profile->thread_count; i++)
        sorted[i] = i;
    qsort_r(sorted, profile->thread_count, sizeof *sorted, vsperf_compare_threads, profile->threads);
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *pt = &profile->threads[sorted[i]];
        const struct trace_thread *t = session_file_thread(f->session->file, pt->thread);
        const struct vsperf_file rows = vsperf_of_process(f, vsperf_find_process_rows(m, pt->process));
        const struct call_sums called = { .times = sums[sorted[i]] };
        vsperf_number(&rows, t ? t->tid : 0);
        vsperf_text(&rows, t && t->name[0] ? t->name : "[unknown]");
        vsperf_values(&rows, VSPERF_INCLUSIVE | VSPERF_CALLS, &called);
        vsperf_put_since_start(&rows, t ? t->start_time : 0);
        vsperf_put_since_start(&rows, t ? t->end_time : 0);
        vsperf_process(&rows);
        vsperf_end_row(&rows);
    }
    free(sorted);
    free(sums);
}

static void vsperf_write_processes(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    vsperf_titles(f, "Process ID,Process Name");
    vsperf_value_titles(f, VSPERF_INCLUSIVE | VSPERF_CALLS);
    vsperf_titles(f, "Begin Time,End Time");
    vsperf_end_row(f);
    struct times *sums = rollup_groups(f->session->rollup, BY_PROCESS);
    for (size_t i = 0; i < m->count; i++) {
        const struct vsperf_process_rows *p = &m->processes[i];
        const struct trace_process *process = session_file_process(f->session->file, p->serial);
        const struct call_sums called = { .times = sums[i] };
        vsperf_number(f, p->pid);
        vsperf_text(f, p->name);
        vsperf_values(f, VSPERF_INCLUSIVE | VSPERF_CALLS, &called);
        vsperf_put_since_start(f, process ? process->start_time : 0);
        vsperf_put_since_start(f, process ? process->end_time : 0);
        vsperf_end_row(f);
    }
    free(sums);
}

/* ---- the run and its marks ---- */

static void vsperf_put_fact(const struct vsperf_file *f, const char *name, const char *value)
{
    vsperf_text(f, name);
    vsperf_text(f, value);
    vsperf_end_row(f);
}

static void vsperf_put_number_fact(const struct vsperf_file *f, const char *name, uint64_t value)
{
    vsperf_text(f, name);
    vsperf_number(f, value);
    vsperf_end_row(f);
}

static void vsperf_write_header(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    const struct dwell_file_header *h = &f->session->file->header;
    const time_t start = (time_t)(h->start_realtime / 1000000000u);
    struct tm tm;
    char text[64];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &tm));
    vsperf_titles(f, "Name,Value");
    vsperf_end_row(f);
    vsperf_put_fact(f, "Profiler", "dwell " DWELL_VERSION_TEXT);
    vsperf_put_fact(f, "Report File", f->session->file->path);
    vsperf_put_fact(f, "Collection Method", f->session->summary.samples ? "Sampling" : "Instrumentation");
    vsperf_put_fact(f, "Begin Time", text);
    if (!f->session->summary.samples)
        vsperf_put_number_fact(f, "Ticks per Second", h->ticks_per_second);
    if (h->end_ticks > h->start_ticks)
        vsperf_put_number_fact(f, "Duration", h->end_ticks - h->start_ticks);
    vsperf_put_number_fact(f, "Lost Events", h->lost_events);
    for (size_t i = 0; i < m->count; i++) {
        const struct trace_process *p = session_file_process(f->session->file, m->processes[i].serial);
        vsperf_put_fact(f, "Command Line", p && p->arguments[0] ? p->arguments : p ? p->path : "");
    }
    for (size_t i = 0; i < f->session->summary.remark_count; i++)
        vsperf_put_fact(f, "Remark", f->session->summary.remarks[i]);
}

static void vsperf_write_marks(const struct vsperf_file *f, const struct vsperf_tables *m)
{
    (void)m;
    const struct profile *p = f->session->profile;
    struct profile_mark *marks = need_memory(p->mark_count, sizeof *marks);
    vsperf_titles(f, "Mark Id,Mark Name,Timestamp");
    vsperf_end_row(f);
    if (p->mark_count) {
        memcpy(marks, p->marks, p->mark_count * sizeof *marks);
        qsort(marks, p->mark_count, sizeof *marks, profile_compare_marks);
    }
    for (size_t i = 0; i < p->mark_count; i++) {
        vsperf_number(f, marks[i].number);
        vsperf_text(f, marks[i].text);
        vsperf_put_since_start(f, marks[i].time);
        vsperf_end_row(f);
    }
    free(marks);
}

/* ---- files ---- */

static const struct {
    const char *name;
    vsperf_writer *write;
} summaries[] = {
    { "CallerCalleeSummary", vsperf_caller_callee },
    { "FunctionSummary", vsperf_functions },
    { "ModuleSummary", vsperf_write_modules },
    { "ThreadSummary", vsperf_write_threads },
    { "ProcessSummary", vsperf_write_processes },
    { "CallTreeSummary", vsperf_tree },
    { "LineSummary", vsperf_lines },
    { "Header", vsperf_write_header },
    { "Marks", vsperf_write_marks },
};
enum { SUMMARY_COUNT = sizeof summaries / sizeof *summaries };

/* All files are written under temporary names and renamed at the end, so older files stay until then. */
struct vsperf_output {
    char *path, *part;
};

static bool vsperf_check_place(const char *path, const struct analysis *analysis, struct error *error)
{
    struct stat there, session;
    if (stat(path, &there) < 0)
        return true;
    if (S_ISDIR(there.st_mode))
        return error_set(error, "%s: is a directory", path);
    if (fstat(analysis->file->fd, &session) == 0 && there.st_dev == session.st_dev && there.st_ino == session.st_ino)
        return error_set(error, "%s: is the session itself", path);
    return true;
}

static bool vsperf_write_part(struct vsperf_output *o, size_t number, const struct vsperf_tables *m,
                              struct error *error)
{
    char *part = need_text("%s.%d.part", o->path, (int)getpid());
    leftover_add(part);
    const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        error_set(error, "%s: %s", o->path, strerror(errno));
        leftover_forget(part); /* not ours to remove */
        free(part);
        return false;
    }
    o->part = part;
    FILE *out = fdopen(fd, "w");
    if (!out)
        return error_set(error, "%s: %s", o->path, strerror(errno));
    const struct vsperf_file f = { .out = out,
                                   .session = m->session,
                                   .average_samples = vsperf_has_average_samples(m->session) };
    errno = 0;
    summaries[number].write(&f, m);
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed)
        return error_set(error, "%s: %s", o->path, strerror(errno ? errno : EIO));
    return true;
}

static bool vsperf_write_parts(struct vsperf_output *outputs, const struct vsperf_tables *m, const char *prefix,
                               struct error *error)
{
    for (size_t i = 0; i < SUMMARY_COUNT; i++) {
        outputs[i].path = need_text("%s_%s.csv", prefix, summaries[i].name);
        if (!vsperf_check_place(outputs[i].path, m->session, error) || !vsperf_write_part(&outputs[i], i, m, error))
            return false;
    }
    return true;
}

static bool vsperf_put_in_place(const struct vsperf_output *outputs, struct error *error)
{
    const int unread = read_error_take_any();
    if (unread)
        return error_set(error, "a part of the session could not be read: %s", strerror(unread));
    for (size_t i = 0; i < SUMMARY_COUNT; i++)
        if (rename(outputs[i].part, outputs[i].path) < 0)
            return error_set(error, "%s: %s", outputs[i].path, strerror(errno));
    return true;
}

bool vsperf_export(const struct analysis *session, const struct export_options *options, const char *prefix,
                   struct error *error)
{
    (void)options;
    struct vsperf_output outputs[SUMMARY_COUNT] = { 0 };
    struct vsperf_tables m = vsperf_new_tables(session);
    const bool good = vsperf_write_parts(outputs, &m, prefix, error) && vsperf_put_in_place(outputs, error);
    for (size_t i = 0; i < SUMMARY_COUNT; i++) {
        if (!good && outputs[i].part)
            unlink(outputs[i].part);
        if (outputs[i].part)
            leftover_forget(outputs[i].part);
        free(outputs[i].path);
        free(outputs[i].part);
    }
    vsperf_free_tables(&m);
    return good;
}
