/*
 * A process' block: what its threads share. It lies in pages marked MADV_WIPEONFORK: a forked child finds it zero.
 */
#ifndef DWELL_PROCESS_H
#define DWELL_PROCESS_H

#include "activation.h"
#include "chunk.h"
#include "common.h"
#include "dwell/format.h"
#include "helper.h"
#include "keep_calls.h"
#include "levels/levels.h"
#include "loader.h"
#include "metadata_records.h"
#include "modules.h"
#include "monitor.h"
#include "osevents.h"
#include "process_cpu.h"
#include "retired.h"
#include "ring.h"
#include "spare.h"
#include "stacks.h"
#include "trace_events.h"

#pragma GCC visibility push(hidden)

struct thread;

enum { THREADS_BY_TID = 1024 };

/* Under the process' lock. */
struct process_threads {
    struct thread *live;
    struct thread *spare;                  /* blocks of ended threads, to be used again */
    struct thread *by_tid[THREADS_BY_TID]; /* live ones: the latest with that remainder */
};

struct process {
    uint32_t entering; /* not zero: a thread enters the session, or has entered it */
    uint32_t initialized;
    uint32_t lock;       /* never held while waiting for the helper, which takes it, too */
    uint32_t fault_lock; /* of the program's actions for guarded signals (fault_signals.c) */
    uint32_t serial;
    uint32_t pid;
    uint32_t stopped;     /* recording has ended: no space, memory or file */
    uint32_t named;       /* the program has given it a name */
    uint32_t os_overflow; /* a thread's ring of OS events was full: bits of enum os_overflow */
    struct process_perf_clock perf_clock;
    struct process_threads threads;
    struct process_metadata metadata;
    struct process_modules modules;
    struct process_loader loader;
    struct process_stacks stacks;
    struct process_control control;
    struct process_trace_events trace_events;
    struct process_levels levels;
    struct monitor monitor;
    struct process_cpu cpu;
    struct helper helper;
    struct chunk_pool pool;
    struct retired_chunks retired;
    struct process_spare spare;
    struct process_keep keep;
    struct ring ended_ring; /* mode ring: events chunks of threads that ended */
};

/* Sets up the process, if it is not, and returns whether it records. Any thread, with signals held back. */
bool process_begin(void);

/* The same before a call of the program after which it may not be possible, such as chroot. */
void process_begin_early(void);

/* Records how the process ends, and how its threads stand. Any thread, any time. */
void process_end(enum dwell_end how, int value);

/* Writes the record of the process' end alone, with signals held back. Returns it, or NULL. No more commands are
 * answered. */
struct dwell_record *process_append_end(enum dwell_end how, int value);

#pragma GCC visibility pop

#endif
