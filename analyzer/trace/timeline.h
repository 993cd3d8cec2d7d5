/*
 * The events of a session in time order over all its threads, each with its thread's stack of open calls as it stands
 * then. Streams: memory is that of one chunk and one stack for each thread that lives at the moment.
 *
 * What a thread's next chunk says to be open is taken as true: where chunks are missing, calls that are not open there
 * have ended in between, and others are found open.
 */
#ifndef DWELL_TRACE_TIMELINE_H
#define DWELL_TRACE_TIMELINE_H

#include "trace/decode.h"

enum timeline_kind {
    TIMELINE_ENTER, /* a call begins: the innermost one of the stack from here on */
    TIMELINE_FOUND, /* likewise, but it was open before: its enter is not recorded, or was on another thread */
    TIMELINE_EXIT,  /* the innermost call ends; it is on the stack for the last time */
    TIMELINE_LEFT,  /* likewise, without an exit of its own */
    TIMELINE_OPEN,  /* likewise, as nothing more is recorded of its thread */
    TIMELINE_AWAY,  /* the thread leaves this stack for another: the innermost call comes off, and may come back */
    TIMELINE_BACK,  /* such a call has come back */
    TIMELINE_PAUSE, /* nothing is recorded of the thread, until */
    TIMELINE_RESUME,
    TIMELINE_MARK,
};

/* Of a thread's intervals. */
struct timeline_sums {
    uint64_t elapsed, flagged, blocked;
};

struct timeline_call {
    uint64_t function;   /* address in its process */
    uint64_t enter_time; /* later than it was entered */
    uint64_t delay;      /* by so much, in which it was paused or set aside, as far as that is known */
    /* Ticks on the stack, pauses left out; set when the call comes off: */
    uint64_t elapsed;
    uint64_t once;    /* the part of it in which no other call of the function was open before it on its stack */
    uint64_t flagged; /* the part of it that is in flagged intervals, */
    uint64_t blocked; /* and that in which the thread was blocked */
    uint64_t below, flagged_below; /* the parts of both in which another call was on top of it */
    bool entered, ended;           /* the recording holds its enter; its end, once it has come off */
    bool outermost;                /* no other call of the function is open before it */
    uint32_t note;                 /* the consumer's own, kept for the call's life; zero at first */
    uint32_t count_slot;           /* the timeline's own: */
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
    uint64_t interval; /* ticks since the thread's event before, as far as they count; what happened in them: */
    const struct decoded_extras *extras;
    struct timeline_thread *thread;
    struct timeline_call *call; /* of calls; for others the innermost one, or NULL */
    uint32_t mark_number;       /* TIMELINE_MARK */
    const char *mark_text;      /* not ended by a zero */
    size_t mark_length;
    uint64_t mark_time; /* that it speaks of */
};

/* Called for each event; false: enough. */
typedef bool timeline_taker(void *context, const struct timeline_event *event);

struct timeline_counts {
    uint64_t damaged_chunks, stray_exits;
};

/* Runs through the session, up to its end or until `take` has enough. */
struct timeline_counts timeline_run(const struct session_file *file, timeline_taker *take, void *context);

/* A part of a session. What is read begins with the chunk in which `begin` lies, thread by thread, so that events
 * before it still come; calls that are open there are found. */
struct timeline_part {
    uint64_t begin;
    bool (*wants)(void *context, uint32_t process, uint32_t thread); /* by serial numbers; NULL: all threads */
};

/* Likewise, but of that part alone. */
struct timeline_counts timeline_run_part(const struct session_file *file, const struct timeline_part *part,
                                         timeline_taker *take, void *context);

#endif
