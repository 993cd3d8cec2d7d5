/* A quick look over a whole session: how much it holds, and which functions it names. */
#ifndef DWELL_TRACE_SCAN_H
#define DWELL_TRACE_SCAN_H

#include "trace/session_file.h"

struct scan_function {
    uint32_t process; /* serial number */
    uint64_t address;
};

struct scan {
    uint64_t enters, exits;
    struct scan_function *functions; /* each once, in no order */
    size_t function_count;
};

/* Reads all events by `jobs` threads. */
struct scan scan_session(const struct session_file *file, unsigned jobs);

/* Only counts: takes the writer's word where a chunk was finished, and reads the others. No functions. */
struct scan scan_counts(const struct session_file *file);
void scan_free(struct scan *scan);

#endif
