/*
 * The open calls of a process whose stack was set aside: no thread runs on it. Any thread can find them open later.
 * Then their enter time is later by the time that they were set aside.
 */
#ifndef DWELL_TRACE_SET_ASIDE_H
#define DWELL_TRACE_SET_ASIDE_H

#include "trace/timeline.h"

struct set_aside_call {
    struct timeline_call call;
    uint64_t age;         /* how long it had been open when it was set aside */
    uint32_t thread;      /* the thread that ran on its stack */
    uint32_t next_plus_1; /* the next in its bucket, or among the free entries */
};

struct set_aside {
    struct set_aside_call *calls;
    size_t count, room;
    uint32_t *buckets; /* 1 + index of the first entry; zero if there is none */
    size_t mask, used;
    uint32_t free_plus_1;
};

void set_aside_add(struct set_aside *list, const struct timeline_call *call, uint64_t time, uint32_t thread);

/* Removes the call that the frame describes at `time`. If several have the same function and age, it is the one added
 * last. Returns false if there is none. */
bool set_aside_remove(struct set_aside *list, const struct dwell_frame *frame, uint64_t time,
                      struct timeline_call *call);

/* Returns the next call after *at (zero at first), or NULL. The order is that of adding if no call was removed. */
const struct set_aside_call *set_aside_next(const struct set_aside *list, size_t *at);

void set_aside_free(struct set_aside *list);

#endif
