/*
 * Calls that are kept, in mode ring: slow calls of watched functions, and some others to compare. Their windows of time
 * stay in the session, of all threads of the process. The exit of such a function asks whether its call is to be kept;
 * other functions have the usual probes. A watch is 1 + its index in dwell_keep.watch.
 */
#ifndef DWELL_KEEP_CALLS_H
#define DWELL_KEEP_CALLS_H

#include "common.h"
#include "dwell/format.h"
#include "keep_learn.h"

#pragma GCC visibility push(hidden)

struct thread;

/* What the recorder has put into the session, as a copy, and the limits that the process learns: it outlives a fork. */
struct keep_settings {
    bool on;
    uint32_t watches;                        /* their number */
    uint32_t usual;                          /* one call in so many is kept to compare; zero: none */
    bool asks;                               /* keep_asks has to know of calls that are not slow */
    bool others;                             /* windows are those of all processes */
    bool shorter;                            /* `around` is the most (DWELL_KEEP_SHORTER) */
    bool recursive[1 + DWELL_KEEP_WATCHES];  /* a call below another one of its function was seen, by watch */
    uint64_t limits[1 + DWELL_KEEP_WATCHES]; /* ticks, by watch */
    struct dwell_watch rules[1 + DWELL_KEEP_WATCHES];
    struct keep_learnt learnt[1 + DWELL_KEEP_WATCHES];
    uint64_t around, period; /* ticks */
    uint32_t most;           /* windows in a period */
};

extern struct keep_settings keep_settings;

/* In a thread's block. */
struct thread_keep {
    uint32_t since_usual; /* calls of watched functions since one was kept to compare */
    struct {
        uint64_t calls, ticks;
    } unlearnt[1 + DWELL_KEEP_WATCHES]; /* calls that the limits do not know yet, by watch */
};

/* In a thread's block: open activities of trace events that are watched (keep_activities.h), oldest first. */
struct thread_activities {
    uint32_t count;
    struct open_activity {
        uint64_t since; /* ticks */
        uint64_t class;
        uint32_t watch;
        bool taken; /* from a queue */
    } open[DWELL_KEEP_OPEN];
};

enum { KEEP_WINDOWS = 256 };

/* How many ends of children a process records where windows are kept: later ones take the records of earlier ones. */
enum { KEEP_CHILD_ENDS = 256 };

/* In the process' block: windows of kept calls, in the order of their ends. Each is apart from the one before. */
struct process_keep {
    uint32_t lock;
    uint32_t first, count; /* in the array, which is used in turn */
    uint64_t forgotten;    /* ticks: the end of the last window that is not in the array any more */
    uint64_t dropped;      /* ticks: events up to then are in no window any more, as they made room */
    struct keep_window {
        uint64_t begin, end;
    } windows[KEEP_WINDOWS];
    struct keep_entry { /* of a call in the session */
        struct dwell_rec_kept *record;
        uint64_t begin; /* of its window, in ticks */
    } * entries; /* if windows make room: the first `live` ones; then records of dropped calls, to be used again */
    uint32_t live, entry_count, entry_room;
    struct dwell_record *child_ends[KEEP_CHILD_ENDS]; /* the last ends of children that were recorded */
    uint32_t child_end_count;
};

/* Reads the settings in the session `fd`. */
void keep_begin(int fd);

/* Reads watches that were added since. Others stay as they are. */
void keep_read_more(int fd);

/* Whether a call of that duration, which is not slow, may be one to keep. Learns from it. */
bool keep_asks(struct thread_keep *k, uint32_t watch, uint64_t duration);

/* False if keep_wants would say so, and learn nothing. */
static ALWAYS_INLINE bool keep_may_want(uint32_t watch, uint64_t duration)
{
    return UNLIKELY(duration > __atomic_load_n(&keep_settings.limits[watch], __ATOMIC_RELAXED)) ||
           UNLIKELY(keep_settings.asks);
}

/* Whether a call of that duration, in ticks, may be one to keep. */
static ALWAYS_INLINE bool keep_wants(struct thread_keep *k, uint32_t watch, uint64_t duration)
{
    return duration > __atomic_load_n(&keep_settings.limits[watch], __ATOMIC_RELAXED) ||
           (UNLIKELY(keep_settings.asks) && keep_asks(k, watch, duration));
}

/* Whether the call of the thread that has just ended is below another one of its function, and its watch has a limit
 * that is learnt: only the outermost one counts for that. The first time, keep_call finds out that there are such
 * calls. */
bool keep_is_inner(const struct thread *t, uint32_t watch, uint64_t function);

/* Keeps the call of the calling thread that has just ended, at t->last, unless it is below another one of its function,
 * too many were kept, or there is no room. */
void keep_call(struct thread *t, uint32_t watch, uint64_t function, uint64_t enter_time);

/* The same for an activity of trace events between these times, if it is slow. With signals held back. */
void keep_activity(struct thread *t, uint32_t watch, uint64_t enter_time, uint64_t exit_time);

/* Drops the windows that begin up to that time, and the records of their calls. */
void keep_drop_windows(uint64_t until);

/* Whether events of that time belong to a window, or may belong to one, and there is room to keep them. With signals
 * held back. */
bool keep_covers(uint64_t begin, uint64_t end);

#pragma GCC visibility pop

#endif
