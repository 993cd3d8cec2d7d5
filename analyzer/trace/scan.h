/* A quick scan of a whole session: the number of its events, and the functions that they enter. */
#ifndef DWELL_TRACE_SCAN_H
#define DWELL_TRACE_SCAN_H

#include "trace/session_file.h"

struct scan_function {
    uint32_t process; /* serial number */
    uint64_t address;
};

struct scan {
    uint64_t enters, exits;
    uint64_t counted;                /* calls that were only counted; only scan_counts finds them */
    struct scan_function *functions; /* each once, in no order */
    size_t function_count;
};

/* Reads all events, with `jobs` threads. */
struct scan scan_session(const struct session_file *file, unsigned jobs);

/* Counts events without finding functions. Uses the writer's counts of finished chunks, and reads the other chunks. */
struct scan scan_counts(const struct session_file *file);
void scan_free(struct scan *scan);

#endif
