/* OS events that wait for the next record: of intervals that end at hidden calls. */
#ifndef DWELL_KEPT_H
#define DWELL_KEPT_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct extensions;

enum {
    KEPT_WORDS = 96,
    MAX_KEPT_WORDS = KEPT_WORDS + 4 + 3, /* in a record: with the flagged ticks, and the page faults */
};

/* In a thread's block. */
struct kept_events {
    bool any;
    uint32_t faults;            /* page faults */
    uint32_t length;            /* number of words in `words` */
    uint64_t ticks;             /* length of the parts of the interval in which the OS intervened */
    uint64_t own;               /* the runtime's own time in these parts */
    uint16_t words[KEPT_WORDS]; /* BLOCKED and PREEMPTED records */
};

/* OS events since a call was entered that waits, in the thread's shadow stack at `depth` (bytes). */
struct kept_waiting {
    uint32_t depth;
    struct kept_events events;
};

enum { MAX_KEPT_WAITING = PAGE / sizeof(struct kept_waiting) };

/* Adds what `from` has to `into`. */
void kept_merge(struct kept_events *into, const struct kept_events *from);

/* Adds the records that extensions_read_os_events has read. They belong to a part of the interval, of so many ticks, of
 * which the runtime took `own`. If the words are full, times off the CPU become longer instead of more. */
void kept_add(struct kept_events *k, const struct extensions *events, uint64_t ticks, uint64_t own);

/* Puts the records before an event and empties `k`. `interval`: the ticks between the last event and this one. */
void kept_put(struct kept_events *k, struct extensions *e, uint64_t interval);

#pragma GCC visibility pop

#endif
