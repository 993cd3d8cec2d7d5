/*
 * A chunk of events, read piece by piece: what is in memory of it is a window, whatever the chunk's size. It has to be
 * wider only where one event with its extensions is.
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

/* Zero at first; one after another may be used for many chunks. */
struct chunk_window {
    uint8_t *buffer;
    size_t room;
    const struct session_file *file;
    const struct trace_chunk *chunk;
    uint64_t next, end; /* in the chunk: of what is to be read, of what counts */
    uint32_t behind;    /* bytes there that are read, too: an event that the end cuts is whole in a damaged chunk */
};

/* The decoder stands at the first record; decode_frame finds the open frames, and decode_open_sites where they were
 * called from, until window_more. False: the chunk cannot be read, or is another one. */
bool window_begin(struct chunk_window *w, const struct session_file *file, const struct trace_chunk *chunk,
                  struct decoder *d);

/* Where decode_next came to the end: false, it was that of the chunk. What the decoder points to is no longer there. */
bool window_more(struct chunk_window *w, struct decoder *d);

void window_free(struct chunk_window *w);

#endif
