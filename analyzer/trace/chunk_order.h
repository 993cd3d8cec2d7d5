/* Orders of a session's chunks: each thread's in the order of writing. */
#ifndef DWELL_TRACE_CHUNK_ORDER_H
#define DWELL_TRACE_CHUNK_ORDER_H

#include "trace/session_file.h"

/* The numbers of all chunks, by process, thread and the order of writing. The caller frees the list. */
uint32_t *chunk_order_by_thread(const struct session_file *file);

/* The same in the order of the file, but a thread's chunks are in the order of writing. The file can have them in
 * another order, as a chunk can be used long after its place in the file was taken. */
uint32_t *chunk_order_by_place(const struct session_file *file);

/* For qsort: sorts by thread, and each thread's chunks in the order of writing. */
int chunk_order_compare(const void *a, const void *b);

#endif
