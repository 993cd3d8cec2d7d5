/*
 * Common Trace Format 1.8: a folder with a description (metadata) and a stream of binary events for each thread. Times
 * are ticks of the session's clock since its start, so nothing is rounded.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/order.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "export/ctf_metadata.h"
#include "export/ctf_streams.h"
#include "export/formats.h"
#include "export/slices.h"
#include "tables/value_args.h"
#include "trace/event_fields.h"
#include "trace/trace_event_list.h"

struct ctf_writer {
    struct slices_visitor visitor;
    const struct analysis *session;
    const struct order *order;
    struct ctf_folder folder;
    struct value_args values;
    struct ctf_stream *streams; /* by thread number */
    size_t stream_count, stream_room;
    struct ctf_stream events; /* the trace events of one thread */
    uint32_t events_thread;   /* its serial number */
    bool has_events;
};

static uint64_t ctf_time(const struct analysis *session, uint64_t time)
{
    const uint64_t start = session->file->header.start_ticks;
    return time > start ? time - start : 0;
}

static struct ctf_stream ctf_begin_stream(struct ctf_writer *w, enum ctf_stream_class class, uint32_t process,
                                          uint32_t thread)
{
    const struct session_file *file = w->session->file;
    const struct trace_process *p = session_file_process(file, process);
    const struct trace_thread *t = session_file_thread(file, thread);
    const struct ctf_process names = {
        .pid = p ? p->pid : 0,
        .tid = t ? t->tid : 0,
        .process = slices_process_name(w->session, process),
        .thread = slices_thread_name(w->session, thread),
    };
    const struct ctf_stream stream =
        ctf_stream_begin(&w->folder, (const uint8_t *)file->header.session_id, class, &names);
    free(names.process);
    free(names.thread);
    return stream;
}

/* ---- calls ---- */

static void ctf_begin_thread(struct slices_visitor *visitor, struct slices_thread *thread)
{
    struct ctf_writer *w = (struct ctf_writer *)visitor;
    GROW(w->streams, w->stream_count, w->stream_room);
    w->streams[w->stream_count++] = ctf_begin_stream(w, CTF_CALLS, thread->process, thread->thread);
}

/* Functions are numbered by their rank in the order; the unknown function comes last. */
static uint32_t ctf_function_number(const struct ctf_writer *w, uint32_t function)
{
    return function < w->session->profile->function_count ? w->order->ranks[function] : function;
}

static void ctf_write_call(const struct ctf_writer *w, const struct slices_thread *thread, enum ctf_call_event event,
                           uint64_t time, uint32_t function)
{
    struct ctf_stream *stream = &w->streams[thread->number];
    ctf_event(stream, event, ctf_time(w->session, time), 4);
    ctf_put_32(stream, ctf_function_number(w, function));
}

/* The names and values are texts: names are no identifiers, as those of fields have to be. */
static void ctf_write_values(const struct ctf_writer *w, const struct slices_thread *thread, uint64_t time,
                             uint32_t function, const struct recorded_row *row)
{
    struct ctf_stream *stream = &w->streams[thread->number];
    const uint32_t count = value_args_count(&w->values, row);
    char *texts[2 * DWELL_VALUES_MOST];
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct value_arg arg = value_args_get(&w->values, row, i);
        texts[2 * i] = utf8_repair(arg.name);
        texts[2 * i + 1] = utf8_repair(arg.text);
        bytes += strlen(texts[2 * i]) + strlen(texts[2 * i + 1]) + 2;
        free(arg.text);
    }
    ctf_event(stream, CTF_VALUES, ctf_time(w->session, time), 8 + bytes);
    ctf_put_32(stream, ctf_function_number(w, function));
    ctf_put_32(stream, count);
    for (uint32_t i = 0; i < 2 * count; i++) {
        ctf_put_text(stream, texts[i]);
        free(texts[i]);
    }
}

static void ctf_begin_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice)
{
    const struct ctf_writer *w = (struct ctf_writer *)visitor;
    const struct recorded_row *row =
        slice->is_call ? value_args_of(&w->values, slice->function, thread->thread, slice->begin) : NULL;
    ctf_write_call(w, thread, slice->is_call ? CTF_ENTER : CTF_CONTINUE, slice->begin, slice->function);
    if (row)
        ctf_write_values(w, thread, slice->begin, slice->function, row);
}

static void ctf_end_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice,
                          uint64_t time, enum slice_end how)
{
    static const enum ctf_call_event events[] = {
        [SLICE_RETURNED] = CTF_EXIT,
        [SLICE_LEFT] = CTF_LEAVE,
        [SLICE_UNENDED] = CTF_UNENDED,
        [SLICE_CONTINUES] = CTF_SUSPEND,
    };
    const struct ctf_writer *w = (struct ctf_writer *)visitor;
    ctf_write_call(w, thread, events[how], time, slice->function);
    if (thread->open == 1)
        ctf_stream_limit_held(&w->streams[thread->number]);
}

static void ctf_write_off_cpu(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                              uint64_t end, bool preempted)
{
    const struct ctf_writer *w = (struct ctf_writer *)visitor;
    struct ctf_stream *stream = &w->streams[thread->number];
    ctf_event(stream, CTF_OFF_CPU, ctf_time(w->session, begin), 1);
    ctf_put_8(stream, preempted);
    ctf_event(stream, CTF_ON_CPU, ctf_time(w->session, end), 0);
}

/* Writes the OS events of an interval at its end, before the event that ended it. */
static void ctf_write_interval(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                               uint64_t end, const struct decoded_extras *extras)
{
    const struct ctf_writer *w = (struct ctf_writer *)visitor;
    struct ctf_stream *stream = &w->streams[thread->number];
    if (!extras->flagged)
        return;
    ctf_event(stream, CTF_OS, ctf_time(w->session, end), 16);
    ctf_put_64(stream, decode_flagged(extras, end - begin));
    ctf_put_32(stream, extras->os_events);
    ctf_put_32(stream, extras->page_faults);
}

static void ctf_write_mark(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t time, uint32_t number,
                           const char *text)
{
    const struct ctf_writer *w = (struct ctf_writer *)visitor;
    struct ctf_stream *stream = &w->streams[thread->number];
    char *valid = utf8_repair(text);
    ctf_event(stream, CTF_MARK, ctf_time(w->session, thread->last), 12 + strlen(valid) + 1);
    ctf_put_64(stream, ctf_time(w->session, time));
    ctf_put_32(stream, number);
    ctf_put_text(stream, valid);
    free(valid);
}

/* ---- trace events ---- */

static bool ctf_write_event(void *context, const struct trace_event *event, const struct trace_event_class *class)
{
    struct ctf_writer *w = context;
    if (w->has_events && w->events_thread != event->thread)
        ctf_stream_end(&w->events);
    if (!w->has_events || w->events_thread != event->thread)
        w->events = ctf_begin_stream(w, CTF_TRACE_EVENTS, event->process, event->thread);
    w->has_events = true;
    w->events_thread = event->thread;
    char guid[GUID_TEXT], *name = utf8_repair(class->name);
    char *text = event_fields_text(event_fields_layout(w->session->file, class->guid, event->type, event->version),
                                   event->data, event->data_size);
    char *fields = utf8_repair(text ? text : "");
    guid_text(class->guid, guid);
    ctf_event(&w->events, 0, ctf_time(w->session, event->time),
              strlen(name) + 1 + GUID_TEXT + 32 + strlen(fields) + 1 + event->data_size);
    ctf_put_text(&w->events, name);
    ctf_put_text(&w->events, guid);
    ctf_put_8(&w->events, event->type);
    ctf_put_8(&w->events, event->severity);
    ctf_put_32(&w->events, event->version);
    ctf_put_64(&w->events, event->cpu_time);
    ctf_put_text(&w->events, fields);
    ctf_put_32(&w->events, event->data_size);
    ctf_put_bytes(&w->events, event->data, event->data_size);
    free(name);
    free(text);
    free(fields);
    return true;
}

/* ---- the session ---- */

/* An event of the session's stream, about a process. */
struct ctf_moment {
    uint64_t time;
    enum ctf_session_event event;
    const struct trace_process *process;
    const struct trace_sample *sample;
};

static int ctf_compare_moments(const void *a, const void *b)
{
    const struct ctf_moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (int)x->event - (int)y->event;
}

static void ctf_write_moment(struct ctf_stream *stream, const struct ctf_moment *m)
{
    char *path = utf8_repair(m->process->path), *arguments = utf8_repair(m->process->arguments);
    ctf_event(stream, m->event, m->time, 64 + strlen(path) + strlen(arguments));
    ctf_put_32(stream, m->process->pid);
    switch (m->event) {
    case CTF_PROCESS:
        ctf_put_32(stream, m->process->parent_pid);
        ctf_put_text(stream, path);
        ctf_put_text(stream, arguments);
        break;
    case CTF_PROCESS_END:
        ctf_put_8(stream, (uint8_t)m->process->end_how);
        ctf_put_32(stream, m->process->end_value);
        break;
    case CTF_SAMPLE:
        ctf_put_64(stream, m->sample->cpu);
        ctf_put_64(stream, m->sample->resident);
        break;
    case CTF_FUNCTION:
        break;
    }
    free(path);
    free(arguments);
}

static void ctf_write_moments(const struct ctf_writer *w, struct ctf_stream *stream)
{
    const struct session_file *file = w->session->file;
    size_t count = 0, room = 0;
    struct ctf_moment *moments = NULL;
    for (const struct trace_process *p = file->processes; p < file->processes + file->process_count; p++) {
        GROW(moments, count, room);
        moments[count++] = (struct ctf_moment){ ctf_time(w->session, p->start_time), CTF_PROCESS, p, NULL };
        for (size_t i = 0; i < p->sample_count; i++) {
            if (!slices_hold(w->session, p->serial, p->samples[i].time))
                continue;
            GROW(moments, count, room);
            moments[count++] =
                (struct ctf_moment){ ctf_time(w->session, p->samples[i].time), CTF_SAMPLE, p, &p->samples[i] };
        }
        GROW(moments, count, room);
        if (p->end_time)
            moments[count++] = (struct ctf_moment){ ctf_time(w->session, p->end_time), CTF_PROCESS_END, p, NULL };
    }
    if (count)
        qsort(moments, count, sizeof *moments, ctf_compare_moments);
    for (size_t i = 0; i < count; i++)
        ctf_write_moment(stream, &moments[i]);
    free(moments);
}

static void ctf_write_function(struct ctf_stream *stream, const struct analysis *session, uint32_t number,
                               uint32_t function)
{
    const struct profile_function *f = &session->profile->functions[function];
    const struct function_name *n = &session->names[function];
    char *name = utf8_repair(n->name), *module = utf8_repair(session->profile->modules[f->module].path);
    char *file = utf8_repair(n->file ? n->file : "");
    ctf_event(stream, CTF_FUNCTION, 0, 64 + strlen(name) + strlen(module) + strlen(file));
    ctf_put_32(stream, number);
    ctf_put_text(stream, name);
    ctf_put_text(stream, module);
    ctf_put_64(stream, f->offset);
    ctf_put_text(stream, file);
    ctf_put_32(stream, n->line);
    free(name);
    free(module);
    free(file);
}

static void ctf_write_session(struct ctf_writer *w)
{
    struct ctf_stream stream =
        ctf_stream_begin(&w->folder, (const uint8_t *)w->session->file->header.session_id, CTF_SESSION, NULL);
    for (uint32_t i = 0; i < w->session->profile->function_count; i++)
        ctf_write_function(&stream, w->session, i, w->order->functions[i]);
    ctf_write_moments(w, &stream);
    ctf_stream_end(&stream);
}

static void ctf_write_folder(struct ctf_writer *w)
{
    FILE *metadata = ctf_open_metadata(&w->folder);
    if (!metadata)
        return;
    ctf_write_metadata(w->session, w->order, w->values.values != NULL, metadata);
    ctf_close_metadata(&w->folder, metadata);
    ctf_write_session(w);
    slices_run(w->session, &w->visitor);
    for (size_t i = 0; i < w->stream_count; i++)
        ctf_stream_end(&w->streams[i]);
    slices_follow_events(w->session, 0, ctf_write_event, w);
    if (w->has_events)
        ctf_stream_end(&w->events);
    free(w->streams);
}

bool export_ctf(const struct analysis *session, const struct export_options *options, const char *path,
                struct error *error)
{
    struct order *order = order_new(session);
    struct ctf_writer w = {
        .visitor = { .thread = ctf_begin_thread,
                     .begin = ctf_begin_slice,
                     .end = ctf_end_slice,
                     .interval = ctf_write_interval,
                     .off_cpu = ctf_write_off_cpu,
                     .mark = ctf_write_mark },
        .session = session,
        .order = order,
        .values = value_args_begin(session, options->values),
    };
    if (!ctf_folder_begin(&w.folder, path, error)) {
        value_args_end(&w.values);
        order_free(order);
        return false;
    }
    ctf_write_folder(&w);
    value_args_end(&w.values);
    order_free(order);
    return ctf_folder_end(&w.folder);
}
