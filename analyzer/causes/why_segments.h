/*
 * Stretches of threads, which are read one by one, by all processors. A call of the function belongs to the stretch in
 * which it begins. A stretch's first chunk is the first one of its list at whose beginning no such call is open. The
 * stretch goes on to where the next one begins. So the division depends on the session alone.
 */
#ifndef DWELL_CAUSES_WHY_SEGMENTS_H
#define DWELL_CAUSES_WHY_SEGMENTS_H

#include "causes/why_scan.h"

struct why_segment {
    size_t first, end; /* places in the order of chunks */
    size_t thread_end; /* where the thread's chunks end */
    bool begins;       /* the thread's first one */
    bool from_start;   /* the thread is recorded from its beginning */

    /* What has been found. */
    struct why_cpus cpus; /* at its end */
    bool called;          /* the function was called */
    uint64_t call;        /* when first */
};

struct why_segments {
    uint32_t *order; /* chunks by thread */
    struct why_segment *list;
    size_t count, room;
};

struct why_segments why_segments_find(const struct session_file *file);
void why_segments_drop(struct why_segments *s);

/* Gives the samples their CPUs, and lists the threads' first calls, as all stretches have been read. */
void why_segments_join(const struct why_segments *s, const struct session_file *file, unsigned session,
                       struct why_found *found);

#endif
