/*
 * The waits of a session: intervals in which a thread was blocked, each with the object that its call waited for; the
 * acts that may have ended waits; and answers to what was open on a thread at a time. A collector fills them. Its owner
 * merges them together with the profiles, whose nodes they name.
 */
#ifndef DWELL_PROFILE_WAITS_H
#define DWELL_PROFILE_WAITS_H

#include "trace/decode.h"

/* An interval of a thread, and the innermost call that was open in it. */
struct wait_place {
    uint64_t begin, end;      /* ticks */
    uint32_t process, thread; /* serial numbers */
    uint32_t node;
};

/* Whether the object has a number of its process. Descriptors, and what processes share, have one of the session. */
static inline bool object_is_of_process(unsigned kind, uint64_t id)
{
    if (kind <= DWELL_OBJECT_BARRIER || kind == DWELL_OBJECT_FUTEX)
        return !(id & DWELL_OBJECT_SHARED);
    return kind < DWELL_OBJECT_FILE || kind == DWELL_OBJECT_SET || kind > DWELL_OBJECT_SIGNAL;
}

/* An act that may have ended waits. */
struct profile_act {
    uint64_t begin, end;      /* ticks */
    uint64_t left;            /* when the thread left the CPU first, for any reason; the end if it did not */
    uint64_t id;              /* of the object */
    uint32_t process, thread; /* serial numbers */
    uint32_t node;            /* the acting call */
    uint8_t kind;             /* enum dwell_object */
    bool room;                /* as in struct profile_wait */
    bool all;                 /* it may have ended the waits of all threads, not only of one */
    bool took;                /* it only took a lock */
    bool blocked;             /* the thread was blocked in it as well: at a barrier */
};

struct profile_wait {
    struct wait_place place;
    uint64_t blocked; /* ticks */
    uint64_t id;      /* of the object */
    uint32_t holder;  /* tid of the thread that held the object when the call began; zero if none or unknown */
    uint8_t kind;     /* enum dwell_object; zero: no object was recorded */
    bool gave_up;     /* no act ended it */
    bool faulted;     /* no object was recorded, and the interval has page faults */
    bool room;        /* the object is a descriptor, and the wait or act is about room to write; or it is where the
                       * threads of OpenMP wait for their next team */
    bool spun;        /* the thread did not sleep, and may have waited on the CPU */
    /* When the thread was blocked first, when it was blocked last, and when it ran again after that. All are the
     * interval's end if it was not. */
    uint64_t left, left_last, back;
    uint64_t mutex; /* that the call unlocks while it waits for a condition variable, and locks at its end; or zero */
};

/* Which call was innermost on a thread at a time? */
struct wait_query {
    uint32_t thread; /* serial number */
    uint64_t time;
    uint32_t number; /* the asker's */
};

struct wait_answer {
    uint32_t number, node;
};

struct waits {
    bool acts_only; /* waits are not kept, and queries are answered */
    bool acts_too;  /* acts are kept as well as waits, and so are long waits of threads that did not sleep */
    uint64_t spin;  /* the CPU time in ticks above which a wait without sleep is kept */
    const struct wait_query *queries; /* sorted by wait_compare_queries */
    size_t query_count, next_query;
    struct profile_wait *list; /* in no order, as the acts */
    size_t count, room;
    struct profile_act *acts;
    size_t act_count, act_room;
    struct wait_answer *answers;
    size_t answer_count, answer_room;
};

/* For qsort: by thread, then time. */
int wait_compare_queries(const void *a, const void *b);

/* Adds the waits and acts of an interval, in which the thread was blocked for so many ticks. */
void waits_add(struct waits *w, const struct wait_place *place, const struct decoded_extras *extras, uint64_t blocked);

/* Begins a chunk of the thread's events. */
void waits_begin_chunk(struct waits *w, uint32_t thread, uint64_t start);

/* Whether a query is about the thread in that time. */
bool waits_ask(const struct waits *w, uint32_t thread, uint64_t begin, uint64_t end);

/* Answers the queries about an interval of the chunk's thread. */
void waits_answer(struct waits *w, const struct wait_place *place);

/* Moves all of `from`, whose nodes have these numbers in the other profile. */
void waits_merge(struct waits *into, struct waits *from, const uint32_t *nodes);

void waits_drop(struct waits *w);

#endif
