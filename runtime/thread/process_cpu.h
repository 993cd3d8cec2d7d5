/*
 * The CPU time of the process by the kernel's count, at the beginning and at the end of its recording: a reader
 * compares it with what was recorded.
 */
#ifndef DWELL_PROCESS_CPU_H
#define DWELL_PROCESS_CPU_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

/* In the process' block. */
struct process_cpu {
    struct dwell_rec_process_cpu *begin; /* the first record, in the session; NULL if there is none */
    uint64_t set_up;                     /* nanoseconds that it took to set up threads, and to end */
    uint64_t helpers;                    /* and the helper threads before the present one */
};

/* Appends the first record. `forked`: the process' time began with the fork. */
void process_cpu_begin(bool forked);

/* Appends the last record. Returns it, or NULL. Signals are held back. */
struct dwell_record *process_cpu_append_end(void);

/* In the helper, before it sleeps and when it ends. */
void process_cpu_note_helper(bool ends);

/* The work of the runtime between the two, for the calling thread or the process, is no work of the program. `begin`
 * comes from the first one. */
uint64_t process_cpu_set_up_begins(void);
void process_cpu_set_up_ends(uint64_t begin);

#pragma GCC visibility pop

#endif
