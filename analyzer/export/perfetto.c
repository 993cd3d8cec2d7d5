/*
 * Perfetto's protobuf, packet by packet. Each thread has its own sequence of packets, which defines names at their
 * first use; the first sequence has what belongs to no thread. Times are those of CLOCK_MONOTONIC.
 *
 * Protobuf fields may come in any order. So the packet of a slice has three parts: its time, a part that is packed once
 * for each thread, and a part that is packed once for each function.
 */
#include "export/perfetto_packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/order.h"
#include "base/memory.h"
#include "base/units.h"
#include "base/utf8.h"
#include "export/formats.h"
#include "export/slices.h"
#include "trace/event_names.h"
#include "trace/trace_events.h"

enum { SESSION_SEQUENCE = 1, FIRST_THREAD_SEQUENCE };

/* Kinds of tracks. The kind is part of a track's id. */
enum { OF_PROCESS = 1, OF_THREAD, OFF_CPU, OF_FAULTS, OF_BLOCKED, OF_CALLS, OF_MEMORY, OF_CPU };

#define RATE_PERIOD 10000000u /* nanoseconds: the period of the counter of calls */
#define RATES_PER_SECOND (1000000000u / RATE_PERIOD)

struct perfetto_thread {
    struct packet_stream stream;
    uint32_t serial;
    uint64_t track;
    bool *named; /* true if the sequence has defined the name; functions, then modules, then "continued" */
    bool has_off_cpu, has_faults, has_blocked, has_calls;
    uint64_t faults, blocked; /* sums so far; `blocked` in ticks */
    uint64_t period, calls;   /* the current period and its calls */
};

struct perfetto_writer {
    struct slices_visitor visitor;
    const struct analysis *session;
    const struct order *order;
    struct packet_stream stream; /* the first sequence */
    struct packet_piece *begins; /* two for each function: for a call, and for a slice that continues one */
    struct packet_piece end;
    struct perfetto_thread **threads; /* by number */
    size_t thread_count, thread_room;
    bool *announced; /* by process of the file; the last one is for unknown processes */
    bool *threads_announced;
    const struct trace_process **by_pid; /* the processes, sorted by PID and start */
};

/* ---- numbers ---- */

/* The id of a track: unique within the session, and most likely among sessions. */
static uint64_t perfetto_track_id(const struct perfetto_writer *w, unsigned kind, uint32_t serial)
{
    uint64_t seed;
    memcpy(&seed, w->session->file->header.session_id, sizeof seed);
    const uint64_t id =
        ((uint64_t)kind << 32 | serial) * 0x9e3779b97f4a7c15u ^ seed; /* an odd factor keeps ids distinct */
    return id ? id : UINT64_MAX;
}

static uint64_t perfetto_time(const struct perfetto_writer *w, uint64_t ticks)
{
    return w->session->file->header.start_monotonic + slices_ns(w->session, ticks);
}

/* ---- tracks ---- */

static void perfetto_write_track(const struct packet_stream *stream, Perfetto__Track *track)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    packet.track = track;
    packet_write(stream, &packet);
}

static void perfetto_announce_process(struct perfetto_writer *w, uint32_t serial)
{
    const struct session_file *file = w->session->file;
    const struct trace_process *p = session_file_process(file, serial);
    bool *announced = &w->announced[p ? (size_t)(p - file->processes) : file->process_count];
    if (*announced)
        return;
    *announced = true;
    char *name = slices_process_name(w->session, serial), *arguments = utf8_repair(p ? p->arguments : "");
    Perfetto__Track track = PERFETTO__TRACK__INIT;
    Perfetto__Process process = PERFETTO__PROCESS__INIT;
    track.has_uuid = true;
    track.uuid = perfetto_track_id(w, OF_PROCESS, serial);
    track.process = &process;
    process.has_pid = true;
    process.pid = p ? (int32_t)p->pid : 0;
    process.name = name;
    process.n_command_line = arguments[0] != '\0';
    process.command_line = &arguments;
    process.has_start = p && p->start_time;
    process.start = process.has_start ? (int64_t)perfetto_time(w, p->start_time) : 0;
    perfetto_write_track(&w->stream, &track);
    free(name);
    free(arguments);
}

static void perfetto_write_thread_track(struct perfetto_writer *w, uint32_t process, uint32_t serial)
{
    const struct trace_process *p = session_file_process(w->session->file, process);
    const struct trace_thread *t = session_file_thread(w->session->file, serial);
    char *name = slices_thread_name(w->session, serial);
    Perfetto__Track track = PERFETTO__TRACK__INIT;
    Perfetto__Thread thread = PERFETTO__THREAD__INIT;
    perfetto_announce_process(w, process);
    track.has_uuid = track.has_parent = true;
    track.uuid = perfetto_track_id(w, OF_THREAD, serial);
    track.parent = perfetto_track_id(w, OF_PROCESS, process);
    track.thread = &thread;
    thread.has_pid = thread.has_tid = true;
    thread.pid = p ? (int32_t)p->pid : 0;
    thread.tid = t ? (int32_t)t->tid : 0;
    thread.name = name;
    perfetto_write_track(&w->stream, &track);
    free(name);
}

/* Writes the track of a thread, once. */
static void perfetto_announce_thread(struct perfetto_writer *w, uint32_t process, uint32_t serial)
{
    const struct session_file *file = w->session->file;
    const struct trace_thread *t = session_file_thread(file, serial);
    bool *announced = &w->threads_announced[t ? (size_t)(t - file->threads) : file->thread_count];
    if (!*announced)
        perfetto_write_thread_track(w, process, serial);
    *announced = true;
}

enum perfetto_unit { UNIT_NS = 1, UNIT_COUNT = 2, UNIT_BYTES = 3, UNIT_OTHER = 0 };

/* Writes a track below another one that has been written. It is a counter's track if `unit_name` is not NULL. */
static void perfetto_announce_track(const struct packet_stream *stream, uint64_t parent, uint64_t id, char *name,
                                    enum perfetto_unit unit, char *unit_name)
{
    Perfetto__Track track = PERFETTO__TRACK__INIT;
    Perfetto__Counter counter = PERFETTO__COUNTER__INIT;
    track.has_uuid = track.has_parent = true;
    track.uuid = id;
    track.parent = parent;
    track.name = name;
    if (unit_name) {
        track.counter = &counter;
        counter.has_unit = unit != UNIT_OTHER;
        counter.unit = unit;
        counter.unit_name = unit == UNIT_OTHER ? unit_name : NULL;
    }
    perfetto_write_track(stream, &track);
}

static void perfetto_write_counter(const struct packet_stream *stream, uint64_t track, uint64_t time, uint64_t value)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    packet.has_timestamp = true;
    packet.timestamp = time;
    packet.event = &event;
    event.has_type = event.has_track = event.has_counter = true;
    event.type = PACKET_COUNTER;
    event.track = track;
    event.counter = (int64_t)value;
    packet_write(stream, &packet);
}

/* ---- names ---- */

/* The numbers of interned texts, from 1: ranks in the order, then the unknown function or module. "continued" comes
 * after the modules. */
static uint32_t perfetto_function_id(const struct perfetto_writer *w, uint32_t function)
{
    return 1 + (function < w->session->profile->function_count ? w->order->ranks[function] : function);
}

static uint32_t perfetto_module_id(const struct perfetto_writer *w, uint32_t function)
{
    const struct profile *p = w->session->profile;
    return 1 + (function < p->function_count ? w->order->module_ranks[p->functions[function].module]
                                             : (uint32_t)p->module_count);
}

static void perfetto_name_function(const struct perfetto_writer *w, struct perfetto_thread *t, uint32_t function,
                                   bool continued)
{
    const struct profile *p = w->session->profile;
    const bool known = function < p->function_count;
    const struct function_name *name = known ? &w->session->names[function] : NULL;
    const uint32_t id = perfetto_function_id(w, function), module = perfetto_module_id(w, function);
    bool *function_named = &t->named[function], *module_named = &t->named[p->function_count + module];
    bool *continued_named = &t->named[p->function_count + 1 + p->module_count + 1];
    if (*function_named && *module_named && (!continued || *continued_named))
        return;
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Interned interned = PERFETTO__INTERNED__INIT;
    Perfetto__Interned__Text texts[3], *names[1] = { &texts[0] }, *categories[2];
    Perfetto__Interned__Location location = PERFETTO__INTERNED__LOCATION__INIT, *locations[1] = { &location };
    char *function_text = utf8_repair(known ? name->name : "[unknown]");
    char *module_text = utf8_repair(known ? name->module : "[unknown]"),
         *file = utf8_repair(known && name->file ? name->file : "");
    packet.interned = &interned;
    if (!*function_named) {
        packet_intern(&texts[0], id, function_text);
        interned.n_names = 1;
        interned.names = names;
        location.has_id = true;
        location.id = id;
        location.function = function_text;
        location.file = file;
        location.has_line = known && name->line;
        location.line = location.has_line ? name->line : 0;
        interned.n_locations = file[0] != '\0';
        interned.locations = locations;
    }
    if (!*module_named) {
        packet_intern(&texts[1], module, module_text);
        categories[interned.n_categories++] = &texts[1];
    }
    if (continued && !*continued_named) {
        packet_intern(&texts[2], p->module_count + 2, "continued");
        categories[interned.n_categories++] = &texts[2];
        *continued_named = true;
    }
    interned.categories = categories;
    packet_write(&t->stream, &packet);
    *function_named = *module_named = true;
    free(function_text);
    free(module_text);
    free(file);
}

/* Packs the begin of a function's slices without the time. */
static struct packet_piece perfetto_slice_begin(const struct perfetto_writer *w, uint32_t function, bool continued)
{
    const struct profile *p = w->session->profile;
    const bool known = function < p->function_count;
    uint64_t categories[2] = { perfetto_module_id(w, function), p->module_count + 2 };
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    packet.event = &event;
    event.has_type = event.has_name = true;
    event.type = PACKET_BEGIN;
    event.name = perfetto_function_id(w, function);
    event.n_categories = continued ? 2 : 1;
    event.categories = categories;
    event.has_source_location = known && w->session->names[function].file;
    event.source_location = event.name;
    return packet_piece_of(&packet);
}

/* ---- slices ---- */

static void perfetto_begin_thread(struct slices_visitor *visitor, struct slices_thread *thread)
{
    struct perfetto_writer *w = (struct perfetto_writer *)visitor;
    const struct profile *p = w->session->profile;
    struct perfetto_thread *t = need_memory(1, sizeof *t);
    perfetto_announce_thread(w, thread->process, thread->thread);
    t->serial = thread->thread;
    t->track = perfetto_track_id(w, OF_THREAD, thread->thread);
    t->named = need_memory(p->function_count + p->module_count + 3, sizeof *t->named);
    t->stream = packet_stream_begin(w->stream.out, FIRST_THREAD_SEQUENCE + thread->number, t->track, NULL);
    GROW(w->threads, w->thread_count, w->thread_room);
    w->threads[w->thread_count++] = t;
}

/* Writes the number of calls in the period that has passed. `goes_on` means that the next period has calls, too. */
static void perfetto_write_rate(const struct perfetto_writer *w, uint32_t thread, struct perfetto_thread *t,
                                bool goes_on)
{
    const uint64_t track = perfetto_track_id(w, OF_CALLS, thread);
    if (!t->has_calls)
        perfetto_announce_track(&t->stream, t->track, track, "calls", UNIT_OTHER, "calls/s");
    t->has_calls = true;
    perfetto_write_counter(&t->stream, track, t->period * RATE_PERIOD, t->calls * RATES_PER_SECOND);
    if (!goes_on)
        perfetto_write_counter(&t->stream, track, (t->period + 1) * RATE_PERIOD, 0);
    t->calls = 0;
}

static void perfetto_count_call(const struct perfetto_writer *w, const struct slices_thread *thread,
                                struct perfetto_thread *t, uint64_t time)
{
    const uint64_t period = time / RATE_PERIOD;
    if (period != t->period && t->calls)
        perfetto_write_rate(w, thread->thread, t, period == t->period + 1);
    t->period = period;
    t->calls++;
}

static void perfetto_begin_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice)
{
    const struct perfetto_writer *w = (struct perfetto_writer *)visitor;
    struct perfetto_thread *t = w->threads[thread->number];
    const size_t which = 2 * (size_t)slice->function + !slice->is_call;
    const uint64_t time = perfetto_time(w, slice->begin);
    perfetto_name_function(w, t, slice->function, !slice->is_call);
    if (!w->begins[which].length)
        w->begins[which] = perfetto_slice_begin(w, slice->function, !slice->is_call);
    packet_write_piece(&t->stream, time, &w->begins[which]);
    if (slice->is_call)
        perfetto_count_call(w, thread, t, time);
}

static void perfetto_end_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice,
                               uint64_t time, enum slice_end how)
{
    const struct perfetto_writer *w = (struct perfetto_writer *)visitor;
    (void)slice;
    (void)how;
    packet_write_piece(&w->threads[thread->number]->stream, perfetto_time(w, time), &w->end);
}

/* ---- off-CPU times, page faults and marks ---- */

static void perfetto_write_off_cpu(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                                   uint64_t end, bool preempted)
{
    const struct perfetto_writer *w = (struct perfetto_writer *)visitor;
    struct perfetto_thread *t = w->threads[thread->number];
    const uint64_t track = perfetto_track_id(w, OFF_CPU, thread->thread);
    if (!t->has_off_cpu)
        perfetto_announce_track(&t->stream, t->track, track, "off CPU", UNIT_OTHER, NULL);
    t->has_off_cpu = true;
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    packet.event = &event;
    packet.has_timestamp = event.has_type = event.has_track = true;
    packet.timestamp = perfetto_time(w, begin);
    event.type = PACKET_BEGIN;
    event.track = track;
    event.name_text = preempted ? "preempted" : "blocked";
    packet_write(&t->stream, &packet);
    packet.timestamp = perfetto_time(w, end);
    event.type = PACKET_END;
    event.name_text = NULL;
    packet_write(&t->stream, &packet);
}

static void perfetto_count_interval(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                                    uint64_t end, const struct decoded_extras *extras)
{
    const struct perfetto_writer *w = (struct perfetto_writer *)visitor;
    struct perfetto_thread *t = w->threads[thread->number];
    (void)begin;
    if (extras->page_faults) {
        const uint64_t track = perfetto_track_id(w, OF_FAULTS, thread->thread);
        if (!t->has_faults)
            perfetto_announce_track(&t->stream, t->track, track, "page faults", UNIT_COUNT, "");
        t->has_faults = true;
        perfetto_write_counter(&t->stream, track, perfetto_time(w, end), t->faults += extras->page_faults);
    }
    if (extras->blocked) {
        const uint64_t track = perfetto_track_id(w, OF_BLOCKED, thread->thread);
        if (!t->has_blocked)
            perfetto_announce_track(&t->stream, t->track, track, "blocked", UNIT_NS, "");
        t->has_blocked = true;
        t->blocked += extras->blocked;
        perfetto_write_counter(&t->stream, track, perfetto_time(w, end),
                               ticks_to_ns(t->blocked, w->session->file->header.ticks_per_second));
    }
}

/* Writes an instant on a track that has been written. */
static void perfetto_write_instant(const struct packet_stream *stream, uint64_t track, uint64_t time, const char *name,
                                   Perfetto__Annotation **annotations, size_t count)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    char *valid = utf8_repair(name);
    packet.event = &event;
    packet.has_timestamp = event.has_type = event.has_track = true;
    packet.timestamp = time;
    event.type = PACKET_INSTANT;
    event.track = track;
    event.name_text = valid;
    event.n_annotations = count;
    event.annotations = annotations;
    packet_write(stream, &packet);
    free(valid);
}

static void perfetto_write_mark(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t time,
                                uint32_t number, const char *text)
{
    const struct perfetto_writer *w = (struct perfetto_writer *)visitor;
    struct perfetto_thread *t = w->threads[thread->number];
    Perfetto__Annotation annotation, *annotations = &annotation;
    packet_annotate_number(&annotation, "mark", number);
    perfetto_write_instant(&t->stream, t->track, perfetto_time(w, time), text[0] ? text : "mark", &annotations, 1);
}

/* ---- trace events ---- */

static bool perfetto_write_event(void *context, const struct trace_event *event, const struct trace_event_class *class)
{
    struct perfetto_writer *w = context;
    Perfetto__Annotation annotations[4],
        *list[4] = { &annotations[0], &annotations[1], &annotations[2], &annotations[3] };
    char *name = event_name(w->session->file, event, class), *data = need_hex(event->data, event->data_size);
    perfetto_announce_thread(w, event->process, event->thread);
    packet_annotate_number(&annotations[0], "type", event->type);
    packet_annotate_number(&annotations[1], "level", event->level);
    packet_annotate_number(&annotations[2], "version", event->version);
    packet_annotate_text(&annotations[3], "data", data);
    perfetto_write_instant(&w->stream, perfetto_track_id(w, OF_THREAD, event->thread), perfetto_time(w, event->time),
                           name, list, 4);
    free(name);
    free(data);
    return !ferror(w->stream.out);
}

/* ---- processes ---- */

static int perfetto_compare_processes(const void *a, const void *b)
{
    const struct trace_process *x = *(const struct trace_process *const *)a,
                               *y = *(const struct trace_process *const *)b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_time != y->start_time)
        return x->start_time < y->start_time ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void perfetto_sort_processes(struct perfetto_writer *w)
{
    const struct session_file *file = w->session->file;
    w->by_pid = need_memory(file->process_count + 1, sizeof *w->by_pid);
    for (size_t i = 0; i < file->process_count; i++)
        w->by_pid[i] = &file->processes[i];
    qsort(w->by_pid, file->process_count, sizeof *w->by_pid, perfetto_compare_processes);
}

/* The last process with that PID that began before `p`; NULL if there is none. */
static const struct trace_process *perfetto_latest_before(const struct perfetto_writer *w,
                                                          const struct trace_process *p, uint32_t pid)
{
    size_t low = 0, high = w->session->file->process_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct trace_process *other = w->by_pid[middle];
        const bool later = other->start_time > p->start_time || (other->start_time == p->start_time && other >= p);
        if (other->pid < pid || (other->pid == pid && !later))
            low = middle + 1;
        else
            high = middle;
    }
    return low && w->by_pid[low - 1]->pid == pid ? w->by_pid[low - 1] : NULL;
}

/* The process that it comes from: the one that forked it, had its PID before exec, or has its parent's PID. NULL if the
 * session has none. */
static const struct trace_process *perfetto_process_origin(const struct perfetto_writer *w,
                                                           const struct trace_process *p, const char **how)
{
    const struct trace_process *forked =
        p->parent_process ? session_file_process(w->session->file, p->parent_process) : NULL;
    *how = "fork";
    if (forked)
        return forked;
    const struct trace_process *executed = perfetto_latest_before(w, p, p->pid);
    *how = executed ? "exec" : "start";
    return executed ? executed : perfetto_latest_before(w, p, p->parent_pid);
}

static void perfetto_write_flow_end(const struct perfetto_writer *w, uint32_t process, uint64_t time, char *name,
                                    uint64_t flow, bool ends)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    packet.event = &event;
    packet.has_timestamp = event.has_type = event.has_track = true;
    packet.timestamp = time;
    event.type = PACKET_INSTANT;
    event.track = perfetto_track_id(w, OF_PROCESS, process);
    event.name_text = name;
    if (ends) {
        event.n_ending_flows = 1;
        event.ending_flows = &flow;
    } else {
        event.n_flows = 1;
        event.flows = &flow;
    }
    packet_write(&w->stream, &packet);
}

/* Writes a flow to a process from the process that created it. */
static void perfetto_write_flow(struct perfetto_writer *w, const struct trace_process *p)
{
    const char *how;
    const struct trace_process *origin = perfetto_process_origin(w, p, &how);
    if (!origin)
        return;
    const uint64_t flow = perfetto_track_id(w, OF_PROCESS, p->serial), time = perfetto_time(w, p->start_time);
    char *name = slices_process_name(w->session, p->serial);
    char *title = need_text("%s: %s (%" PRIu32 ")", how, name, p->pid);
    perfetto_announce_process(w, origin->serial);
    perfetto_announce_process(w, p->serial);
    perfetto_write_flow_end(w, origin->serial, time, title, flow, false);
    perfetto_write_flow_end(w, p->serial, time, title, flow, true);
    free(title);
    free(name);
}

static void perfetto_write_samples(struct perfetto_writer *w, const struct trace_process *p)
{
    const uint64_t memory = perfetto_track_id(w, OF_MEMORY, p->serial), cpu = perfetto_track_id(w, OF_CPU, p->serial);
    if (!p->sample_count)
        return;
    perfetto_announce_process(w, p->serial);
    perfetto_announce_track(&w->stream, perfetto_track_id(w, OF_PROCESS, p->serial), memory, "resident memory",
                            UNIT_BYTES, "");
    perfetto_announce_track(&w->stream, perfetto_track_id(w, OF_PROCESS, p->serial), cpu, "CPU", UNIT_OTHER, "%");
    for (size_t i = 0; i < p->sample_count; i++) {
        const struct trace_sample *sample = &p->samples[i], *before = i ? sample - 1 : NULL;
        if (!slices_hold(w->session, p->serial, sample->time))
            continue;
        const uint64_t time = perfetto_time(w, sample->time), since = before ? perfetto_time(w, before->time) : time;
        if (sample->resident)
            perfetto_write_counter(&w->stream, memory, time, sample->resident);
        if (before && time > since && sample->cpu >= before->cpu) /* CPU time since the sample before */
            perfetto_write_counter(&w->stream, cpu, since, (sample->cpu - before->cpu) * 100 / (time - since));
    }
}

/* ---- start and end ---- */

static void perfetto_free_writer(struct perfetto_writer *w)
{
    for (size_t i = 0; i < 2 * (w->session->profile->function_count + 1); i++)
        free(w->begins[i].at);
    for (size_t i = 0; i < w->thread_count; i++) {
        packet_stream_end(&w->threads[i]->stream);
        free(w->threads[i]->named);
        free(w->threads[i]);
    }
    packet_stream_end(&w->stream);
    free(w->begins);
    free(w->by_pid);
    free(w->end.at);
    free(w->threads);
    free(w->announced);
    free(w->threads_announced);
}

static struct packet_piece perfetto_slice_end(void)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    packet.event = &event;
    event.has_type = true;
    event.type = PACKET_END;
    return packet_piece_of(&packet);
}

bool export_perfetto(const struct analysis *session, const struct export_options *options, FILE *out,
                     struct error *error)
{
    (void)error;
    (void)options;
    const struct session_file *file = session->file;
    struct order *order = order_new(session);
    struct perfetto_writer w = {
        .visitor = { .thread = perfetto_begin_thread,
                     .begin = perfetto_begin_slice,
                     .end = perfetto_end_slice,
                     .interval = perfetto_count_interval,
                     .off_cpu = perfetto_write_off_cpu,
                     .mark = perfetto_write_mark },
        .session = session,
        .order = order,
        .begins = need_memory(2 * (session->profile->function_count + 1), sizeof *w.begins),
        .end = perfetto_slice_end(),
        .announced = need_memory(file->process_count + 1, sizeof *w.announced),
        .threads_announced = need_memory(file->thread_count + 1, sizeof *w.threads_announced),
    };
    w.stream = packet_stream_begin(out, SESSION_SEQUENCE, 0, &file->header);
    perfetto_sort_processes(&w);
    for (size_t i = 0; i < file->process_count; i++)
        perfetto_write_flow(&w, &file->processes[i]);
    slices_run(session, &w.visitor);
    for (size_t i = 0; i < w.thread_count; i++)
        if (w.threads[i]->calls)
            perfetto_write_rate(&w, w.threads[i]->serial, w.threads[i], false);
    slices_follow_events(session, 0, perfetto_write_event, &w);
    for (size_t i = 0; i < file->process_count; i++)
        perfetto_write_samples(&w, &file->processes[i]);
    perfetto_free_writer(&w);
    order_free(order);
    return true;
}
