/* Writes a session that nobody recorded: processes with a call tree each, and what a report said of them. */
#ifndef DWELL_TRACE_SESSION_IMPORT_H
#define DWELL_TRACE_SESSION_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/session_finish.h"

/* A call path: parents come before their children. */
struct import_node {
    uint64_t function;                /* address, not zero */
    uint32_t parent;                  /* 1 + index of the node, or zero */
    uint32_t depth;                   /* from 1 */
    uint64_t calls, elapsed, flagged; /* elapsed exclusive, and the part of it that is no application time */
    uint64_t shortest, longest;       /* UINT64_MAX and zero: unknown */
};

/* Code at `base` and the 2^48 - 1 addresses behind it; address - base is the offset in the module. */
struct import_module {
    const char *path;
    uint64_t base;
};

struct import_process {
    const char *path, *note;
    uint32_t pid;
    const struct import_module *modules;
    size_t module_count;
    const struct import_node *nodes;
    size_t node_count;
    const struct dwell_rec_reported *reported; /* their `record` is not looked at */
    size_t reported_count;
};

struct import_session {
    uint64_t ticks_per_second;
    uint32_t origin; /* enum dwell_origin */
    bool application_known;
    const struct import_process *processes;
    size_t process_count;
    const struct finish_module *symbol_modules;
    size_t symbol_module_count;
    const struct finish_symbol *symbols;
    size_t symbol_count;
};

/* As `dwell record` would: an older session of that name becomes `path`.old, other files are never replaced. Returns
 * NULL, or what went wrong; then nothing is there that was not there before. */
const char *import_session(const struct import_session *s, const char *path);

#endif
