/*
 * A session's calls as slices of a timeline, in order of time over all threads, for formats that show single calls. A
 * slice is a part of a call in which the call is on its thread's stack and time counts. A call is one slice, or several
 * if recording was paused, its stack was suspended or chunks are missing. Only its first slice counts as the call. So
 * slices nest, and their sums equal the values of `dwell report`. If a part of the session was selected, slices are cut
 * at its limits.
 */
#ifndef DWELL_EXPORT_SLICES_H
#define DWELL_EXPORT_SLICES_H

#include "analysis/analysis.h"
#include "trace/timeline.h"
#include "trace/trace_event_list.h"

struct call_slice {
    uint32_t function; /* number in the profile; function_count for functions that it does not hold */
    bool is_call;      /* begins with the call's enter; false if the call continues here or was found open */
    uint64_t begin;    /* ticks */
    uint64_t tag;      /* free for use by the visitor; 0 at first */
};

struct slices_thread {
    uint32_t process, thread; /* serial numbers */
    uint32_t pid, tid;        /* 0 if unknown */
    uint32_t number;          /* in order of appearance, from 0 */
    struct call_slice *stack; /* outermost first; the first `open` ones have an open slice */
    size_t depth, open, room;
    size_t next_range;                   /* of the selection: the ranges before it have ended */
    uint64_t last;                       /* beginning of the current interval: earlier time has been reported */
    uint64_t resume;                     /* when the calls without an open slice continue */
    const struct decoded_extras *extras; /* of the current interval */
};

enum slice_end {
    SLICE_RETURNED,
    SLICE_LEFT,      /* the call ended without an exit */
    SLICE_UNENDED,   /* the end of the call was not recorded, or is after the selected part */
    SLICE_CONTINUES, /* the call continues later in another slice */
};

/* Callbacks, each of which may be NULL. Times are ticks. The slice that begins or ends is the innermost open one of its
 * thread. */
struct slices_visitor {
    void (*thread)(struct slices_visitor *visitor, struct slices_thread *thread); /* comes first for each thread */
    void (*begin)(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice);
    void (*end)(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice, uint64_t time,
                enum slice_end how);
    /* A time of the thread in which exactly the open slices were on its stack. */
    void (*interval)(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin, uint64_t end,
                     const struct decoded_extras *extras);
    /* An off-CPU part of the next interval. */
    void (*off_cpu)(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin, uint64_t end,
                    bool preempted);
    void (*mark)(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t time, uint32_t number,
                 const char *text);     /* any bytes */
    uint32_t only_process, only_thread; /* serial numbers of the only visited thread; 0 for all */
};

void slices_run(const struct analysis *session, struct slices_visitor *visitor);

/* Like trace_events_follow, but only for events of the selected part. */
void slices_follow_events(const struct analysis *session, uint32_t thread, trace_event_taker *take, void *context);

/* Whether a moment of a process is in the selected part. */
bool slices_hold(const struct analysis *session, uint32_t process, uint64_t time);

/* Converts a time to nanoseconds since the session's start; earlier times are 0. */
uint64_t slices_ns(const struct analysis *session, uint64_t time);

/* The names of a process and of a thread in UTF-8. The caller frees them. */
char *slices_process_name(const struct analysis *session, uint32_t process);
char *slices_thread_name(const struct analysis *session, uint32_t thread);

#endif
