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

/* Records that the process with that PID has ended now, and how. */
bool finish_process(const struct session *session, int fd, uint32_t pid, enum dwell_end how, int value);

/* Records the machine. */
bool finish_host(const struct session *session, int fd);

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
