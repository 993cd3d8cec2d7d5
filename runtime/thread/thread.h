/*
 * A thread's block: its part of the recording. Each module declares its members in its own header.
 *
 * Two kinds of memory hold it. What must be gone in a forked child lies in a page marked MADV_WIPEONFORK, which the
 * child finds zero after any system call that makes one. So the child never writes to its parent's chunks, and begins a
 * recording of its own at its first probe. What the child needs, above all the shadow stack, lies in ordinary private
 * memory.
 */
#ifndef DWELL_THREAD_H
#define DWELL_THREAD_H

#include "activation.h"
#include "call.h"
#include "call_tree.h"
#include "chunk.h"
#include "common.h"
#include "duration_counts.h"
#include "dwell/format.h"
#include "filter.h"
#include "holes.h"
#include "keep_calls.h"
#include "levels/counts.h"
#include "levels/level_check.h"
#include "modules.h"
#include "osevents.h"
#include "pause.h"
#include "ring.h"
#include "stacks.h"
#include "switches.h"
#include "trace_events.h"
#include "value_rows.h"
#include "value_sums.h"
#include "wait_sums.h"

#pragma GCC visibility push(hidden)

enum { SHADOW_FREE_CALLS = 64 /* entries of the shadow stack that the fast path leaves free */ };

/* The part of a thread's block that a forked child finds zero. Other threads set `limit` and `gate` to zero to make the
 * thread take the slow path at its next probe. */
struct thread_wiped {
    uint32_t limit; /* the fast path takes positions up to it; the others go to `gate` */
    uint32_t gate;  /* enum gate of probes.h */
    uint32_t alive; /* zero in a forked child that has not recorded yet */
    struct counts_directory counts;
};

_Static_assert(sizeof(struct thread_wiped) <= PAGE, "the part that forked children find zero is one page");

/*
 * `state` holds two numbers, so that one instruction claims both the room for a record and the shadow stack's entry.
 * The low half is the position: the next record goes to base + position. The high half is the depth of the shadow stack
 * in bytes. Positions grow from chunk to chunk, so that no value of `state` comes back soon: a probe that was
 * interrupted by a signal handler finds at its claim that the state has changed, and starts over.
 */
struct thread {
    /* The fast path uses these. */
    struct thread_wiped *wiped;
    uint64_t state;
    uint64_t last; /* time of the thread's last event, or earlier; never later */
    char *base;
    char *shadow; /* the shadow stack; its first entry is a sentinel above all stack pointers */
    struct os_watch os;
    uint32_t upper[2]; /* upper halves of addresses that an enter's word can name */
    struct stack_range stack;

    /* The slow path and the probes of other gates use these. */
    uint32_t shadow_size; /* bytes */
    uint32_t next_upper;  /* which of `upper` is replaced next */
    uint32_t serial;      /* number in the session; zero while calibrate.c uses the block */
    uint32_t tid;
    uint32_t stopped;    /* nothing more can be recorded: events are counted as lost */
    uint32_t key_passes; /* number of times that libc has called the key's destructor */
    char name[16];       /* as the system has it */
    uint32_t named;      /* the program has given it a name */
    struct thread_chunks chunks;
    struct thread_holes holes;
    struct thread_tree tree;
    struct thread_wait_rows wait_rows;
    struct thread_durations durations;
    struct thread_value_sums value_sums;
    struct thread_pause pause;
    struct thread_filter filter;
    struct thread_control control;
    struct thread_modules modules;
    struct thread_levels levels;
    struct thread_stacks stacks;
    struct os_source os_source;
    struct thread_switches switches;
    struct thread_trace_events trace_events;
    struct thread_counts counts;
    struct thread_keep keep;
    struct thread_activities activities;
    struct thread_values values;
    struct ring ring;               /* mode ring: finished events chunks */
    struct thread *next, *previous; /* in the process' list of live threads; of unused blocks, by `next` */
};

_Static_assert(sizeof(struct thread) <= PAGE, "a thread's block is one page");
_Static_assert(offsetof(struct thread, shadow_size) == 80, "the fast path's members fill the first 80 bytes");

/* The calling thread's block; NULL before its first event and after its end. */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

static inline struct call *thread_call(const struct thread *t, uint64_t state)
{
    return (struct call *)(t->shadow + (state >> 32));
}

/* The position of the next record, or the one at which a paused thread goes on. */
static inline uint32_t thread_position(const struct thread *t)
{
    return t->pause.active ? t->pause.resume_position : (uint32_t)t->state;
}

/* The state with another depth of the shadow stack, in bytes. */
static inline uint64_t thread_with_depth(uint64_t state, uint32_t depth)
{
    return (uint64_t)depth << 32 | (uint32_t)state;
}

/* The number of open calls. */
static inline uint32_t thread_calls(uint64_t state)
{
    return (uint32_t)((state >> 32) / sizeof(struct call)) - 1;
}

/*
 * The state, to be loaded before all that belongs to it (base, chunk, shadow stack), as a handler that comes in between
 * changes them together: if the claim succeeds, they are those of the loaded state.
 */
static inline uint64_t thread_state(const struct thread *t)
{
    uint64_t state = *(const volatile uint64_t *)&t->state;
    __asm__ volatile("" ::: "memory");
    return state;
}

/* Sets the state to `wanted` if it still is `expected`. Not atomic against other threads, but against signal handlers
 * on this one. The compiler moves no memory access over it. */
static inline bool thread_claim(struct thread *t, uint64_t expected, uint64_t wanted)
{
#if defined(__x86_64__)
    bool done;
    __asm__ volatile("cmpxchgq %[wanted], %[state]"
                     : "=@cce"(done), [state] "+m"(t->state), "+a"(expected)
                     : [wanted] "r"(wanted)
                     : "memory");
    return done;
#else
    __asm__ volatile("" ::: "memory");
    bool done = __atomic_compare_exchange_n(&t->state, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __asm__ volatile("" ::: "memory");
    return done;
#endif
}

/* While paused: the calls below the new depth are as they were at the pause's begin. Written before the claim: if that
 * fails, the probe tries again. */
static inline void pause_keep_below(struct thread *t, uint64_t state)
{
    if ((uint32_t)(state >> 32) < t->pause.kept_depth)
        t->pause.kept_depth = (uint32_t)(state >> 32);
}

/* Sets up the calling thread, or returns NULL if nothing can be recorded. The second does so only if needed. */
struct thread *thread_begin(void);
struct thread *thread_of_caller(void);

/* No more probe of the calling thread reads the clock or makes a system call. */
void thread_silence(void);

/* The calling thread ends without libc. */
void thread_leave(void);

/* Write the record of a thread's end as things stand now; the thread may go on. The first returns the record or NULL.
 * The second adds the kernel's counts. */
struct dwell_record *thread_append_end(const struct thread *t);
void thread_note_end(const struct thread *t);

/* The destructor of the pthread key. */
void thread_key_ended(void *block);

#pragma GCC visibility pop

#endif
