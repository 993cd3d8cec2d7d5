/* Writes the tracks of a trace of Perfetto, and counters, instants and intervals on them. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "export/perfetto_writer.h"

uint64_t perfetto_track_id(const struct perfetto_writer *w, unsigned kind, uint32_t serial)
{
    uint64_t seed;
    memcpy(&seed, w->session->file->header.session_id, sizeof seed);
    const uint64_t id =
        ((uint64_t)kind << 32 | serial) * 0x9e3779b97f4a7c15u ^ seed; /* an odd factor keeps ids distinct */
    return id ? id : UINT64_MAX;
}

uint64_t perfetto_time(const struct perfetto_writer *w, uint64_t ticks)
{
    return w->session->file->header.start_monotonic + slices_ns(w->session, ticks);
}

static void perfetto_write_track(const struct packet_stream *stream, Perfetto__Track *track)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    packet.track = track;
    packet_write(stream, &packet);
}

void perfetto_announce_process(struct perfetto_writer *w, uint32_t serial)
{
    const struct session_file *file = w->session->file;
    const struct trace_process *p = session_file_process(file, serial);
    bool *announced = &w->announced[session_file_process_index(file, serial)];
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

void perfetto_announce_thread(struct perfetto_writer *w, uint32_t process, uint32_t serial)
{
    bool *announced = &w->threads_announced[session_file_thread_index(w->session->file, serial)];
    if (!*announced)
        perfetto_write_thread_track(w, process, serial);
    *announced = true;
}

void perfetto_announce_track(const struct packet_stream *stream, uint64_t parent, uint64_t id, char *name,
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

/* Writes an event of one moment. It takes the name, the annotations and the counter's value from `event`. */
static void perfetto_write_event(const struct packet_stream *stream, uint64_t track, uint64_t time, uint32_t type,
                                 Perfetto__Event *event)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    packet.event = event;
    packet.has_timestamp = event->has_type = event->has_track = true;
    packet.timestamp = time;
    event->type = type;
    event->track = track;
    packet_write(stream, &packet);
}

void perfetto_write_counter(const struct packet_stream *stream, uint64_t track, uint64_t time, uint64_t value)
{
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    event.has_counter = true;
    event.counter = (int64_t)value;
    perfetto_write_event(stream, track, time, PACKET_COUNTER, &event);
}

void perfetto_write_instant(const struct packet_stream *stream, uint64_t track, uint64_t time, const char *name,
                            Perfetto__Annotation **annotations, size_t count)
{
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    event.name_text = utf8_repair(name);
    event.n_annotations = count;
    event.annotations = annotations;
    perfetto_write_event(stream, track, time, PACKET_INSTANT, &event);
    free(event.name_text);
}

void perfetto_write_interval(const struct packet_stream *stream, uint64_t track, uint64_t begin, uint64_t end,
                             const char *name)
{
    Perfetto__Event event = PERFETTO__EVENT__INIT, last = PERFETTO__EVENT__INIT;
    event.name_text = utf8_repair(name);
    perfetto_write_event(stream, track, begin, PACKET_BEGIN, &event);
    perfetto_write_event(stream, track, end, PACKET_END, &last);
    free(event.name_text);
}
