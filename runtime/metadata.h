/*
 * Metadata records: what the session says of processes, threads and modules. All functions may be called by any thread
 * with signals held back, but not under the process' lock. If there is no space, the record is discarded.
 */
#ifndef DWELL_METADATA_H
#define DWELL_METADATA_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

/* In the process' block, under its lock. */
struct process_metadata {
    struct dwell_chunk_header *chunk;
    uint32_t used;   /* bytes of the chunk */
    uint32_t chunks; /* number of metadata chunks so far */
};

/* Appends a record of `size` bytes and its `count` texts, which are copied. Returns its place, or NULL. */
struct dwell_record *metadata_append(const struct dwell_record *record, size_t size, const struct text *texts,
                                     int count);

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
