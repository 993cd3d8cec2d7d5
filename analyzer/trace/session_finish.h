/* The records that `dwell record` adds to a session at its end: ends of processes, the machine, the clock, symbols. */
#ifndef DWELL_TRACE_SESSION_FINISH_H
#define DWELL_TRACE_SESSION_FINISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

struct finish_symbol {
    uint32_t module; /* index into the modules given with it */
    uint64_t offset;
    const char *linkage_name; /* NULL if unknown */
    const char *file;         /* NULL if unknown */
    uint32_t line;
};

/* Source position of a call site. Texts are NULL and numbers zero if unknown. */
struct finish_site {
    uint32_t module;
    uint64_t offset;
    bool inlined;
    const char *function, *file, *outer, *outer_file;
    uint32_t line, outer_line;
};

struct finish_module {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length;
};

enum { FINISH_STATUS_UNKNOWN = -1 };

/* Records ends of processes. finish_ends_add takes the process' serial number, or zero and the PID. The process ended
 * at `time` at the latest. `status` is that of waitpid, or FINISH_STATUS_UNKNOWN. finish_ends_close frees
 * the writer. The session must stay valid until then. Not thread-safe. */
struct finish_writer *finish_ends_begin(const struct session *session, int fd);
bool finish_ends_add(struct finish_writer *writer, uint32_t process, uint32_t pid, int status, uint64_t time);
/* Offset of the chunk that gets the next record, if it has room; or zero. */
uint64_t finish_ends_at(const struct finish_writer *writer);
void finish_ends_close(struct finish_writer *writer);

/* Records the CPU time of a process that has ended, in nanoseconds, as finish_ends_add does its end. */
bool finish_cpu_add(struct finish_writer *writer, uint32_t process, uint32_t pid, uint64_t usage, uint64_t clock,
                    uint64_t time);

/* Records the machine. */
bool finish_host(const struct session *session, int fd);

/* Appends a note for the readers of the session. */
bool finish_note(const struct session *session, int fd, const char *note);

/* Writes the end time of the session and a better estimate of the clock's rate. */
void finish_clock(const struct session *session);

struct finish_names {
    const struct finish_module *modules;
    size_t module_count;
    const struct finish_symbol *symbols;
    size_t symbol_count;
    const struct finish_site *sites;
    size_t site_count;
};

/* Appends symbols chunks. Returns false if the disk is full; then as many as fit are written. */
bool finish_symbols(const struct session *session, int fd, const struct finish_names *names);

/* Gives back space that was claimed and never used, unless a process still writes, and marks the session complete. */
void finish_space(const struct session *session, int fd);

#endif
