/*
 * Reads a chunk of events piece by piece. Only a window of it is in memory, even if the chunk is large. The window
 * grows only for an event whose extensions do not fit into it.
 *
 *     if (window_begin(&w, file, chunk, &d))
 *         do
 *             while ((event = decode_next(&d)) != DECODED_END)
 *                 ...
 *         while (window_more(&w, &d));
 */
#ifndef DWELL_TRACE_CHUNK_WINDOW_H
#define DWELL_TRACE_CHUNK_WINDOW_H

#include "trace/decode.h"

/* All zero at first. It can be used for many chunks, one after the other. */
struct chunk_window {
    uint8_t *buffer;
    size_t room;
    const struct session_file *file;
    const struct trace_chunk *chunk;
    uint64_t next, end; /* offsets in the chunk: of the next bytes to read, and of the end of its records */
    uint32_t behind;    /* bytes after the end that are read, too: in a damaged chunk an event can extend there */
};

/* Begins a chunk and sets the decoder to its first record. Until window_more, decode_frame finds the open frames and
 * decode_open_sites their call sites. Returns false if the chunk cannot be read or was replaced by another one. */
bool window_begin(struct chunk_window *w, const struct session_file *file, const struct trace_chunk *chunk,
                  struct decoder *d);

/* Reads the next part after decode_next has returned DECODED_END. Returns false at the end of the chunk. Invalidates
 * the decoder's pointers into the chunk. */
bool window_more(struct chunk_window *w, struct decoder *d);

void window_free(struct chunk_window *w);

#endif
