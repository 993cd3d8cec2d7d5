/*
 * Chunks of the session file: taken from a pool, cut to size, given up when they are full. All functions may be called
 * by any thread with signals held back.
 */
#ifndef DWELL_CHUNK_H
#define DWELL_CHUNK_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

enum { CHUNKS_REMEMBERED = 8, POOL_SLOTS = 16, REST_SLOTS = 16 };

/* In a thread's block: its events chunks. */
struct thread_chunks {
    struct dwell_chunk_header *current;  /* NULL if the thread has none */
    uint32_t end;                        /* position after the current chunk's last byte */
    uint32_t limit;                      /* the last position that has room for an enter; zero if there is none */
    uint32_t begun;                      /* number of chunks that the thread has begun */
    struct area last[CHUNKS_REMEMBERED]; /* finished ones, at [number % CHUNKS_REMEMBERED]; see forked.c */
};

/* In the process' block. Slots are filled and emptied by atomic exchanges; NULL is an empty slot. */
struct chunk_pool {
    uint32_t target;         /* number of chunks that the helper keeps ready */
    uint32_t prepared;       /* size of the next chunk that a thread asks for, at least */
    char *ready[POOL_SLOTS]; /* prepared chunks; their headers hold the size */
    char *rests[REST_SLOTS]; /* unused parts of chunks, smaller than prepared ones */
};

/* The process begins to record, with a descriptor of the session. One that was `forked` may be short: it gets a small
 * chunk at once, and nothing else that no thread asks for, until it has used some. */
void chunk_begin_process(bool forked, int fd);

/* Returns a chunk of about `size` bytes, and at least `least`, with a header of kind DWELL_CHUNK_FREE. Returns
 * {NULL, 0} and stops the process' recording if there is no space. */
struct area chunk_take(uint32_t least, uint32_t size);

/* The same of a chunk that is prepared already, or of an unused part of one. {NULL, 0} if there is none. */
struct area chunk_take_ready(uint32_t least, uint32_t size);

/* Returns a chunk of one unit, or a little more, that no ring uses again; else the same. */
struct area chunk_take_unit(void);

/* Makes the first `size` bytes a chunk of its own, and keeps the rest for others. */
void chunk_cut(struct area *area, uint32_t size);

/* Asks the overhead budget to look at once, if there is one: the process has told its modules. */
void chunk_ask_for_first_look(void);

/* The same for a finished events chunk, whose last event was at `end`, if it was filled so fast that probes take more
 * than any usual overhead budget. */
void chunk_ask_for_look(const struct dwell_chunk_header *chunk, uint64_t end);

/* Maps `size` bytes of the file `fd`, a descriptor of the session, or a little more, as a free chunk: of space that is
 * used again, or else claimed. */
struct area chunk_prepare(int fd, uint32_t size);

/* The same in the helper, of one unit or a little more. Several are prepared at once, the more the more were needed. */
struct area chunk_prepare_unit(int fd);

/* Makes a free chunk of a mapped one. Its contents are lost, its space is used again. */
void chunk_free(char *at);

/* Whether a record of a finished events chunk has been claimed, but not stored yet. */
bool chunk_has_holes(const struct dwell_chunk_header *chunk);

/* Counts, for an event that has been claimed, the bytes of its extensions and the calls that it says were left. Safe in
 * probes that handlers interrupt. If the chunk has ended meanwhile, it is marked as not counted: the reader counts. */
void chunk_count_extensions(struct dwell_chunk_header *chunk, uint32_t bytes, uint32_t left);

#pragma GCC visibility pop

#endif
