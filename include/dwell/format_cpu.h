/* The CPU time of processes in a session. Part of format.h. */
#ifndef DWELL_FORMAT_CPU_H
#define DWELL_FORMAT_CPU_H

#include "dwell/format.h"

/* CPU time of a process so far, as the kernel counts it for all of its threads. The process itself records it when its
 * recording begins and when it ends; a forked child begins with zeros. If it was killed, the recorder does so, which
 * gives the serial number, or zero and the pid. No strings. */
struct dwell_rec_process_cpu {
    struct dwell_record record;
    uint32_t process;
    uint32_t pid;
    uint64_t time;    /* ticks */
    uint64_t usage;   /* nanoseconds, by getrusage */
    uint64_t clock;   /* nanoseconds, by CLOCK_PROCESS_CPUTIME_ID */
    uint64_t runtime; /* the part of both that the runtime's own thread and the set-up of threads took. It grows in the
                         first record */
};

_Static_assert(sizeof(struct dwell_rec_process_cpu) == 48, "the layout of a process' CPU time is fixed");

#endif
