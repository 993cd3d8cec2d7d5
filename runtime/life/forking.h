/*
 * What the runtime does around a fork. It learns of forks by its own functions (interpose.c), or by pthread_atfork
 * where nothing is interposed (libdwell.a). A child that was made otherwise finds its process' block wiped.
 */
#ifndef DWELL_FORKING_H
#define DWELL_FORKING_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* A fork, as the calling thread sees it before. */
struct forking {
    uint32_t process; /* its identifier */
    uint32_t thread;  /* serial number; zero if it is not recorded */
    bool recorded;    /* there is a process to tell */
    uint64_t time;    /* in ticks, if it is recorded */
};

/* The calling thread is about to fork. It may be in a signal handler. */
struct forking fork_begins(void);

/* It has forked, or could not. `child`: this is the child. */
void fork_ends(const struct forking *f, bool child);

/* Learns of forks if nothing is interposed. Forked children need not call it. */
void fork_watch(void);

#pragma GCC visibility pop

#endif
