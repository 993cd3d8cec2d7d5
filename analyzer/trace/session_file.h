/*
 * A session file, opened for reading: its header, an index of its chunks, and its processes and threads. The file can
 * still be written to, and can be damaged: nothing in it is trusted. Damaged parts are counted and left out.
 */
#ifndef DWELL_TRACE_SESSION_FILE_H
#define DWELL_TRACE_SESSION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/format.h"
#include "trace/descriptor_list.h"
#include "trace/kept_calls.h"
#include "trace/maker_list.h"
#include "trace/stub_list.h"

struct trace_chunk {
    uint64_t offset; /* in the file */
    uint32_t size, used;
    uint16_t kind;
    uint32_t process, thread, sequence;
    union {
        uint32_t depth; /* events */
        uint32_t tid;   /* samples */
    };
    uint64_t start_time;
    union {
        uint32_t upper[2]; /* events */
        struct {
            uint32_t pid, period; /* samples */
        };
    };
    union { /* valid if `used` is not zero; as the writer counted them */
        struct {
            uint32_t enters, exits; /* events */
        };
        uint32_t samples; /* samples */
    };
    uint16_t sealed; /* 1: it has a checksum */
    uint64_t checksum;
    bool last_of_thread;
    bool begins_paused;   /* the thread is paused at its start; true only in a part of a chunk */
    bool filtered;        /* it is in the temporary file of filtered_session.h, not in the session's */
    bool without_waits;   /* a reader of all its events found that they have neither waits nor objects */
    const uint8_t *bytes; /* NULL if they have to be read from the file */
};

/* Where its data ends, counted from its header. A chunk that its writer has not finished has data up to its end. */
static inline uint32_t trace_chunk_end(const struct trace_chunk *chunk)
{
    return chunk->used && chunk->used < chunk->size ? chunk->used : chunk->size;
}

/* A module that a process had loaded from load_time to unload_time. */
struct trace_module {
    uint32_t serial;
    uint64_t bias, begin, end;
    uint64_t load_time, unload_time;
    char *path;
    uint8_t *build_id;
    size_t build_id_length;
};

/* CPU time that a process had used, and its memory, at a time. */
struct trace_sample {
    uint64_t time;
    uint64_t cpu;      /* nanoseconds, of all its threads */
    uint64_t resident; /* bytes; zero if unknown */
};

/* Nanoseconds of CPU time of a process while it was recorded, as the kernel counts it. */
struct trace_cpu {
    bool known;
    uint64_t usage, clock; /* by getrusage, and by the scheduler's clock */
    uint64_t runtime;      /* the part of both that the runtime's own thread and the set-up of threads took */
};

struct trace_process {
    uint32_t serial, pid, parent_pid, parent_process;
    uint64_t start_time;
    uint64_t end_time;            /* zero if unknown */
    uint32_t end_how, end_value;  /* how: zero, or enum dwell_end */
    bool end_recorded;            /* by the process itself: end_time is exact */
    char *path;                   /* of the executable; empty if unknown */
    char *arguments;              /* joined by blanks */
    char *name;                   /* given by the program; empty if none */
    struct trace_module *modules; /* by load_time */
    size_t module_count, module_room;
    struct module_map *module_map; /* NULL if there are few modules */
    uint64_t *changes;             /* times at which an address can begin to mean another function */
    size_t change_count;
    struct trace_cpu cpu;
    struct dwell_rec_probes probes; /* the cost of the probes; all zero if unknown */
    struct trace_sample *samples;   /* by time */
    size_t sample_count, sample_room;
};

/* The recording machine, as uname reports it. NULL if unknown. */
struct trace_host {
    char *system, *release, *version, *machine, *node;
    unsigned processors; /* that the recorder could run on; zero if unknown */
};

struct trace_thread {
    uint32_t serial, process, tid, os_source;
    uint32_t maker; /* serial number of the thread whose fork made its process; zero if none or unknown */
    bool announced; /* by a THREAD record: os_source is known */
    uint64_t start_time;
    uint64_t end_time;                   /* zero if unknown */
    bool end_recorded;                   /* by the thread's process; false if it was killed or its end is unknown */
    bool end_flagged;                    /* the OS intervened between its last event and its end */
    uint64_t end_blocked, end_preempted; /* ticks off the CPU in that time */
    uint64_t last_sample, sample_ticks;  /* of a thread that was killed: the time of its last sample, and the CPU time
                                          * from one to the next; the latter is zero if nobody took samples */
    uint64_t most_cpu; /* without samples: the ticks of CPU time that its process took in all; zero if unknown */
    struct dwell_rec_thread_switches switches; /* its type is zero if unknown */
    char *name;
    uint64_t last_chunk; /* 1 + index of the chunk with the highest sequence number */
};

/* A symbol that is recorded in the session. */
struct trace_symbol {
    uint32_t module; /* index into symbol_modules */
    uint32_t file;   /* number of a symbol_files entry, or zero */
    uint32_t line;
    uint64_t offset;
    char *name;
};

/* Source position of a call site that is recorded in the session. */
struct trace_site {
    uint32_t module;                             /* index into symbol_modules */
    uint32_t file, line, outer_file, outer_line; /* numbers of symbol_files entries, and lines; or zero */
    uint64_t offset;
    bool inlined;
    char *function, *outer; /* linkage names, or empty */
};

struct trace_symbol_module {
    uint32_t number;
    char *path;
    uint8_t *build_id;
    size_t build_id_length;
};

/* From this time on, a function's probes had that level. */
struct trace_level {
    uint32_t process; /* serial number */
    uint32_t level;   /* enum dwell_level_of_probes */
    uint64_t time, function;
};

/* To keep its budget, the recorder decided that the function's probes were to have that level. */
struct trace_decision {
    uint32_t process; /* serial number */
    uint32_t level;   /* enum dwell_level_of_probes */
    uint64_t time, function;
    uint64_t calls, mean; /* until then; the mean is in ticks */
};

/* A row of an imported report. */
struct trace_reported {
    uint32_t process; /* serial number */
    struct dwell_rec_reported row;
    struct dwell_stated stated;
};

/* A recorded session whose sums the file has: struct dwell_rec_summed. */
struct trace_summed {
    struct dwell_rec_summed record;
    uint32_t process_end; /* its processes have lower serial numbers, and higher ones than those before it */
    uint8_t *held;        /* a bit for each shard, or for each delta */
    size_t held_length;
    struct trace_host host;
};

/* What the user calls the recording: a word and a text. */
struct trace_label {
    char *key, *value;
};

/* The name of an object that threads of a process waited for. */
struct trace_object_name {
    uint32_t process;
    uint64_t id;
    char *name;
};

/* A class of trace events. */
struct trace_event_class {
    uint8_t guid[16];
    char *name;
};

/* How the data of trace events of a class, type and version is laid out. */
struct trace_event_layout {
    uint8_t guid[16];
    uint16_t type, version; /* type 256 is any */
    char *name;             /* of the type, or "" */
    size_t order;           /* in the file */
    uint32_t count;
    uint8_t types[16];
    char *names[16];
};

/* Names and source positions that are recorded in the session. */
struct session_code {
    struct trace_symbol *symbols;
    size_t symbol_count, symbol_room;
    struct trace_site *sites;
    size_t site_count, site_room;
    struct trace_symbol_module *symbol_modules;
    size_t symbol_module_count, symbol_module_room;
    struct {
        uint32_t number;
        char *path;
    } * symbol_files;
    size_t symbol_file_count, symbol_file_room;
    struct symbol_table *symbol_table; /* finds symbol_modules and symbol_files */
};

/* Trace events: their classes, and how their data is laid out. */
struct session_events {
    struct trace_event_class *classes; /* as registered: a GUID can occur several times */
    size_t class_count, class_room;
    struct trace_event_layout *layouts; /* sorted: see event_fields.h */
    size_t layout_count, layout_room;
};

/* Levels of the probes. */
struct session_levels {
    struct trace_level *changes; /* by time */
    size_t change_count, change_room;
    struct trace_decision *decisions; /* in the order of the file */
    size_t decision_count, decision_room;
};

/* What a file has beside sums by call path. */
struct session_sums {
    struct trace_reported *reported;
    size_t reported_count, reported_room;
    struct trace_summed *summed; /* in the order of their processes; none if the file was recorded */
    size_t summed_count, summed_room;
    struct trace_object_name *object_names; /* by process and id */
    size_t object_name_count, object_name_room;
};

/* What people and tools have said of a session. */
struct session_labels {
    struct trace_label *list; /* in the order of the file */
    size_t count, room;
    char **notes;
    size_t note_count, note_room;
};

/* What a session says that it holds, and what of it is missing or damaged. */
struct session_health {
    bool is_sealed;           /* its chunks have checksums, and page 0 said what the file holds */
    bool damaged_page;        /* it does not say so any more */
    bool lacks_parts;         /* of what was there when recording ended, or damaged_page */
    uint64_t whole_size;      /* what the file had then */
    uint64_t missing_bytes;   /* what is missing at the file's end */
    uint64_t sealed_chunks;   /* those that have checksums, as page 0 has it; zero if unknown */
    uint64_t whole_chunks;    /* those whose checksum is right */
    uint64_t missing_chunks;  /* of these, neither whole nor among the damaged ones; unknown in a growing session */
    uint64_t damaged_chunks;  /* those with a wrong checksum, which are not in `chunks`, and others */
    uint64_t damaged_bytes;   /* bytes outside of chunks that are not zero */
    uint64_t damaged_records; /* of metadata and symbols */
    bool *found_bad;          /* by a late check; NULL if there are no such checks (session_file_open_late) */
};

struct session_file {
    char *path;
    int fd;
    struct read_error *read_error;
    uint64_t size;    /* bytes of the file that count */
    bool has_holes;   /* parts of the file take no room on the disk, and are zero */
    bool is_filtered; /* calls were left out (filtered_session.h): the next is open */
    int filtered_fd;
    struct dwell_file_header header;
    struct dwell_file_more more;
    struct trace_chunk *chunks; /* in file order */
    size_t chunk_count, chunk_room;
    struct trace_process *processes; /* by serial number */
    size_t process_count, process_room;
    struct trace_thread *threads; /* by serial number */
    size_t thread_count, thread_room;
    struct session_code code;
    struct trace_host host;
    struct session_events events;
    struct session_levels levels;
    struct session_sums sums;
    struct session_labels labels;
    struct descriptor_list descriptors;
    struct maker_list makers;
    struct stub_list stubs;
    struct kept_calls kept;
    struct session_health health;
};

/* Whether anything was found to be damaged or missing when the file was opened. */
static inline bool session_file_is_damaged(const struct session_file *file)
{
    return file->health.lacks_parts || file->health.damaged_chunks || file->health.damaged_bytes ||
           file->health.damaged_records;
}

/* The session that commands record and read if none is named. */
#define DWELL_USUAL_FILE "dwell.data"

/* Opens and indexes the file. Returns NULL and sets *error to a static text if that fails. */
struct session_file *session_file_open(const char *path, const char **error);

/* The same for a reader that reads all events chunks, by windows (chunk_window.h). The checksums of those of usual size
 * are compared meanwhile, as that is cheaper. If session_file_end_late_checks then returns false, one was wrong: the
 * reader begins anew with session_file_open, since that chunk is in the index and may hide others. */
struct session_file *session_file_open_late(const char *path, const char **error);
bool session_file_end_late_checks(struct session_file *file);

void session_file_close(struct session_file *file);

/* ---- for readers of a growing session ---- */

/* session_file_begin opens the file and reads only its header. session_file_again reads the header again. */
struct session_file *session_file_begin(const char *path, const char **error);
struct session_file *session_file_again(const struct session_file *file, const char **error);

enum session_place { PLACE_EMPTY, PLACE_CHUNK, PLACE_BAD_CHUNK, PLACE_BAD_UNIT };

/* Examines an offset at which a chunk can begin. *next is the next such offset. */
enum session_place session_file_look(const struct session_file *file, uint64_t offset, struct trace_chunk *chunk,
                                     uint64_t *next);

/* Returns the errno of the first read of this session that has failed since the last call, or zero (read_error.h). */
int session_file_take_error(const struct session_file *file);

/* Returns how many bytes were read, or -1 with errno set. */
long session_file_read_some(const struct session_file *file, uint64_t offset, void *buffer, size_t size);

/* The chunk of that kind at an offset; NULL if there is none. */
const struct trace_chunk *session_file_chunk(const struct session_file *file, unsigned kind, uint64_t offset);

/* Reads a whole chunk with its header into `buffer`, and puts TRACE_PADDING zero bytes after it. The buffer must have
 * room for both. Returns false if the file is shorter now or another chunk is there. Thread-safe. */
enum { TRACE_PADDING = 16 };
bool session_file_read_chunk(const struct session_file *file, const struct trace_chunk *chunk, uint8_t *buffer);

/* Memory for one chunk at a time. The owner frees `bytes`. */
struct chunk_buffer {
    uint8_t *bytes; /* NULL at first */
    size_t room;
};

/* Reads a whole chunk into a buffer, which grows when it has to. Returns false as session_file_read_chunk does. */
bool session_file_fill_buffer(const struct session_file *file, const struct trace_chunk *chunk,
                              struct chunk_buffer *buffer);

/* Reads a part of a chunk, from its byte `at` on, and puts TRACE_PADDING zero bytes after it. Bytes after the end of
 * the file are zero. */
void session_file_read_part(const struct session_file *file, const struct trace_chunk *chunk, uint64_t at,
                            uint8_t *buffer, size_t size);

/* Whether the bytes in `buffer` begin with the header that the chunk has in the index. */
bool session_file_is_chunk(const struct trace_chunk *chunk, const uint8_t *buffer);

/* The last time in ticks that is known without reading the events. */
uint64_t session_file_last_time(const struct session_file *file);

/* Find an entry by its serial number. Return NULL if there is none. */
struct trace_process *session_file_process(const struct session_file *file, uint32_t serial);
struct trace_thread *session_file_thread(const struct session_file *file, uint32_t serial);

/* The place in the list of processes or threads: serial numbers can be far apart. Return the length of the list if
 * there is none. */
size_t session_file_process_index(const struct session_file *file, uint32_t serial);
size_t session_file_thread_index(const struct session_file *file, uint32_t serial);

/* Whether the calls of any process were recorded in mode profile, also if the file has only sums of them. */
bool session_file_has_trees(const struct session_file *file);

/* Whether processes write to the session, as it is still recorded. */
bool session_file_is_written(const struct session_file *file);

/* Whether a clock may count at this rate. A session with another one is damaged, and so are sums of it. */
static inline bool session_rate_is_possible(uint64_t ticks_per_second)
{
    return ticks_per_second >= 1000 && ticks_per_second <= 1000000000000;
}

/* Why the file has sums instead of single calls: "recorded in mode profile" or "imported from a report". NULL if it has
 * single calls. */
static inline const char *session_file_why_sums(const struct session_file *file)
{
    return file->header.origin & DWELL_ORIGIN_IMPORTED ? "imported from a report"
           : file->header.mode == DWELL_MODE_PROFILE   ? "recorded in mode profile"
                                                       : NULL;
}

/* Whether calls are sums that can be told apart by recorded values. */
static inline bool session_file_can_have_valued_sums(const struct session_file *file)
{
    return file->header.mode == DWELL_MODE_PROFILE && !(file->header.origin & DWELL_ORIGIN_IMPORTED) &&
           !file->sums.summed_count;
}

/* How many of the recorded sessions in a file of sums have durations of calls. */
size_t session_file_count_durations(const struct session_file *file);

/* The recorded session of a process in a file of sums, as a place in `summed`; summed_count if it has none. */
size_t session_file_summed_of(const struct session_file *file, uint32_t process);

/* The name of an object in a file of sums, or NULL. */
const char *session_file_object_name(const struct session_file *file, uint32_t process, uint64_t id);

/* Whether the thread's OS events record when it was off the CPU. */
bool trace_records_switches(const struct trace_thread *thread);

/* The module whose code held `address` at `time`, or NULL. */
const struct trace_module *trace_module_at(const struct trace_process *process, uint64_t address, uint64_t time);

#endif
