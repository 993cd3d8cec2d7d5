/*
 * Writes the events of a thread into chunks, as the runtime does. docs/format.md describes the records. A chunk is
 * built in memory, and passed on when it ends.
 */
#ifndef DWELL_TRACE_EVENT_WRITER_H
#define DWELL_TRACE_EVENT_WRITER_H

#include "trace/decode.h"

/* Takes a chunk with its header. Its offset is not set. Returns false to stop. */
typedef bool chunk_taker(void *context, const struct trace_chunk *chunk, const uint8_t *bytes);

struct event_writer {
    struct trace_chunk chunk; /* the one that is written */
    uint8_t *bytes;
    size_t length, room;
    uint64_t last; /* time of the last event */
    uint32_t upper[2];
    unsigned next_upper;
    bool open;    /* a chunk has begun */
    bool any;     /* there was an event or an open call */
    bool stopped; /* the taker has returned false */
    chunk_taker *take;
    void *context;
};

/* Begins a chunk of the thread. Its open calls follow, outermost first, and then their sites if they are recorded. */
void event_writer_begin(struct event_writer *w, uint32_t process, uint32_t thread, uint32_t sequence, uint64_t start);
void event_writer_put_frame(struct event_writer *w, uint64_t function, uint64_t enter_time);
void event_writer_put_open_sites(struct event_writer *w, const uint64_t *sites, size_t count);

/* Ends the chunk and passes it to the taker, unless there was neither an event nor an open call so far. Returns whether
 * it did so. */
bool event_writer_end(struct event_writer *w);
void event_writer_free(struct event_writer *w);

/* An extension: its head, and then its words, of which the lowest comes first. */
void event_writer_put_head(struct event_writer *w, enum dwell_extension type, unsigned words);
void event_writer_put_number(struct event_writer *w, uint64_t number, unsigned words);
void event_writer_put_words(struct event_writer *w, const void *words, size_t count);

/* The site of the next enter, in the shortest form. `caller` is the function of the innermost open call, or zero if
 * the site must not be relative to it. */
void event_writer_put_site(struct event_writer *w, uint64_t site, uint64_t caller);

/* The event after its extensions. Times may not decrease; an earlier time counts as that of the last event. */
void event_writer_enter(struct event_writer *w, uint64_t time, uint64_t function);
void event_writer_exit(struct event_writer *w, uint64_t time);

/* The head and time of a control event with that many words after the time; these follow. */
void event_writer_control(struct event_writer *w, uint64_t time, unsigned type, unsigned words);

#endif
