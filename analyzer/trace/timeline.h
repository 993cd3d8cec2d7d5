/*
 * The events of a session in the order of time over all its threads, each with its thread's stack of open calls. It
 * streams: each thread that lives at the moment takes the memory of a part of a chunk and of one stack.
 *
 * Where chunks are missing, the open calls at the start of the next chunk are right: calls that are not among them have
 * ended meanwhile, and others are found open.
 */
#ifndef DWELL_TRACE_TIMELINE_H
#define DWELL_TRACE_TIMELINE_H

#include "trace/decode.h"

enum timeline_kind {
    TIMELINE_ENTER,     /* a call begins: it is the innermost one of the stack from here on */
    TIMELINE_FOUND,     /* likewise, but it was open before: its enter is not recorded, or was on another thread */
    TIMELINE_EXIT,      /* the innermost call ends; it is on the stack for the last time */
    TIMELINE_LEFT,      /* likewise, without an exit of its own */
    TIMELINE_OPEN,      /* likewise, as nothing more is recorded of its thread */
    TIMELINE_SET_ASIDE, /* the thread changes to another stack: the innermost call comes off, and may come back */
    TIMELINE_BACK,      /* a call that was set aside is the innermost one of a stack again */
    TIMELINE_PAUSE,     /* nothing is recorded of the thread until TIMELINE_RESUME */
    TIMELINE_RESUME,
    TIMELINE_MARK,
};

/* Sums over a thread's intervals, in ticks. */
struct timeline_sums {
    uint64_t elapsed, flagged, blocked;
};

struct timeline_call {
    uint64_t function;   /* address in its process */
    uint64_t enter_time; /* as in the format: moved on by pauses and by the time it was set aside, */
    uint64_t delay;      /* by so many ticks, as far as that is known */
    /* Ticks on the stack, without pauses. All of these are set when the call comes off. */
    uint64_t elapsed;
    uint64_t once;    /* the part of it in which no other call of the function was open before it on its stack */
    uint64_t flagged; /* the part of it that is in flagged intervals, */
    uint64_t blocked; /* and that in which the thread was blocked */
    uint64_t below, flagged_below; /* the parts of both in which another call was on top of it */
    bool entered, ended;           /* the recording holds its enter; its end, once it has come off */
    bool outermost;                /* no other call of the function is open before it */
    uint32_t note;                 /* for the consumer, kept as long as the call lives; zero at first */
    uint32_t count_slot;           /* for the timeline, as is `begin` */
    struct timeline_sums begin;
};

struct timeline_thread {
    uint32_t process, thread; /* serial numbers */
    struct timeline_call *stack;
    size_t depth;
};

struct timeline_event {
    enum timeline_kind kind;
    uint64_t time;
    uint64_t interval;                   /* ticks since the thread's event before, as far as they count */
    const struct decoded_extras *extras; /* what happened in them */
    struct timeline_thread *thread;
    struct timeline_call *call; /* that begins or ends; for other events the innermost one, or NULL */
    uint32_t mark_number;       /* TIMELINE_MARK */
    const char *mark_text;      /* without a terminating zero */
    size_t mark_length;
    uint64_t mark_time; /* the moment that it marks */
};

/* Called for each event. Returns false to stop. */
typedef bool timeline_taker(void *context, const struct timeline_event *event);

struct timeline_counts {
    uint64_t damaged_chunks, stray_exits;
};

/* Runs through the session, up to its end or until `take` returns false. */
struct timeline_counts timeline_run(const struct session_file *file, timeline_taker *take, void *context);

/* A part of a session. Each thread is read from the chunk on that `begin` lies in, so some events come from before it.
 * Calls that are open there are reported as TIMELINE_FOUND. */
struct timeline_part {
    uint64_t begin;
    bool (*wants)(void *context, uint32_t process, uint32_t thread); /* by serial numbers; NULL for all threads */
};

/* Runs through that part alone. */
struct timeline_counts timeline_run_part(const struct session_file *file, const struct timeline_part *part,
                                         timeline_taker *take, void *context);

#endif
