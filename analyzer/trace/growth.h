/*
 * A session that grows, read step by step: each step gives what was written since the one before. The program is not
 * touched, and what is written in that very moment waits for the next step.
 */
#ifndef DWELL_TRACE_GROWTH_H
#define DWELL_TRACE_GROWTH_H

#include "trace/session_file.h"
#include "trace/unfinished.h"

/* A thread, with the calls that were open behind the events that were read last. */
struct growth_thread {
    uint32_t process, thread; /* serial numbers */
    uint32_t sequence;        /* of the chunk that was read last */
    struct open_stack stack;
};

struct growth {
    /* As the session is now: header and metadata. Its chunks are those of call trees, which are read anew each time. */
    struct session_file *file;
    /* Events chunks that are new, and what is new of others, in no order; all of them begin and end by themselves. */
    struct trace_chunk *fresh;
    size_t fresh_count, fresh_room;
    struct growth_thread *threads; /* in no order */
    size_t thread_count, thread_room;
    uint64_t left; /* bytes that wait to be read */
    struct growth_index *index;
};

/* NULL: it cannot be read, and *error tells why. The first step is still to be made. */
struct growth *growth_open(const char *path, const char **error);
void growth_close(struct growth *g);

/* Reads on, about so many bytes at most; what the step before gave is gone then. `ended`: nothing is written any more.
 * NULL, or what is wrong with the file: then all stays as it is. */
const char *growth_step(struct growth *g, uint64_t most, bool ended);

#endif
