/* The part of the session file's format about the objects that threads wait for. Included by format.h. */
#ifndef DWELL_FORMAT_OBJECTS_H
#define DWELL_FORMAT_OBJECTS_H

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
};

enum dwell_object_role {
    DWELL_ROLE_WAITED = 0, /* the call waited for the object */
    DWELL_ROLE_ACTED = 1,  /* the call may have ended waits of others for it */
};

/* The word of an object's kind and role: role << 8 | kind. */
enum { DWELL_OBJECT_ROLE_SHIFT = 8, DWELL_OBJECT_KIND_MASK = 0xff };

#endif
