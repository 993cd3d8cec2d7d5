/*
 * The events of all threads of a session in the order of time, each with its thread's stack of open calls. It streams:
 * a thread needs memory only while it lives, for a part of a chunk and one stack.
 *
 * If chunks are missing, the open calls at the start of the next chunk are valid. Calls that are not among them have
 * ended in between, and calls that are new among them are found open.
 */
#ifndef DWELL_TRACE_TIMELINE_H
#define DWELL_TRACE_TIMELINE_H

#include "trace/decode.h"

enum timeline_kind {
    TIMELINE_ENTER,     /* a call begins: it is the innermost one of the stack from now on */
    TIMELINE_FOUND,     /* the same, but it was open before: its enter is not recorded, or was on another thread */
    TIMELINE_EXIT,      /* the innermost call ends; it is still on the stack during this event */
    TIMELINE_LEFT,      /* the same without an exit */
    TIMELINE_OPEN,      /* the same because the recording of its thread ends */
    TIMELINE_SET_ASIDE, /* the thread changes to another stack: the innermost call is removed and can come back */
    TIMELINE_BACK,      /* a call that was set aside is the innermost one of a stack again */
    TIMELINE_PAUSE,     /* the thread is not recorded until TIMELINE_RESUME */
    TIMELINE_RESUME,
    TIMELINE_MARK,
    TIMELINE_INTERVAL, /* nothing happens, but there is an interval */
};

/* Sums over a thread's intervals, in ticks. */
struct timeline_sums {
    uint64_t elapsed, flagged, blocked;
};

struct timeline_call {
    uint64_t function;   /* address in its process */
    uint64_t enter_time; /* as in the format: it moves by pauses and by the time that the call is set aside */
    uint64_t delay;      /* how many ticks it has moved, as far as that is known */
    /* Ticks on the stack, without pauses. All of these are set when the call is removed from the stack. */
    uint64_t elapsed;
    uint64_t once;    /* the part of elapsed in which no other call of the function was above it on its stack */
    uint64_t flagged; /* the part of elapsed in flagged intervals */
    uint64_t blocked; /* the part of elapsed in which the thread was blocked */
    uint64_t below, flagged_below; /* the parts of elapsed and flagged in which another call was on top of it */
    bool entered, ended;           /* its enter is recorded; its end is recorded (set when it is removed) */
    uint32_t note;                 /* for the consumer, kept as long as the call is open; zero at first */
    uint32_t count_slot, outer;    /* for the timeline, like `begin` */
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
    uint64_t interval;                   /* ticks since the thread's previous event, without pauses */
    const struct decoded_extras *extras; /* OS events and other extensions of that interval */
    struct timeline_thread *thread;
    struct timeline_call *call; /* the call that begins or ends; for other events the innermost call, or NULL */
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

/* Takes over a run of plain events (trace/timeline_plain.h), from its first one on as many as it will. */
struct timeline_plain;
typedef void timeline_plain_taker(void *context, struct timeline_plain *run);

/* A part of a session. Each thread is read from the beginning of the chunk that contains `begin`, so some events are
 * earlier. Calls that are open there are reported as TIMELINE_FOUND. */
struct timeline_part {
    uint64_t begin;
    bool (*wants)(void *context, uint32_t process, uint32_t thread); /* by serial numbers; NULL for all threads */
    bool no_amounts; /* times of calls other than their enter_time and delay are zero, which takes less time */
    timeline_plain_taker *plain; /* only with no_amounts; NULL: each event is reported */
};

/* Runs through that part of the session. */
struct timeline_counts timeline_run_part(const struct session_file *file, const struct timeline_part *part,
                                         timeline_taker *take, void *context);

#endif
