/* The part of the session file's format about the objects that threads wait for. Included by format.h. */
#ifndef DWELL_FORMAT_OBJECTS_H
#define DWELL_FORMAT_OBJECTS_H

#include "dwell/format.h"

/* The kinds of objects that threads wait for, and what identifies an object of the kind. */
enum dwell_object {
    DWELL_OBJECT_MUTEX = 1, /* its address in the process, as for all kinds up to the barrier */
    DWELL_OBJECT_RWLOCK = 2,
    DWELL_OBJECT_CONDITION = 3,
    DWELL_OBJECT_SEMAPHORE = 4,
    DWELL_OBJECT_BARRIER = 5,
    DWELL_OBJECT_THREAD = 6, /* its tid; zero if it had ended */
    DWELL_OBJECT_CHILD = 7,  /* the pid of the child that ended or changed; zero if none did */
    DWELL_OBJECT_SLEEP = 8,  /* nanoseconds; zero: until a point in time */
    DWELL_OBJECT_FILE = 9,   /* what a descriptor refers to: a number of the session, named by DWELL_REC_DESCRIPTOR, as
                              * for all kinds up to another descriptor */
    DWELL_OBJECT_PIPE = 10,  /* or a FIFO */
    DWELL_OBJECT_SOCKET = 11,
    DWELL_OBJECT_EVENTFD = 12,
    DWELL_OBJECT_TIMERFD = 13,
    DWELL_OBJECT_SIGNALFD = 14,
    DWELL_OBJECT_TERMINAL = 15,
    DWELL_OBJECT_EPOLL = 16,
    DWELL_OBJECT_DESCRIPTOR = 17, /* any other one */
    DWELL_OBJECT_SET = 18,        /* several descriptors, of which none or several were ready; zero */
    DWELL_OBJECT_FUTEX = 19,      /* the address of its word */
    DWELL_OBJECT_FILE_LOCK = 20,  /* a number of the session, as for descriptors */
    DWELL_OBJECT_QUEUE = 21,      /* of messages; a number of the session */
    DWELL_OBJECT_SIGNAL = 22,     /* pid << 32 | tid of the waiting thread. An act has pid << 32, or the tid alone */
};

/* Set in the number of a lock, condition variable, semaphore, barrier or futex in memory that processes share: it is
 * one of the session, and no address. */
#define DWELL_OBJECT_SHARED (UINT64_C(1) << 63)

enum dwell_object_role {
    DWELL_ROLE_WAITED = 0,          /* the call waited for the object */
    DWELL_ROLE_ACTED = 1,           /* the call may have ended waits of others for it */
    DWELL_ROLE_WAITED_FOR_ROOM = 2, /* waited until a descriptor could be written */
    DWELL_ROLE_MADE_ROOM = 3,       /* read from a descriptor, which makes room */
    DWELL_ROLE_GAVE_UP = 4,         /* the call waited until its time was over, or a signal came: no act ended it */
    DWELL_ROLE_ACTED_ON_ALL = 5,    /* as DWELL_ROLE_ACTED: it may have ended the waits of all of them */
    DWELL_ROLE_TOOK = 6,            /* the call took the lock of a file, which the process' end releases, too */
};

/* A descriptor's object. Written at the latest when the object is first recorded. String: name. */
struct dwell_rec_descriptor {
    struct dwell_record record;
    uint64_t id;
    uint64_t peer; /* calls that act on this object end waits for that one, such as the other end; zero: unknown */
    uint32_t kind; /* enum dwell_object */
    uint32_t pad;
};

/* Where an object was made. Written when a thread of the process has waited for it first. */
struct dwell_rec_made {
    struct dwell_record record;
    uint64_t time; /* ticks */
    uint64_t id;
    uint64_t function; /* address of the innermost recorded function then; zero: unknown from this time on */
    uint32_t kind;     /* enum dwell_object */
    uint32_t pad;
};

/* A row of a waits chunk: the sum of a thread's waits of one call path, for one object, with one holder. A row without
 * waits has not been written, and ends the chunk. A row whose node is zero has the waits for which there was no row. */
struct dwell_wait_row {
    uint32_t node; /* number in the thread's call tree */
    uint8_t kind;  /* enum dwell_object; zero: unknown */
    uint8_t role;  /* enum dwell_object_role of a call that waited */
    uint16_t pad;
    uint64_t id;          /* of the object */
    uint32_t holder;      /* tid of the thread that held the object when the calls began; zero: none or unknown */
    uint32_t holder_node; /* number in that thread's call tree: its innermost call then; zero: none or unknown */
    uint64_t waits;       /* stored last */
    uint64_t blocked;     /* ticks */
    uint64_t longest;     /* of them in one wait */
    uint64_t first_time;  /* when the interval of the first wait began */
    uint64_t last_time;   /* when the interval of the last wait ended */
};

_Static_assert(sizeof(struct dwell_wait_row) == 64, "the layout of a row of waits is fixed");

/* A thread has at most so many rows, and one of the rest. */
enum { DWELL_MAX_WAIT_ROWS = 2048 };

/* The word of an object's kind and role: role << 8 | kind. */
enum { DWELL_OBJECT_ROLE_SHIFT = 8, DWELL_OBJECT_KIND_MASK = 0xff };

#endif
