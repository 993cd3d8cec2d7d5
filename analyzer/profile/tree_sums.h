/* Reads what a session of sums has beside its call trees (dwell/format_sums.h). */
#ifndef DWELL_PROFILE_TREE_SUMS_H
#define DWELL_PROFILE_TREE_SUMS_H

#include "profile/profile.h"
#include "trace/session_file.h"

/* The chunks of one kind, by thread. */
struct tree_chunks {
    const struct trace_chunk **list;
    size_t count;
};

struct tree_chunks tree_chunks_of(const struct session_file *file, enum dwell_chunk_kind kind);
void tree_chunks_drop(struct tree_chunks *chunks);

/* Passes the rows of `size` bytes of a thread's chunks to `take`, which returns false at the end of a chunk. */
typedef bool tree_row_taker(void *context, const void *row);
void tree_chunks_read(const struct tree_chunks *chunks, const struct session_file *file, uint32_t process,
                      uint32_t thread, size_t size, tree_row_taker *take, void *context);

/* The rows of sums of one thread, in the order of their nodes. */
struct tree_rows {
    const struct session_file *file;
    const struct tree_chunks *chunks;
    uint32_t process, thread;
    size_t next_chunk;
    struct chunk_buffer buffer; /* of the current chunk: */
    uint32_t at, end;
    struct dwell_sum_row row; /* the next one; its node is zero if there are no more */
};

/* Begins with a thread. `rows` must be all zero, or have been used for the same file and chunks. */
void tree_rows_begin(struct tree_rows *rows, const struct session_file *file, const struct tree_chunks *chunks,
                     uint32_t process, uint32_t thread);
void tree_rows_drop(struct tree_rows *rows);

/* The row of a node, or NULL. Each number must be larger than the one before. */
const struct dwell_sum_row *tree_rows_find(struct tree_rows *rows, uint32_t node);

/* The counts of all recorded sessions of the file. */
struct profile_counts tree_sums_counts(const struct session_file *file);

/* What is known of them for a part of such a file, from its profile: calls and samples. */
struct profile_counts tree_sums_count_part(const struct profile *p);

#endif
