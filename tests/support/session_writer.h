/*
 * Writes session files for tests, byte by byte, as docs/format.md describes them. This second implementation of the
 * format shares no code with the runtime, not even its header. One tick is one nanosecond.
 */
#ifndef DWELL_TESTS_SESSION_WRITER_H
#define DWELL_TESTS_SESSION_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint8_t *at;
    size_t length, room;
};

struct open_call {
    uint64_t function, enter_time;
};

struct writer {
    struct bytes file;
    size_t chunk; /* offset of the open chunk; zero if none */
    uint32_t chunk_kind, chunk_process;
    uint64_t last;          /* time of the last event */
    uint32_t enters, exits; /* of the chunk, without those of write_words */
    uint32_t upper[2];
    int next_upper;
    const char *build_id;
    size_t build_id_length;
};

enum { SOURCE_NONE = 0, SOURCE_PERF = 1, SOURCE_RSEQ = 2 };
enum { END_EXIT = 1, END_SIGNAL = 2, END_UNKNOWN = 3, END_EXECUTED = 4 };

struct writer *writer_new(void);
void writer_free(struct writer *w);

/* Ends the open chunk, sets cursor and state in the header, and writes the file. */
void writer_save(struct writer *w, const char *path);

/* Sets bytes of page 0. The tests give their offsets. */
void write_header(struct writer *w, size_t offset, uint64_t value, unsigned size);

/* Ends the open chunk, so that the next record begins another. with_used sets the chunk's `used`. */
void end_records(struct writer *w, bool with_used);

/* Whole chunks of one unit: write_nothing claims one and leaves it zero; write_chunk_of_kind begins one of that kind
 * and adds no record. */
void write_nothing(struct writer *w);
void write_chunk_of_kind(struct writer *w, uint32_t kind);

/* A thread's call tree in one chunk: at most 31 nodes, numbered from 1. If `shortest` is zero, no call is complete. */
struct tree_node {
    uint64_t function;
    uint32_t parent;
    uint64_t calls, elapsed, flagged, blocked, preempted, page_faults, os_events, flagged_intervals, site, runtime,
        shortest, longest;
};
void write_tree(struct writer *w, uint32_t process, uint32_t thread, const struct tree_node *nodes, uint32_t count);
/* For the last written tree: the time of its last event, and the innermost node that was open then. */
void write_tree_head(struct writer *w, uint64_t last_time, uint32_t top);

/* A thread's sums of waits in mode profile, in one chunk. `node` is a number of its call tree; zero: of the rest. */
struct wait_row {
    uint32_t node;
    unsigned kind, role;
    uint64_t id;
    uint32_t holder, holder_node;
    uint64_t waits, blocked, longest, first, last;
};
void write_wait_rows(struct writer *w, uint32_t process, uint32_t thread, const struct wait_row *rows, uint32_t count);

/* A thread's durations of calls, in one chunk: numbers of nodes, counters and calls. */
void write_durations(struct writer *w, uint32_t process, uint32_t thread, const uint64_t (*rows)[3], uint32_t count);

/* A thread's calls that were only counted, in one chunk that was made at `time`: pairs of a function and its calls. */
void write_counts(struct writer *w, uint32_t process, uint32_t thread, uint64_t time, const uint64_t (*pairs)[2],
                  uint32_t count);

/* The costs of the process' probes, in 1/256 ticks. */
void write_probes(struct writer *w, uint32_t process, uint32_t in_callee, uint32_t in_caller, uint32_t first_callee);

/* Writes a record of any type. The content follows the type and size unchanged. */
void write_record(struct writer *w, uint32_t process, uint32_t type, const void *content, size_t length);

/* Metadata. Consecutive records of one process go into one chunk. */
void write_process(struct writer *w, uint32_t serial, uint32_t pid, const char *path);
void write_process_end(struct writer *w, uint32_t serial, uint32_t pid, uint32_t how, uint32_t value, uint64_t time);
/* With the parent's PID and serial number, and the start. */
void write_process_of(struct writer *w, uint32_t serial, uint32_t pid, uint32_t parent_pid, uint32_t parent,
                      uint64_t start, const char *path);
/* As another process saw it; zero is the recorder. */
void write_process_end_by(struct writer *w, uint32_t by, uint32_t serial, uint32_t pid, uint32_t how, uint32_t value,
                          uint64_t time);
void write_thread(struct writer *w, uint32_t process, uint32_t serial, uint32_t tid, uint32_t source, const char *name);
void write_thread_at(struct writer *w, uint32_t process, uint32_t serial, uint32_t tid, uint32_t source, uint64_t start,
                     const char *name);
void write_thread_name(struct writer *w, uint32_t process, uint32_t serial, const char *name);
void write_thread_end(struct writer *w, uint32_t process, uint32_t serial, bool flagged, uint64_t time);
/* The same, as the current runtime records it. */
void write_thread_end_off_cpu(struct writer *w, uint32_t process, uint32_t serial, uint64_t time, uint64_t blocked,
                              uint64_t preempted);
void write_thread_switches(struct writer *w, uint32_t process, uint32_t serial, uint64_t waits, uint64_t preemptions,
                           uint64_t recorded);
void write_module(struct writer *w, uint32_t process, uint32_t number, uint64_t bias, uint64_t begin, uint64_t end,
                  uint64_t load_time, const char *path);
/* The next module and symbol module get this build-id. Without a call they have none. */
void set_build_id(struct writer *w, const char *bytes, size_t length);
void write_module_unload(struct writer *w, uint32_t process, uint32_t number, uint64_t time);
void write_note(struct writer *w, uint32_t process, const char *text);
void write_host(struct writer *w, const char *node); /* Linux on x86_64 */

/* Symbols: a module, a source file, and their functions. */
void write_symbol_module(struct writer *w, uint32_t number, const char *path);
void write_symbol_file(struct writer *w, uint32_t number, const char *path);
void write_symbol(struct writer *w, uint32_t module, uint32_t file, uint32_t line, uint64_t offset, const char *name);

/* An events chunk and its content. Times are absolute. The writer adds the extensions for time and address. */
void begin_events(struct writer *w, uint32_t process, uint32_t thread, uint32_t sequence, uint64_t start,
                  const struct open_call *calls, uint32_t count);
void set_upper_halves(struct writer *w, uint32_t first, uint32_t second); /* of the header; before the first event */
void write_enter(struct writer *w, uint64_t time, uint64_t function);
void write_exit(struct writer *w, uint64_t time);
void end_events(struct writer *w, bool with_used);

/* Extensions for the next event. TIME and UPPER are for places where the writer would add none. */
void write_time(struct writer *w, uint64_t time);
void write_upper(struct writer *w, unsigned half, uint32_t value);
void write_os(struct writer *w);
void write_off_cpu(struct writer *w, bool preempted, uint64_t time, uint64_t length);
void write_faults(struct writer *w, unsigned count);
void write_unwind(struct writer *w, uint32_t frames);
enum {
    OBJECT_MUTEX = 1,
    OBJECT_RWLOCK,
    OBJECT_CONDITION,
    OBJECT_SEMAPHORE,
    OBJECT_BARRIER,
    OBJECT_THREAD = 6,
    OBJECT_CHILD,
    OBJECT_SLEEP
};
enum {
    OBJECT_FILE = 9,
    OBJECT_PIPE,
    OBJECT_SOCKET,
    OBJECT_EVENTFD,
    OBJECT_SIGNALFD = 14,
    OBJECT_SET = 18,
    OBJECT_FUTEX,
    OBJECT_FILE_LOCK,
    OBJECT_QUEUE,
    OBJECT_SIGNAL
};
/* `acted`: the call acted on the object instead of waiting for it. `holder`: a tid, or zero. */
void write_object(struct writer *w, unsigned kind, bool acted, uint64_t id, uint32_t holder);
/* The call waited for room in a descriptor, or made room. */
void write_object_room(struct writer *w, unsigned kind, bool acted, uint64_t id);
/* The call may have ended the waits of all threads. */
void write_object_on_all(struct writer *w, unsigned kind, uint64_t id);
/* The call waited until its time was over. */
void write_object_given_up(struct writer *w, unsigned kind, uint64_t id);
/* What a descriptor refers to. `peer`: its other end, or zero. */
void write_descriptor(struct writer *w, uint32_t process, unsigned kind, uint64_t id, uint64_t peer, const char *name);
void write_words(struct writer *w, const uint16_t *words, size_t count);

/* Control events. `ended`: number of calls open at the PAUSE that have ended; `about`: the time that the mark labels.
 */
void write_pause(struct writer *w, uint64_t time);
void write_resume(struct writer *w, uint64_t time, uint32_t ended);
void write_switch(struct writer *w, uint64_t time, uint32_t stack);
void write_mark(struct writer *w, uint64_t time, uint64_t about, uint32_t number, const char *text);
/* A call that is open at the next control event. */
void write_open(struct writer *w, uint64_t function, uint64_t enter_time);

/* Trace events: a class, a chunk, and the chunk's events. */
struct written_event {
    uint64_t time;
    unsigned type, level, version;
    uint64_t kernel_ns, user_ns, cpu_ns;
    const void *data;
    uint32_t size;
    const uint64_t *frames;     /* innermost first */
    uint32_t frame_count, more; /* `more`: other calls that were open */
};
void write_event_class(struct writer *w, uint32_t process, const char guid[16], const char *name);
struct written_layout {
    unsigned type, version, fields;
    const char *name, *types, *names; /* a byte for each type; names are separated by blanks */
};
void write_event_layout(struct writer *w, uint32_t process, const char guid[16], const struct written_layout *l);
void begin_trace_events(struct writer *w, uint32_t process, uint32_t thread, uint32_t sequence);
void write_trace_event(struct writer *w, const char guid[16], const struct written_event *e);
void end_trace_events(struct writer *w, bool with_used);

/* Samples: a chunk, in which process and thread may be zero, and its samples. Words that are zero are left out. */
struct written_sample {
    uint64_t time;
    const uint64_t *registers, *words;
    uint32_t register_count, word_count;
};
void begin_samples(struct writer *w, uint32_t process, uint32_t thread, uint32_t pid, uint32_t tid, uint64_t start);
/* Of the chunk that was begun, in nanoseconds; usually zero: that of the header. */
void set_sample_period(struct writer *w, uint32_t period);
void write_sample(struct writer *w, const struct written_sample *s);
void end_samples(struct writer *w, bool with_used);

/* Values: the plan of a function whose values are signed numbers of 8 bytes, before all chunks of values. Then a chunk,
 * and the values of calls that were entered at `time`. */
void write_values_plan(struct writer *w, uint64_t function, const char *const *names, uint32_t count);
void begin_values(struct writer *w, uint32_t process, uint32_t thread);
void write_values(struct writer *w, uint64_t time, const int64_t *values, uint32_t count);
void end_values(struct writer *w);

#endif
