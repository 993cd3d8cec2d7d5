/*
 * Metadata records: what the session says of processes, threads and modules. All functions may be called by any thread
 * with signals held back, but not under the process' lock. If there is no space, the record is discarded.
 */
#ifndef DWELL_METADATA_RECORDS_H
#define DWELL_METADATA_RECORDS_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

/* In the process' block, under its lock. */
struct process_metadata {
    struct dwell_chunk_header *chunk;
    uint32_t used;                           /* bytes of the chunk */
    uint32_t chunks;                         /* number of metadata chunks so far */
    struct dwell_chunk_header *helper_chunk; /* only the helper uses it */
    uint32_t helper_used;
};

/* Appends a record of `size` bytes and its `count` texts, which are copied. Returns its place, or NULL. */
struct dwell_record *metadata_append(const struct dwell_record *record, size_t size, const struct text *texts,
                                     int count);

/* The same in the helper thread, for a record without texts. It cannot wait for a chunk that only itself prepares.
 * False if there is no space. */
bool metadata_append_in_helper(const struct dwell_record *record, size_t size);

/* Takes a record back. NULL is allowed. */
void metadata_take_back(struct dwell_record *record);

/* A sentence for the reader of a report. */
void metadata_note(const char *text);

/* The thread's name as the system has it. */
void metadata_thread_name(struct thread *t, const char *name);

/* The thread's name as the program gives it. */
void metadata_name_thread(const struct thread *t, const char *name, size_t length);

#pragma GCC visibility pop

#endif
