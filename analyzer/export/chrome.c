/*
 * Chrome's trace events in JSON, which about:tracing, Perfetto's UI and speedscope read. Times are microseconds since
 * the session's start with three decimals.
 *
 * A slice is one complete event (X), written at its end. Readers sort by time; of equal times, the first in the file is
 * the outer one. So an outer slice that begins at the same nanosecond as an inner one is written as two events: a
 * begin event (B) before the inner slice, and later an end event (E).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "export/formats.h"
#include "export/slices.h"
#include "export/wait_flows.h"
#include "tables/value_args.h"
#include "trace/activities.h"
#include "trace/event_fields.h"
#include "trace/event_names.h"

/* Tags of slices: whether the slice is written as one complete event, or its begin event has been written. */
enum { TAG_COMPLETE = 0, TAG_BEGUN = 1 };

struct chrome_text {
    char *at;
    size_t length;
};

/* A thread's last outermost slice, in nanoseconds. */
struct chrome_last {
    bool known;
    uint64_t begin, end;
};

struct chrome_writer {
    struct slices_visitor visitor;
    const struct analysis *session;
    FILE *out;
    /* Two for each function, from the phase to the time: for a call, and for a slice that continues one. */
    struct chrome_text *functions;
    struct chrome_text *threads; /* by number, the text after the times */
    size_t thread_count, thread_room;
    struct chrome_last *last; /* by index of the file's threads */
    struct value_args values;
    bool *announced; /* true if the name was written; the file's processes, then its threads */
};

static void chrome_put_bytes(const struct chrome_writer *w, const char *from, const char *to)
{
    fwrite_unlocked(from, 1, (size_t)(to - from), w->out);
}

static void chrome_put_text(const struct chrome_writer *w, const struct chrome_text *text)
{
    fwrite_unlocked(text->at, 1, text->length, w->out);
}

static struct chrome_text chrome_make_text(char *printed)
{
    return (struct chrome_text){ printed, strlen(printed) };
}

/* ---- slices ---- */

static void chrome_write_phase(const struct chrome_writer *w, char phase, const struct call_slice *slice)
{
    char begin[] = ",\n{\"ph\":\"?";
    begin[sizeof begin - 2] = phase;
    chrome_put_bytes(w, begin, begin + sizeof begin - 1);
    chrome_put_text(w, &w->functions[2 * (size_t)slice->function + !slice->is_call]);
}

/* What was recorded of the call's arguments and result. */
static void chrome_write_values(const struct chrome_writer *w, const struct slices_thread *thread,
                                const struct call_slice *slice)
{
    const struct recorded_row *row =
        slice->is_call ? value_args_of(&w->values, slice->function, thread->thread, slice->begin) : NULL;
    if (!row)
        return;
    fputs(",\"args\":", w->out);
    value_args_put_json(&w->values, row, w->out);
}

static void chrome_write_begin(const struct chrome_writer *w, const struct slices_thread *thread,
                               struct call_slice *slice)
{
    char line[JSON_NUMBER];
    slice->tag = TAG_BEGUN;
    chrome_write_phase(w, 'B', slice);
    chrome_put_bytes(w, line, json_put_thousandths(line, slices_ns(w->session, slice->begin)));
    chrome_write_values(w, thread, slice);
    chrome_put_text(w, &w->threads[thread->number]);
}

static void chrome_write_end(const struct chrome_writer *w, const struct slices_thread *thread, uint64_t time)
{
    static const char begin[] = ",\n{\"ph\":\"E\",\"ts\":";
    char line[sizeof begin + JSON_NUMBER];
    memcpy(line, begin, sizeof begin - 1);
    chrome_put_bytes(w, line, json_put_thousandths(line + sizeof begin - 1, slices_ns(w->session, time)));
    chrome_put_text(w, &w->threads[thread->number]);
}

static void chrome_begin_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice)
{
    const struct chrome_writer *w = (struct chrome_writer *)visitor;
    const uint64_t time = slices_ns(w->session, slice->begin);
    size_t first = thread->open - 1; /* the outermost slice that begins at the same time and is not written yet */
    while (first > 0 && thread->stack[first - 1].tag != TAG_BEGUN &&
           slices_ns(w->session, thread->stack[first - 1].begin) == time)
        first--;
    for (; first + 1 < thread->open; first++)
        chrome_write_begin(w, thread, &thread->stack[first]);
}

static void chrome_keep_last(const struct chrome_writer *w, const struct slices_thread *thread,
                             const struct call_slice *slice, uint64_t time)
{
    const struct trace_thread *t = session_file_thread(w->session->file, thread->thread);
    if (t)
        w->last[t - w->session->file->threads] =
            (struct chrome_last){ true, slices_ns(w->session, slice->begin), slices_ns(w->session, time) };
}

static void chrome_end_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice,
                             uint64_t time, enum slice_end how)
{
    static const char duration[] = ",\"dur\":";
    const struct chrome_writer *w = (struct chrome_writer *)visitor;
    (void)how;
    if (thread->open == 1)
        chrome_keep_last(w, thread, slice, time);
    if (slice->tag == TAG_BEGUN) {
        chrome_write_end(w, thread, time);
        return;
    }
    const uint64_t begin = slices_ns(w->session, slice->begin);
    char line[2 * JSON_NUMBER + sizeof duration], *to = json_put_thousandths(line, begin);
    memcpy(to, duration, sizeof duration - 1);
    to = json_put_thousandths(to + sizeof duration - 1, slices_ns(w->session, time) - begin);
    chrome_write_phase(w, 'X', slice);
    chrome_put_bytes(w, line, to);
    chrome_write_values(w, thread, slice);
    chrome_put_text(w, &w->threads[thread->number]);
}

/* ---- off-CPU times and marks ---- */

static void chrome_write_time(const struct chrome_writer *w, uint64_t time)
{
    char number[JSON_NUMBER];
    chrome_put_bytes(w, number, json_put_thousandths(number, slices_ns(w->session, time)));
}

/* Off-CPU times are asynchronous events, which readers show on a track of their own for each thread. */
static void chrome_write_off_cpu_end(const struct chrome_writer *w, const struct slices_thread *thread, char phase,
                                     uint64_t time, const char *name)
{
    fprintf(w->out,
            ",\n{\"ph\":\"%c\",\"name\":\"%s\",\"cat\":\"off CPU\",\"id2\":{\"local\":\"0x%" PRIx32 "\"},\"ts\":",
            phase, name, thread->thread);
    chrome_write_time(w, time);
    chrome_put_text(w, &w->threads[thread->number]);
}

static void chrome_write_off_cpu(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                                 uint64_t end, bool preempted)
{
    const struct chrome_writer *w = (struct chrome_writer *)visitor;
    const char *name = preempted ? "preempted" : "blocked";
    chrome_write_off_cpu_end(w, thread, 'b', begin, name);
    chrome_write_off_cpu_end(w, thread, 'e', end, name);
}

static void chrome_write_mark(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t time,
                              uint32_t number, const char *text)
{
    const struct chrome_writer *w = (struct chrome_writer *)visitor;
    fputs(",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":", w->out);
    json_put_text(w->out, text[0] ? text : "mark");
    fprintf(w->out, ",\"cat\":\"mark\",\"args\":{\"number\":%" PRIu32 "},\"ts\":", number);
    chrome_write_time(w, time);
    chrome_put_text(w, &w->threads[thread->number]);
}

/* ---- processes and threads ---- */

static void chrome_write_name(const struct chrome_writer *w, const char *what, uint32_t pid, uint32_t tid,
                              const char *name)
{
    fprintf(w->out,
            ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"args\":{\"name\":", what, pid,
            tid);
    json_put_text(w->out, name);
    fputs("}}", w->out);
}

/* Writes the names of a process and a thread if they have not been written yet. */
static void chrome_announce_thread(struct chrome_writer *w, uint32_t process, uint32_t thread)
{
    const struct session_file *file = w->session->file;
    const struct trace_process *p = session_file_process(file, process);
    const struct trace_thread *t = session_file_thread(file, thread);
    bool *of_process = p ? w->announced + (p - file->processes) : NULL;
    bool *of_thread = t ? w->announced + file->process_count + (t - file->threads) : NULL;
    if (of_process && !*of_process) {
        char *name = slices_process_name(w->session, process);
        chrome_write_name(w, "process_name", p->pid, 0, name);
        free(name);
        *of_process = true;
    }
    if (of_thread && !*of_thread) {
        char *name = slices_thread_name(w->session, thread);
        chrome_write_name(w, "thread_name", p ? p->pid : 0, t->tid, name);
        free(name);
        *of_thread = true;
    }
}

static void chrome_begin_thread(struct slices_visitor *visitor, struct slices_thread *thread)
{
    struct chrome_writer *w = (struct chrome_writer *)visitor;
    chrome_announce_thread(w, thread->process, thread->thread);
    GROW(w->threads, w->thread_count, w->thread_room);
    w->threads[w->thread_count++] =
        chrome_make_text(need_text(",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "}", thread->pid, thread->tid));
}

/* ---- trace events, and samples ---- */

static bool chrome_write_event(void *context, const struct trace_event *event, const struct trace_event_class *class)
{
    struct chrome_writer *w = context;
    const struct trace_process *p = session_file_process(w->session->file, event->process);
    const struct trace_thread *t = session_file_thread(w->session->file, event->thread);
    char *name = event_name(w->session->file, event, class), *data = need_hex(event->data, event->data_size);
    char *fields = event_fields_text(event_fields_layout(w->session->file, class->guid, event->type, event->version),
                                     event->data, event->data_size);
    chrome_announce_thread(w, event->process, event->thread);
    fputs(",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":", w->out);
    json_put_text(w->out, name);
    fprintf(w->out, ",\"cat\":\"trace event\",\"args\":{\"type\":%u,\"level\":%u,\"version\":%u,\"data\":\"%s\"",
            event->type, event->severity, event->version, data);
    if (fields) {
        fputs(",\"fields\":", w->out);
        json_put_text(w->out, fields);
    }
    fputs("},\"ts\":", w->out);
    chrome_write_time(w, event->time);
    fprintf(w->out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "}", p ? p->pid : 0, t ? t->tid : 0);
    free(name);
    free(data);
    free(fields);
    return !ferror(w->out);
}

/* Activities are asynchronous events of their threads, since they can overlap. */
static void chrome_write_activity_end(const struct chrome_writer *w, const struct trace_activity *activity,
                                      size_t number, char phase, uint64_t time)
{
    const struct trace_process *p = session_file_process(w->session->file, activity->first->process);
    const struct trace_thread *t = session_file_thread(w->session->file, activity->first->thread);
    fprintf(w->out, ",\n{\"ph\":\"%c\",\"cat\":\"activity\",\"id2\":{\"local\":\"activity %zu\"},\"name\":", phase,
            number);
    json_put_text(w->out, activity->name);
    fputs(",\"ts\":", w->out);
    chrome_write_time(w, time);
    fprintf(w->out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "}", p ? p->pid : 0, t ? t->tid : 0);
}

static void chrome_write_activities(struct chrome_writer *w)
{
    struct activities activities = activities_read(w->session->file);
    for (size_t i = 0; i < activities.count && !ferror(w->out); i++) {
        const struct trace_activity *activity = &activities.list[i];
        if (!selection_holds(w->session->selection, activity->first->time) ||
            !selection_holds_event(w->session->selection, activity->first->thread, activity->first->time) ||
            !selection_takes(w->session->selection, w->session->file, activity->first->process,
                             activity->first->thread))
            continue;
        chrome_announce_thread(w, activity->first->process, activity->first->thread);
        chrome_write_activity_end(w, activity, i, 'b', activity->first->time);
        chrome_write_activity_end(w, activity, i, 'e', activity->last->time);
    }
    activities_free(&activities);
}

/* ---- flows ---- */

/* Readers bind each end of a flow to the slice around it. So a flow from the end of a thread begins in its last slice.
 * False if there is no such slice. */
static bool chrome_find_slice(const struct chrome_writer *w, struct wait_flow *f)
{
    const struct trace_thread *t = session_file_thread(w->session->file, f->from_thread);
    const struct chrome_last *last = t ? &w->last[t - w->session->file->threads] : NULL;
    if (!f->ended || !last || !last->known)
        return f->in_function;
    if (f->from >= last->end)
        f->from = last->end > last->begin ? last->end - 1 : last->end;
    return true;
}

static void chrome_write_flow_end(const struct chrome_writer *w, const char *phase, size_t number, uint32_t process,
                                  uint32_t thread, uint64_t ns)
{
    const struct trace_process *p = session_file_process(w->session->file, process);
    const struct trace_thread *t = session_file_thread(w->session->file, thread);
    char time[JSON_NUMBER];
    fprintf(w->out, ",\n{\"ph\":%s,\"name\":\"wakes\",\"cat\":\"wait\",\"id\":%zu,\"ts\":", phase, number);
    chrome_put_bytes(w, time, json_put_thousandths(time, ns));
    fprintf(w->out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 "}", p ? p->pid : 0, t ? t->tid : 0);
}

static void chrome_write_flows(const struct chrome_writer *w)
{
    struct wait_flows flows = wait_flows_find(w->session);
    for (size_t i = 0; i < flows.count && !ferror(w->out); i++) {
        struct wait_flow *f = &flows.list[i];
        if (!chrome_find_slice(w, f))
            continue;
        chrome_write_flow_end(w, "\"s\"", i + 1, f->from_process, f->from_thread, f->from);
        chrome_write_flow_end(w, "\"f\",\"bp\":\"e\"", i + 1, f->to_process, f->to_thread, f->to);
    }
    wait_flows_drop(&flows);
}

static void chrome_write_samples(const struct chrome_writer *w, const struct trace_process *p)
{
    for (size_t i = 0; i < p->sample_count; i++) {
        if (!p->samples[i].resident || !slices_hold(w->session, p->serial, p->samples[i].time))
            continue;
        fprintf(w->out,
                ",\n{\"ph\":\"C\",\"name\":\"resident memory\",\"pid\":%" PRIu32
                ",\"tid\":0,\"args\":{\"bytes\":%" PRIu64 "},\"ts\":",
                p->pid, p->samples[i].resident);
        chrome_write_time(w, p->samples[i].time);
        putc('}', w->out);
    }
}

/* ---- start and end ---- */

static void chrome_prepare_function(struct chrome_writer *w, size_t function)
{
    const bool known = function < w->session->profile->function_count;
    const struct function_name *name = &w->session->names[function];
    const char *module = known ? name->module : "[unknown]";
    char *quoted = json_text(known ? name->name : "[unknown]");
    for (int continued = 0; continued < 2; continued++) {
        char *categories = need_text("%s%s", module, continued ? ",continued" : "");
        char *quoted_categories = json_text(categories);
        w->functions[2 * function + continued] =
            chrome_make_text(need_text("\",\"name\":%s,\"cat\":%s,\"ts\":", quoted, quoted_categories));
        free(quoted_categories);
        free(categories);
    }
    free(quoted);
}

static void chrome_prepare_writer(struct chrome_writer *w)
{
    const size_t functions = w->session->profile->function_count;
    w->announced =
        need_memory(w->session->file->process_count + w->session->file->thread_count + 1, sizeof *w->announced);
    w->last = need_memory(w->session->file->thread_count + 1, sizeof *w->last);
    w->functions = need_memory(2 * (functions + 1), sizeof *w->functions);
    for (size_t i = 0; i <= functions; i++)
        chrome_prepare_function(w, i);
}

static void chrome_free_writer(struct chrome_writer *w)
{
    for (size_t i = 0; i < 2 * (w->session->profile->function_count + 1); i++)
        free(w->functions[i].at);
    for (size_t i = 0; i < w->thread_count; i++)
        free(w->threads[i].at);
    free(w->functions);
    free(w->threads);
    free(w->announced);
    free(w->last);
    value_args_end(&w->values);
}

static void chrome_write_session(const struct chrome_writer *w)
{
    const struct summary *summary = &w->session->summary;
    const uint64_t start = w->session->file->header.start_realtime;
    const time_t seconds = (time_t)(start / 1000000000u);
    struct tm tm;
    char text[64];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
    fprintf(w->out,
            "],\n\"otherData\":{\"recorder\":\"dwell " DWELL_VERSION_TEXT "\",\"start\":\"%s.%09" PRIu64
            "Z\",\"session\":",
            text, start % 1000000000u);
    json_put_text(w->out, summary->path);
    for (size_t i = 0; i < summary->remark_count; i++) {
        fprintf(w->out, ",\"remark %zu\":", i + 1);
        json_put_text(w->out, summary->remarks[i]);
    }
    fputs("}}\n", w->out);
}

/* The first event has no category, so speedscope does not take the file for one of Chrome's sampler. */
static void chrome_write_beginning(const struct chrome_writer *w)
{
    const struct session_file *file = w->session->file;
    char *name = slices_process_name(w->session, file->process_count ? file->processes[0].serial : 0);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"tid\":0,\"pid\":",
          w->out);
    fprintf(w->out, "%" PRIu32 ",\"args\":{\"name\":", file->process_count ? file->processes[0].pid : 0);
    json_put_text(w->out, name);
    fputs("}}", w->out);
    w->announced[0] = true;
    free(name);
}

bool export_chrome(const struct analysis *session, const struct export_options *options, FILE *out, struct error *error)
{
    (void)error;
    struct chrome_writer w = {
        .visitor = { .thread = chrome_begin_thread,
                     .begin = chrome_begin_slice,
                     .end = chrome_end_slice,
                     .off_cpu = chrome_write_off_cpu,
                     .mark = chrome_write_mark },
        .session = session,
        .out = out,
        .values = value_args_begin(session, options->values),
    };
    chrome_prepare_writer(&w);
    chrome_write_beginning(&w);
    slices_run(session, &w.visitor);
    chrome_write_flows(&w);
    slices_follow_events(session, 0, chrome_write_event, &w);
    chrome_write_activities(&w);
    for (size_t i = 0; i < session->file->process_count; i++)
        chrome_write_samples(&w, &session->file->processes[i]);
    chrome_write_session(&w);
    chrome_free_writer(&w);
    return true;
}
