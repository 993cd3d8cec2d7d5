/*
 * Holes: records that a probe has claimed and not stored, because a signal handler interrupted it in between. The
 * handler may return, and the probe stores its record later. Or the handler leaves by siglongjmp, and the probe never
 * does. A reader could not tell which record is missing, so the thread stores it itself. It stores what the probe would
 * store, so that it does no harm if the probe goes on.
 */
#ifndef DWELL_HOLES_H
#define DWELL_HOLES_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct thread;

enum { MAX_SLOW_RECORDS = 8, HOLES_LAST_BYTES = 4096 };

/* A record that the slow path is about to claim. Unlike that of a usual event, it may be of any size. */
struct slow_record {
    const char *base; /* the thread's. The chunk itself may be gone before the claim fails */
    uint32_t position, bytes;
    bool enter;
};

/* A zero word that a zero word follows, in a record that was stored: as in one that was not. */
enum holes_part { HOLES_BEFORE, HOLES_LAST, HOLES_PARTS };

/* In a thread's block. */
struct thread_holes {
    uint32_t slow_count;
    struct slow_record slow[MAX_SLOW_RECORDS]; /* by position; those after the count are unused */

    /* No record of the current chunk is missing before the position `checked`. There: */
    uint32_t checked;
    uint32_t depth;    /* number of open calls that the file knows of */
    uint32_t upper[2]; /* upper halves of addresses */
    uint64_t time;     /* of the last event, or earlier */

    /* The pairs of zero words that stored records have since: up to the position `last`, and from there to the chunk's
     * end. A search is needed only if there are more. */
    uint32_t zeros[HOLES_PARTS];
    uint32_t last;

    bool found; /* the current chunk had a hole: its events cannot be counted, and the probe may still store there */
};

/* Around claim and stores of the slow path. False if a record more has no room: then signals must be held back. */
static inline bool holes_begin_slow(struct thread_holes *h, struct slow_record record)
{
    const uint32_t count = h->slow_count;
    if (count == MAX_SLOW_RECORDS)
        return false;
    h->slow[count] = record;
    *(volatile uint32_t *)&h->slow_count = count + 1;
    __asm__ volatile("" ::: "memory");
    return true;
}

static inline void holes_end_slow(struct thread_holes *h, uint32_t count_before)
{
    __asm__ volatile("" ::: "memory");
    h->slow_count = count_before;
}

/* The record's words were stored at the position of the chunk with that base. Counts the zeros among them, so that they
 * do not look like a hole. For words whose numbers may have two zero words: those of the slow path, and objects. */
static inline void holes_note_zeros(struct thread_holes *h, uint32_t position, const uint16_t *words, int count)
{
    for (int i = 0; i + 1 < count; i++) {
        const uint32_t at = position + 2 * (uint32_t)i;
        if (UNLIKELY((words[i] | words[i + 1]) == 0) && at >= h->checked)
            __atomic_fetch_add(&h->zeros[at >= h->last], 1, __ATOMIC_RELAXED); /* a handler may do so as well */
    }
}

/*
 * Stores the missing records of the thread's current chunk. It is called before the calls of an abandoned probe leave
 * the shadow stack. If it cannot tell which records are missing, it gives the chunk up and returns false: the next one
 * names the calls that are open. On the calling thread, with signals held back.
 */
bool holes_fill(struct thread *t);

/*
 * A chunk ends: the same if a record is missing in its last HOLES_LAST_BYTES. A handler's calls may have ended the
 * chunk before the handler leaves, and holes_fill does not look back into it. To look at the whole chunk would cost
 * every program too much. Likewise.
 */
void holes_fill_last(struct thread *t);

/* A chunk begins, or a control event was appended: the file knows the thread's calls, time and upper halves. Likewise.
 */
void holes_skip(struct thread *t);

#pragma GCC visibility pop

#endif
