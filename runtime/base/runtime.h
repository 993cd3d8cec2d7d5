/* The settings and the state of the recording that outlive a fork. */
#ifndef DWELL_RUNTIME_H
#define DWELL_RUNTIME_H

#include "activation.h"
#include "clock.h"
#include "common.h"
#include "dwell/format.h"
#include "osevents.h"
#include "session.h"

#pragma GCC visibility push(hidden)

struct process;
struct recorder;

struct runtime {
    struct process *process; /* NULL if it is not set up yet */
    struct session session;
    enum dwell_clock clock;
    uint64_t ticks_per_second; /* never zero, whatever another program does to the session file */
    bool ordered;              /* the clock is read behind a fence */
    enum dwell_mode mode;
    bool makes_room; /* mode ring: the oldest windows of kept calls make room for later ones (spare.h) */
    const struct recorder *recorder; /* of the mode */
    bool off;                        /* nothing is recorded in this process and its children */
    bool lossy;                      /* if off: the events are counted as lost */
    bool closed;                     /* switched off permanently */
    bool on;                         /* what the global and the process level say together */
    bool os_calls;                   /* calls of the OS are rows (oscalls.c), and what they wait for is recorded */
    bool acts;                       /* what ends waits of others is recorded */
    bool call_sites;                 /* are recorded */
    bool helper_is_wanted;           /* by the user */
    bool thread_key_valid;           /* thread_key can be used */
    unsigned thread_key;             /* pthread key whose destructor is called when a thread ends */
    struct activation activation;    /* of the process level */
    struct os_settings os;
    uint64_t fork_began;    /* when the parent made the last fork, in ticks: the child may get a processor much later */
    uint64_t forked_at;     /* when it ended in the child */
    uint64_t forked_cpu;    /* CPU time that the child's thread had used then, in nanoseconds */
    uint32_t forked_pid;    /* this process, if it was made by that fork */
    uint32_t forked_from;   /* the parent's serial number */
    uint32_t forked_thread; /* that of the thread that called fork; zero if it was not recorded */
    char path[4096];        /* of the session file */
};

extern struct runtime runtime;

#pragma GCC visibility pop

#endif
