/* Writes an imported session: processes with a call tree each, and the rows of a report. */
#ifndef DWELL_TRACE_SESSION_IMPORT_H
#define DWELL_TRACE_SESSION_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/session_finish.h"

/* Functions whose address is unknown have offsets from here on in their modules, so that they differ. */
#define IMPORT_NO_ADDRESS ((uint64_t)1 << 47)

/* A call path: parents come before their children. */
struct import_node {
    uint64_t function; /* address, not zero */
    uint32_t parent;   /* 1 + index of the node, or zero */
    uint32_t depth;    /* from 1 */
    uint64_t calls, elapsed,
        flagged;                /* `elapsed` is exclusive; `flagged` is the part of it that is not application time */
    uint64_t shortest, longest; /* UINT64_MAX and zero if unknown */
};

/* Code at `base` and at the 2^48 - 1 addresses after it. The offset in the module is address - base. */
struct import_module {
    const char *path;
    uint64_t base;
};

/* A row of the report. Its `record` is ignored. */
struct import_reported {
    struct dwell_rec_reported row;
    struct dwell_stated stated;
};

struct import_process {
    const char *path, *note;
    uint32_t pid;
    const struct import_module *modules;
    size_t module_count;
    const struct import_node *nodes;
    size_t node_count;
    const struct import_reported *reported;
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

/* Renames an older session at `path` to `path`.old and never replaces other files, like `dwell record`. Returns NULL,
 * or an error message; then no file has changed. */
const char *import_session(const struct import_session *s, const char *path);

#endif
