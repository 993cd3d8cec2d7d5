/*
 * Reads a growing session step by step. Each step returns the data written since the previous one. The program is not
 * disturbed. Records that are being written wait for the next step.
 */
#ifndef DWELL_TRACE_GROWTH_H
#define DWELL_TRACE_GROWTH_H

#include "trace/session_file.h"
#include "trace/unfinished.h"

/* A thread, with the calls that are open after the last event read. */
struct growth_thread {
    uint32_t process, thread; /* serial numbers */
    uint32_t sequence;        /* of the last chunk read */
    struct open_stack stack;
    bool behind;             /* it has written more than could be read in the last step */
    uint64_t calls_left_out; /* in the last step; see `newest_only` */
};

struct growth {
    /* Header and metadata of the session as it is now. Its chunks are the call trees, which are read again in each
     * step. */
    struct session_file *file;
    /* New events chunks and new parts of others, in no order. Each can be read by itself. */
    struct trace_chunk *fresh;
    size_t fresh_count, fresh_room;
    struct growth_thread *threads; /* in no order */
    size_t thread_count, thread_room;
    uint64_t left;    /* bytes that have not been read yet */
    bool newest_only; /* set by the caller: steps leave out what is older than `most` bytes, permanently */
    struct growth_index *index;
};

/* Returns NULL, with the reason in *error, if the session cannot be read. The caller makes the first step. */
struct growth *growth_open(const char *path, const char **error);
void growth_close(struct growth *g);

/* Reads the next data, at most about `most` bytes. The chunks of the previous step become invalid. `ended` says that
 * the recording has ended. Returns NULL, or an error message; then nothing has changed. */
const char *growth_step(struct growth *g, uint64_t most, bool ended);

#endif
