/*
 * A worker that follows the calls of one function in a stretch of a thread. There are two loops over the events:
 * why_call_times.c only finds how long calls took, why_call_rows.c adds up what they did. Only why_scan.c and these
 * include it.
 */
#ifndef DWELL_CAUSES_WHY_WORKER_H
#define DWELL_CAUSES_WHY_WORKER_H

#include <pthread.h>

#include "base/index.h"
#include "base/memory.h"
#include "causes/why_segments.h"
#include "profile/generations.h"
#include "profile/sampled_paths.h"
#include "trace/chunk_window.h"
#include "trace/stack.h"

/* The first rows of each worker are of the whole function. Each path has two rows that follow each other. */
enum { ROW_PROBE, ROW_RUNNABLE, COMMON_ROWS, PATH_CPU = 0, PATH_FAULT, PATH_ROWS };

/* What a row has of the open call. */
struct why_now {
    uint64_t ticks, count, charge;
    bool listed;
};

struct why_frame {
    uint64_t function; /* address */
    uint32_t row;      /* the first one of its path; PROFILE_NONE outside of the function */
    bool called;       /* it has made a call */
};

/* A stack sample of the open call. */
struct why_stack {
    uint32_t node;
    uint32_t period; /* ns */
    bool counting;
};

/* What the workers share. */
struct why_job {
    const struct why_plan *plan;
    const struct session_file *file;
    uint64_t sample_charge; /* 1/256 ticks: what a sample takes of its thread's time */
    bool *timed; /* by frame of the samples: all calls of its function are in the session; NULL without samples */
    struct why_segments segments;
    size_t next;
};

struct why_worker {
    struct why_job *job;
    void *context;
    struct why_found found;
    struct why_now *now; /* by row */
    size_t now_room;
    uint32_t *listed; /* the rows that have something */
    size_t listed_count, listed_room;
    uint32_t *first_rows; /* by node */
    size_t first_room;
    struct number_index *children;  /* (address and generation, the parent's first row) -> first row */
    struct number_index *functions; /* (address and generation) -> whether it is the function */
    struct number_index *wait_rows; /* (node, wait and kind) -> row */
    struct profile *known;          /* functions that were looked up */
    uint32_t root;                  /* of the paths */
    struct chunk_window window;
    struct why_frame *stack; /* the first loop has only the depth of what is above the function */
    size_t depth, room;
    size_t open;       /* depth of the stack with the outermost call of the function; zero if none is open */
    bool whole;        /* this call has been recorded as a whole so far */
    uint64_t begin;    /* when it began */
    uint64_t excluded; /* ticks since that are no part of it */
    size_t next_wait;
    struct sampled_paths sampled;      /* of the thread, from its last event on */
    struct why_stack *stacks;          /* of the open call */
    size_t stack_count, stack_room;    /* likewise */
    struct number_index *known_stacks; /* (node, counting) -> why_found.stacks */
    struct why_segment *segment;
    const struct trace_chunk *chunk; /* the last one that was read; NULL if none was */
    uint64_t last;                   /* when that chunk ended */
    uint32_t thread;                 /* serial number */
    const struct trace_process *process;
    struct why_cpus cpus;
    struct dwell_rec_probes probes;
    struct generations generations;
    pthread_t pthread;
};

/* ---- calls of the function: why_worker.c ---- */

/* Looks it up, and keeps the answer. */
bool why_look_up_function(struct why_worker *w, uint64_t address, uint64_t time, uint64_t key);

void why_begin_call(struct why_worker *w, uint64_t now, bool whole);
void why_end_call(struct why_worker *w, uint64_t now);

/* The call is forgotten; or it ends, or nothing is known of its end. */
void why_close(struct why_worker *w);
void why_lose(struct why_worker *w, uint64_t now);

uint32_t why_add_row(struct why_worker *w, uint32_t node, enum why_kind kind, uint32_t wait);

/* The row of the open call. */
STACK_INLINE struct why_now *why_touch(struct why_worker *w, uint32_t row)
{
    struct why_now *now = &w->now[row];
    if (__builtin_expect(!now->listed, 0)) {
        now->listed = true;
        GROW(w->listed, w->listed_count, w->listed_room);
        w->listed[w->listed_count++] = row;
    }
    return now;
}

/* The number of an address in the generation of that time. */
STACK_INLINE uint64_t why_key(struct why_worker *w, uint64_t address, uint64_t time)
{
    if (__builtin_expect(time >= w->generations.next_at || time < w->generations.begin_at, 0))
        generations_find(&w->generations, time);
    return generations_address(&w->generations, address);
}

STACK_INLINE bool why_is_function(struct why_worker *w, uint64_t address, uint64_t time, uint64_t key)
{
    const struct index_slot *slot = index_find(w->functions, key, 0);
    if (__builtin_expect(!slot->value_plus_1, 0))
        return why_look_up_function(w, address, time, key);
    return slot->value_plus_1 - 1;
}

STACK_INLINE struct why_frame *why_push_frame(struct why_worker *w, uint64_t address, uint32_t row)
{
    if (__builtin_expect(w->depth == w->room, 0))
        GROW(w->stack, w->depth, w->room);
    struct why_frame *frame = &w->stack[w->depth++];
    *frame = (struct why_frame){ .function = address, .row = row };
    return frame;
}

/* ---- stack samples: why_samples.c ---- */

/* The samples of the session, and which of their functions have all calls in it. */
void why_samples_begin(struct why_job *job);

/* Begins with those of the chunk. */
void why_samples_begin_chunk(struct why_worker *w, const struct trace_chunk *chunk);

/* Gives those before `end` to the path of this row. They are left out if it is PROFILE_NONE. */
void why_samples_take(struct why_worker *w, uint32_t row, uint64_t end);

/* The open call has ended, and is in that set. */
void why_samples_keep(struct why_worker *w, unsigned set);

/* ---- actions on events ---- */

/* At an unknown time in a pause. */
static inline void why_ended(struct why_worker *w, uint64_t now)
{
    if (w->depth-- == w->open)
        why_lose(w, now);
}

/* The call goes on later, perhaps on another thread. It is found open then, and not whole. */
static inline void why_set_aside(struct why_worker *w)
{
    w->depth = 0;
    why_close(w);
}

/* ---- the loops ---- */

/* Opens a call on top of the others, which was entered earlier. */
void why_times_open(struct why_worker *w, uint64_t address, uint64_t time);
void why_rows_open(struct why_worker *w, uint64_t address, uint64_t time);

void why_times_events(struct why_worker *w, struct stack_state *state, struct decoder *d);
void why_rows_events(struct why_worker *w, struct stack_state *state, struct decoder *d);

#endif
