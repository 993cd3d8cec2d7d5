/*
 * The tracks of a trace of Perfetto, and what is written on them besides slices of calls. Each part of the export takes
 * a struct perfetto_writer.
 */
#ifndef DWELL_EXPORT_PERFETTO_WRITER_H
#define DWELL_EXPORT_PERFETTO_WRITER_H

#include "export/perfetto_packets.h"
#include "export/slices.h"

/* Kinds of tracks. The kind is part of a track's id. Activities have a kind for each of their tracks in a thread. */
enum perfetto_track {
    OF_PROCESS = 1,
    OF_THREAD,
    OFF_CPU,
    OF_FAULTS,
    OF_BLOCKED,
    OF_CALLS,
    OF_MEMORY,
    OF_CPU,
    OF_WAITS, /* flows, by their number */
    OF_ACTIVITIES
};

struct perfetto_writer {
    const struct analysis *session;
    struct packet_stream stream; /* of what belongs to no thread, and of activities and trace events */
    bool *announced;             /* by process of the file; the last one is for unknown processes */
    bool *threads_announced;
};

/* The id of a track: unique within the session, and most likely among sessions. `serial` is that of its process or
 * thread. */
uint64_t perfetto_track_id(const struct perfetto_writer *w, unsigned kind, uint32_t serial);
uint64_t perfetto_time(const struct perfetto_writer *w, uint64_t ticks);

/* Write the track of a process or thread, once. */
void perfetto_announce_process(struct perfetto_writer *w, uint32_t serial);
void perfetto_announce_thread(struct perfetto_writer *w, uint32_t process, uint32_t serial);

enum perfetto_unit { UNIT_NS = 1, UNIT_COUNT = 2, UNIT_BYTES = 3, UNIT_OTHER = 0 };

/* Writes a track below another one that has been written. It is a counter's track if `unit_name` is not NULL. */
void perfetto_announce_track(const struct packet_stream *stream, uint64_t parent, uint64_t id, char *name,
                             enum perfetto_unit unit, char *unit_name);

/* Write events on a track that has been written. */
void perfetto_write_counter(const struct packet_stream *stream, uint64_t track, uint64_t time, uint64_t value);
void perfetto_write_instant(const struct packet_stream *stream, uint64_t track, uint64_t time, const char *name,
                            Perfetto__Annotation **annotations, size_t count);
void perfetto_write_interval(const struct packet_stream *stream, uint64_t track, uint64_t begin, uint64_t end,
                             const char *name);

/* Writes trace events as instants, and activities as slices. */
void perfetto_write_events(struct perfetto_writer *w);

/* Writes flows from the acts that ended waits to the ends of these waits. */
void perfetto_write_waits(struct perfetto_writer *w);

/* Writes flows from each process to those that it created, and samples of CPU and memory. */
void perfetto_write_flows(struct perfetto_writer *w);
void perfetto_write_samples(struct perfetto_writer *w);

#endif
