/*
 * Trace events (dwell/event.h): classes, settings, and the chunks that each thread's events go to.
 */
#ifndef DWELL_TRACE_EVENTS_H
#define DWELL_TRACE_EVENTS_H

#include <errno.h>

#include "common.h"
#include "ring.h"

#pragma GCC visibility push(hidden)

struct thread;

/* In a thread's block. */
struct thread_trace_events {
    struct dwell_chunk_header *chunk; /* NULL if the thread has none */
    uint32_t used, size;              /* bytes of the chunk: written, and in all */
    uint32_t begun;                   /* number of chunks that the thread has begun */
    uint64_t last;                    /* time of the last event, in ticks */
    struct ring ring;                 /* mode ring: finished chunks */
};

/* In the process' block. */
struct process_trace_events {
    struct ring ended_ring; /* mode ring: chunks of threads that ended */
    uint32_t lock;          /* of the classes, their callbacks and the settings */
    uint32_t starting;      /* a lock, held while the thread of the callbacks is made */
};

#pragma GCC visibility pop

#ifndef DWELL_WITHOUT_EVENTS

#pragma GCC visibility push(hidden)

/* Takes the settings of DWELL_EVENTS. */
void trace_events_begin(void);

struct dwell_event_class;

/* Whether the class is registered. Called with signals allowed or held back. */
bool trace_events_is_registered(const struct dwell_event_class *c);

/* Adds a setting, NAME:LEVEL. In the helper. Returns the number of classes it selects, or -ENOSPC. */
int trace_events_enable(const char *setting);

/* Signals are held back in both. */
void trace_events_begin_thread(struct thread *t);
void trace_events_end_thread(struct thread *t);

#pragma GCC visibility pop

/* What dwell/event.h calls, which PerfLog calls as well. */
DWELL_EXPORT int dwell_runtime_event_register(struct dwell_event_class *c);
DWELL_EXPORT int dwell_runtime_event_write(const struct dwell_event_class *c, uint32_t version, const void *data,
                                           size_t size);

#else /* A build without trace events. The weak references of programs stay NULL, and their classes disabled. */

static inline void trace_events_begin(void)
{
}

static inline int trace_events_enable(const char *setting)
{
    (void)setting;
    return -ENOSYS;
}

static inline void trace_events_begin_thread(struct thread *t)
{
    (void)t;
}

static inline void trace_events_end_thread(struct thread *t)
{
    (void)t;
}

#endif
#endif
