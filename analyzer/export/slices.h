/*
 * A session's calls as slices of time, in the order of time over all threads, for formats that show single calls:
 * pieces of calls in which their thread's clock ran and they were on its stack. A call is one slice, unless it was
 * paused, its stack was put aside, or chunks are missing: then it is several, of which only the first is the call's. So
 * what slices take together is what `dwell report` says, and all of them nest.
 */
#ifndef DWELL_EXPORT_SLICES_H
#define DWELL_EXPORT_SLICES_H

#include "analysis/analysis.h"
#include "trace/timeline.h"

struct call_slice {
    uint32_t function; /* of the profile; its function_count: one that it does not hold */
    bool is_call;      /* begins with the call's enter; else the call went on here, or was found open */
    uint64_t begin;    /* ticks */
    uint64_t own;      /* the taker's; zero at first */
};

struct slices_thread {
    uint32_t process, thread; /* serial numbers, */
    uint32_t pid, tid;        /* zero: unknown */
    uint32_t number;          /* in the order in which they came, from 0 */
    struct call_slice *stack; /* outermost first; the `open` outermost ones are slices at the moment */
    size_t depth, open, room;
    uint64_t last;   /* up to when its time is told: where the interval at hand begins */
    uint64_t resume; /* when those that are not open go on */
};

enum slice_end {
    SLICE_RETURNED,
    SLICE_LEFT,      /* the call has ended without an exit of its own */
    SLICE_UNENDED,   /* nothing more is recorded */
    SLICE_CONTINUES, /* the call goes on later, in another slice */
};

/* NULL: not called. Times are ticks; the slice that begins or ends is the innermost open one of its thread. */
struct slices_taker {
    void (*thread)(struct slices_taker *taker, struct slices_thread *thread); /* before anything else of it */
    void (*begin)(struct slices_taker *taker, struct slices_thread *thread, struct call_slice *slice);
    void (*end)(struct slices_taker *taker, struct slices_thread *thread, struct call_slice *slice, uint64_t time,
                enum slice_end how);
    /* Time of the thread in which its slices were those that are open. */
    void (*interval)(struct slices_taker *taker, struct slices_thread *thread, uint64_t begin, uint64_t end,
                     const struct decoded_extras *extras);
    /* A part of it, told before it. */
    void (*away)(struct slices_taker *taker, struct slices_thread *thread, uint64_t begin, uint64_t end,
                 bool preempted);
    void (*mark)(struct slices_taker *taker, struct slices_thread *thread, uint64_t time, uint32_t number,
                 const char *text);     /* of any bytes */
    uint32_t only_process, only_thread; /* serial numbers of the only one that is to be told of; zero: all */
    bool enough;                        /* may be set: nothing more is wanted */
};

void slices_run(const struct analysis *session, struct slices_taker *taker);

/* Nanoseconds since the session's beginning; what lies before it is at it. */
uint64_t slices_ns(const struct analysis *session, uint64_t time);

/* What a process and a thread are called, as UTF-8; to be freed by the caller. */
char *slices_process_name(const struct analysis *session, uint32_t process);
char *slices_thread_name(const struct analysis *session, uint32_t thread);

#endif
