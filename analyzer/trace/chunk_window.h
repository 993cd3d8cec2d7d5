/*
 * Reads a chunk of events piece by piece: only a window of it is in memory, whatever the chunk's size. The window grows
 * only for an event that is longer with its extensions.
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

/* All zero at first. It may be used for many chunks, one after the other. */
struct chunk_window {
    uint8_t *buffer;
    size_t room;
    const struct session_file *file;
    const struct trace_chunk *chunk;
    uint64_t next, end; /* in the chunk: of what is to be read, of what counts */
    uint32_t behind;    /* bytes there that are read, too: an event that the end cuts is whole in a damaged chunk */
};

/* Begins a chunk: the decoder is at its first record. Until window_more, decode_frame finds the open frames and
 * decode_open_sites their call sites. Returns false if the chunk cannot be read or is another one by now. */
bool window_begin(struct chunk_window *w, const struct session_file *file, const struct trace_chunk *chunk,
                  struct decoder *d);

/* Reads on when decode_next has returned DECODED_END. Returns false at the end of the chunk. Pointers that the decoder
 * gave are invalid then. */
bool window_more(struct chunk_window *w, struct decoder *d);

void window_free(struct chunk_window *w);

#endif
