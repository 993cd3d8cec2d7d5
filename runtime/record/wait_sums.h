/*
 * The waits of a thread in mode profile, summed by call path, object and holder, in rows of the session file
 * (docs/format.md, waits chunks). Signals are held back in all functions.
 */
#ifndef DWELL_WAIT_SUMS_H
#define DWELL_WAIT_SUMS_H

#include "common.h"
#include "dwell/format.h"
#include "row_chunks.h"

#pragma GCC visibility push(hidden)

struct object;
struct thread;

enum { FIRST_WAIT_SLOTS = 64 };

struct wait_slot {
    struct dwell_wait_row *row; /* NULL: not used */
    uint64_t holder_thread;     /* a serial number: tids are used again */
};

/* In a thread's block. */
struct thread_wait_rows {
    struct wait_slot *slots;    /* find the rows; NULL if there are none */
    uint32_t slot_count, taken; /* not more than half of the slots are taken */
    struct row_chunks rows;
    struct dwell_wait_row *rest; /* the waits that have no row of their own; NULL if there are none */
    struct wait_slot first[FIRST_WAIT_SLOTS];
};

/* An interval of a thread in which it was blocked. */
struct wait_interval {
    uint32_t node; /* number of the innermost call's node */
    uint64_t begin, end, blocked;
};

/* Adds a wait. `object` may be NULL. Does nothing if there is no room for a row. */
void wait_rows_add(struct thread *t, const struct wait_interval *interval, const struct object *object);

/* The thread's call tree begins, perhaps in a forked child: forgets the rows. */
void wait_rows_begin(struct thread *t);

/* Ends the thread's chunks of rows. */
void wait_rows_end(struct thread *t);

/* Finds what the holder of a lock has open: the serial number of its thread, and the number of its node. Zeros if the
 * thread is not recorded in this process. Signals need not be held back. */
void wait_rows_find_holder(struct object *object);

#pragma GCC visibility pop

#endif
