/*
 * What the parts of the runtime share: the block each recorded thread has, and the one of the process.
 *
 * Two kinds of memory hold them. What must be gone in a forked child lies in pages marked
 * MADV_WIPEONFORK, which the child finds zero, whatever system call made it: so it never writes to its
 * parent's chunks, and starts a recording of its own at its first probe. What the child goes on from,
 * the shadow stack above all, lies in ordinary private memory.
 */
#ifndef DWELL_RUNTIME_H
#define DWELL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "dwell/format.h"
#include "session.h"

#define DWELL_HIDDEN __attribute__((visibility("hidden")))
#define DWELL_EXPORT __attribute__((visibility("default")))
#define DWELL_COLD __attribute__((cold, noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#pragma GCC visibility push(hidden)

enum {
    ENTER_BYTES = 6, /* a word and 32 bits of address */
    EXIT_BYTES = 2,
    PAGE = 4096,
};

/*
 * A shadow stack entry. `stack_pointer` is that of the enter probe itself, at its first instruction. `site` tells
 * entries of one stack pointer apart: in its upper half are the low bits of where the frame returns to, the same
 * for a function and all that is inlined in it; in its lower half those of where the probe returns to.
 */
struct call {
    uint64_t function;
    uint64_t stack_pointer;
    uint64_t enter_time;
    uint64_t site;
    uint64_t place; /* where call sites are recorded: call_place() of sites.h */
    union {
        struct dwell_tree_node
            *node;          /* in mode profile, unless it was entered in a pause; the caller's: it is hidden */
        struct {            /* in the others, where there are filters: */
            uint32_t kind;  /* enum call_kind */
            uint32_t shown; /* how many calls up to this one are not hidden */
        };
    };
};

enum call_kind { CALL_SHOWN, CALL_HIDDEN, CALL_WAITING };

static inline uint64_t call_site_of(uint64_t frame_return, uint64_t probe_return)
{
    return frame_return << 32 | (uint32_t)probe_return;
}

/*
 * Whether the innermost open call was left without its exit, as an enter shows: the machine's stack has been cut
 * back above its frame; or another frame stands in its place; or its own probe comes once more in the same frame.
 */
static inline bool call_was_left(const struct call *call, uint64_t stack_pointer, uint64_t site)
{
    if (__builtin_expect(stack_pointer != call->stack_pointer, 1))
        return stack_pointer > call->stack_pointer;
    const uint64_t difference = call->site ^ site;
    return difference >> 32 || !difference;
}

/* Which probe is to be taken by those that do not pass the limit. */
enum gate {
    GATE_SLOW = 0,       /* slow.c */
    GATE_QUIET = 1,      /* quiet.c: the thread is paused */
    GATE_TREE = 2,       /* tree.c: the mode is profile */
    GATE_FILTER = 3,     /* filter.c: there are filters, and the mode is another */
    GATE_SITES = 4,      /* sites.c: call sites are recorded, and there are no filters; */
    GATE_TREE_SITES = 5, /* the same as above with call sites */
    GATE_QUIET_SITES = 6,
};

/* The part of a thread's block that a forked child finds zero. */
struct thread_wiped {
    uint32_t limit; /* a probe whose position is above it takes the way of `gate`; zero: every probe */
    uint32_t gate;
    uint32_t alive; /* zero: this is a forked child, which has not recorded yet */
};

enum { LEFT_CHUNKS = 8, POOL_SLOTS = 16, REST_SLOTS = 16, RETIRED_SLOTS = 64, HELD_SLOTS = 64 };

/* A piece of the session file in memory, with a chunk header at its start. */
struct area {
    char *at;
    uint32_t size;
};

/* One of the places where recording is switched on and off: on while started, and not suspended. */
struct switches {
    uint32_t stopped;
    int32_t suspended;
};

/*
 * A thread's block. `state` holds two numbers, so that one instruction claims both the room for a record
 * and the shadow stack's entry: in the low half the position (the next record goes to base + position),
 * in the high half the depth of the shadow stack in bytes. Positions grow from chunk to chunk, so that
 * no value of `state` comes back soon: a probe that was interrupted by a signal handler finds at its
 * claim that it has changed, and starts over.
 */
enum { KEPT_WORDS = 96 };

/* A stack that a thread can be on, and its shadow stack while none is. */
struct stack {
    uint64_t low, high; /* where it lies; zeros: not known */
    char *calls;
    uint32_t size, depth; /* bytes */
    uint32_t number;      /* in the process; zero: a thread's own */
    uint32_t tree_of;     /* mode profile: the thread (serial) in whose tree the calls' nodes are */
    uint64_t aside_at;    /* when it was put aside */
    struct stack *next;   /* in the list of those not used */
};

/* How often the kernel took a thread from its CPU: as it waited, or though it could have run. */
struct switch_counts {
    uint64_t waits, preemptions;
};

struct ring { /* a list of chunks */
    struct dwell_chunk_header *first, *last;
    uint64_t bytes;
};

struct thread {
    struct thread_wiped *wiped;
    uint64_t state;
    uint64_t last; /* time of the thread's last event, or earlier; never later */
    char *base;
    char *stack;                      /* shadow stack; its first entry is a sentinel above all stack pointers */
    const volatile uint64_t *os_word; /* not `os_seen`: the OS worked since the last event */
    uint64_t os_seen;
    uint32_t upper[2];              /* upper halves of addresses that an enter's word can name */
    uint64_t stack_low, stack_span; /* where the machine's stack is that the shadow stack belongs to */
    /* From here on: used by the slow path alone. */
    uint32_t end;        /* position behind the chunk's last byte */
    uint32_t stack_size; /* bytes */
    uint32_t serial;     /* number in the session */
    uint32_t tid;
    uint32_t chunks;             /* how many this thread has begun */
    uint32_t stopped;            /* nothing more can be recorded: events are counted as lost */
    uint32_t modules_stale;      /* this thread loaded or unloaded a library */
    uint32_t keep_from_loader;   /* it is inside dlclose or fork */
    uint64_t loading_return;     /* it may be inside dlopen: as long as this is in that place of its stack */
    uint64_t modules_wait_again; /* before that monotonic time it is not waited for the module list's lock */
    const volatile uint64_t *loading_slot;
    uint32_t attend;       /* another thread has changed this one's switches */
    uint32_t seen_changes; /* of process.changes */
    struct switches switches;
    uint32_t paused;         /* what happens is not recorded, but the shadow stack is kept */
    uint32_t quiet_position; /* while not paused: the first position for the next pause */
    uint32_t loud_position;  /* while paused: the position at which recording goes on */
    uint32_t paused_depth;   /* while paused: depth (bytes) at its beginning, */
    uint32_t kept_depth;     /* and the lowest since: what lies below is as it was */
    uint64_t paused_at;
    uint32_t ignored_depth; /* not zero: paused until the stack is that deep again, because of a filter */
    uint32_t inner_limit;   /* filters, call sites: the limit that wiped->limit would be */
    uint32_t left_untold;   /* filters: calls left without an exit that the file has not been told of, */
    uint32_t kept_words;    /* and what the OS did: so many words of `kept` */
    uint16_t kept[KEPT_WORDS];
    struct dwell_chunk_header *chunk;
    struct area left[LEFT_CHUNKS]; /* its last ones; see forked.c */
    uint32_t next_upper;           /* which of `upper` is replaced next */
    uint32_t key_passes;           /* how often libc has told that the thread ends */
    uint32_t os_source;
    int os_syscalls;  /* perf: a descriptor in the helper's table */
    uint64_t os_tail; /* perf: how far the ring has been read */
    void *os_ring;
    uint64_t os_unknown;                /* rseq: how often another user's pointer was found */
    uint64_t switches_told;             /* in the records */
    struct switch_counts switches_seen; /* in the ring, recorded or not, */
    uint64_t away_seen;                 /* and how many ticks these took */
    bool life_known; /* of the time when the thread began to be recorded, what the kernel had counted: */
    struct switch_counts switches_before;
    uint64_t cpu_before, monotonic_before; /* nanoseconds */
    struct stack *on;                      /* the stack that the thread runs on: */
    struct stack own; /* its own, or another. What is in use is in the members above, and here while it is put aside */
    struct tree_table *tree_table;         /* mode profile: its nodes; */
    struct dwell_tree_head *tree_head;     /* NULL: no tree yet */
    struct dwell_tree_node *tree_root;     /* a node of no function, which is not in the file */
    struct dwell_chunk_header *tree_chunk; /* the last one, */
    char *tree_next;                       /* its next free node */
    uint32_t tree_nodes;
    uint64_t tree_own, tree_own_since; /* what the runtime took of the interval that began then */
    uint32_t seen_unloads;             /* of process.unloads */
    uint32_t seen_stacks;              /* of process.stacks_known */
    char name[16];
    uint32_t named;                  /* by the program, for good */
    struct ring ring;                /* mode ring: its finished chunks */
    struct dwell_chunk_header *said; /* trace events: the chunk they go to, */
    uint32_t said_used, said_chunks; /* how much of it is used, and how many there were with it; */
    uint64_t said_last;              /* time of the last one; */
    struct ring said_ring;           /* mode ring: the finished ones */
    struct thread *next, *previous;  /* in the process' list of live threads */
};

_Static_assert(sizeof(struct thread) <= PAGE, "a thread's block is one page");

/* The process was switched on or off. */
struct change {
    uint64_t time;
    uint32_t on;
};

enum { CHANGES = 64 };

/* What the process' threads share; wiped in a forked child. */
struct process {
    uint32_t initialized;
    uint32_t lock;
    uint32_t serial;
    uint32_t pid;
    uint32_t stopped; /* recording ended for want of space, memory or file */
    uint32_t metadata_used, metadata_count;
    struct dwell_chunk_header *metadata;
    struct thread *threads;
    struct thread *spare;     /* blocks of ended threads, to be used again */
    uint32_t unloads;         /* how often the module map lost something */
    uint64_t modules_loads;   /* how often libraries were loaded, */
    uint64_t modules_unloads; /* how often libraries were unloaded, when last looked at */
    struct module *modules;
    uint32_t modules_count, modules_room;
    uint32_t modules_serial;
    uint32_t modules_lock;
    uint32_t stacks_lock;
    uint32_t stacks_known; /* how often the known places of stacks changed */

    uint32_t changes;              /* how often it was switched on or off */
    struct change change[CHANGES]; /* the last ones, at [number % CHANGES] */
    uint32_t named;                /* by the program */
    uint32_t dump_wanted;          /* by a signal */
    struct dwell_control *control; /* NULL: takes no commands from outside */

    uint32_t os_overflow;      /* a thread's ring of OS events was full: enum os_overflow */
    uint64_t monitor_interval; /* nanoseconds; zero: no samples of CPU and memory are wanted */
    uint64_t monitor_next;     /* when the next is due */
    struct dwell_chunk_header *monitor_chunk;
    uint32_t monitor_used;

    uint32_t helper_tid;   /* zero: chunks are prepared by the threads themselves */
    uint32_t *helper_work; /* changes whenever there is something for the helper to do: in `control`, or here: */
    uint32_t own_work;
    uint32_t helper_sleeps;
    uint32_t request_lock; /* one request at a time */
    char *helper_stack;
    int helper_fd;         /* the session, in the helper's own table */
    uint32_t helper_stop;  /* it is to end */
    uint32_t request_size; /* a chunk asked for from the helper, or REQUEST_... */
    uint32_t request_tid;  /* whose ring */
    int request_fd;        /* to be closed, or in the answer */
    uint32_t request_done; /* changes when the answer is there */
    struct area answer;
    uint32_t pool_target;         /* how many chunks the helper keeps ready */
    char *pool[POOL_SLOTS];       /* prepared chunks; their headers tell the size */
    char *rests[REST_SLOTS];      /* what was not used of chunks, smaller ones */
    char *retired[RETIRED_SLOTS]; /* finished chunks, to be unmapped */
    char *held[HELD_SLOTS];       /* the helper's: finished, but with a record still to be stored */
    struct ring ended;            /* mode ring: chunks of threads that ended, */
    struct ring said_ended;       /* and those of their trace events */
    uint32_t said_lock;
};

struct text {
    const void *at;
    size_t length;
};

/* What outlives a fork. */
struct runtime {
    struct process *process; /* NULL: not set up yet */
    struct session session;
    enum dwell_clock clock;
    bool ordered; /* the clock is read behind a fence */
    enum dwell_mode mode;
    bool off;                 /* nothing is to be recorded in this process and its children, */
    bool lossy;               /* but should be: its events are counted as lost */
    uint32_t key_valid;       /* thread_key can be used */
    unsigned thread_key;      /* pthread key whose destructor tells that a thread ends */
    struct switches switches; /* the process level's */
    bool filtered;            /* there are filters (filter.c): */
    bool filter_only, filter_starts;
    uint32_t filter_depth;
    uint64_t filter_shortest;
    bool closed;                      /* switched off for good */
    bool on;                          /* what the global and the process level say together */
    uint64_t forked_at;               /* time of the last fork, read in the child, */
    uint32_t forked_pid, forked_from; /* which is this process, and its parent that one */
    uint32_t syscalls_id; /* the kernel's number of the event that tells of system calls; zero: they are not watched */
    bool syscalls_wanted;
    bool os_calls;      /* calls of the OS are rows (oscalls.c) */
    bool call_sites;    /* are recorded */
    uint32_t os_wanted; /* bit a source of OS events that may be used, 1 << enum dwell_os_source */
    char path[4096];    /* of the session file */
};

extern struct runtime runtime;

/* The calling thread's block; NULL before its first event and after its end. */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/* The stores of a record: volatile, so that they come in program order. A reader after a kill then finds an
 * enter's word without its address, but never an address without its word. */
typedef uint16_t __attribute__((may_alias)) record_word;
typedef uint32_t __attribute__((may_alias, aligned(2))) record_address;

static inline void store_word(char *at, uint32_t word)
{
    *(volatile record_word *)at = (uint16_t)word;
}

static inline void store_address(char *at, uint64_t function)
{
    *(volatile record_address *)at = (uint32_t)function;
}

static inline struct call *thread_call(const struct thread *t, uint64_t state)
{
    return (struct call *)(t->stack + (state >> 32));
}

/*
 * The state, loaded before all that belongs to it (base, chunk, stack), as a handler that comes in between changes them
 * together: whoever has loaded them after the state and before a claim that succeeds has them as they were.
 */
static inline uint64_t thread_state(const struct thread *t)
{
    uint64_t state = *(const volatile uint64_t *)&t->state;
    __asm__ volatile("" ::: "memory");
    return state;
}

/* Sets the state to `wanted` if it still is `expected`; not atomic against other threads, but against signal handlers
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

/* The probes, as the runtime itself calls them. */
void probe_enter(void *function, void *call_site);
void probe_exit(void *function, void *call_site);

/* What a probe tells. */
struct event {
    uint64_t function;
    uint64_t stack_pointer;
    uint64_t site;                       /* of an enter */
    uint64_t frame_return, probe_return; /* the same, where call sites are recorded */
    bool enter;
    bool tail_call;
    bool flagged; /* an exit: the OS worked, whether its source has seen it or not */
};

/* slow.c: an event that is not of the usual kind. Any thread, any time, in signal handlers too. */
DWELL_COLD void slow_enter(uint64_t function, uint64_t stack_pointer, uint64_t site);
DWELL_COLD void slow_enter_from(uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                                uint64_t probe_return);
DWELL_COLD void slow_exit(uint64_t function, uint64_t stack_pointer, bool tail_call);
/* How many calls were left without an exit before this event; -1: its enter was not seen. */
int64_t slow_left_before(const struct thread *t, uint64_t state, const struct event *event);
/* Appends a control event, as docs/format.md has them: so many words behind its time, so many calls before it that are
 * found open, the uppermost of the shadow stack. `ended` calls are not open any more. Signals are held back. */
struct control_event {
    enum dwell_extension type;
    uint64_t time;
    const uint16_t *words;
    int count;
    uint32_t opened, ended;
};
enum { MAX_OPENED = 16 };
uint32_t slow_control_bytes(const struct control_event *event);
void slow_control(struct thread *t, const struct control_event *event);
/* For filter.c, with signals held back: an enter or exit of a call, which may lie above the stack, with what is kept in
 * the thread for it; and keeping what the OS did. */
void slow_emit(struct thread *t, uint64_t time, const struct call *call, bool enter);
void slow_keep_os_events(struct thread *t);
/* An event that has been claimed has so many bytes of extensions, and tells of so many calls that were left. */
void slow_tell_counts(struct dwell_chunk_header *chunk, uint32_t extension_bytes, uint32_t left);
void slow_keep_flag(struct thread *t); /* the OS worked, if nothing tells of it yet */
/* Frames that lie below that stack pointer have been left; the thread's next event tells of it. */
void slow_leave_below(struct thread *t, uint64_t stack_pointer);
/* The end of a call of the OS (oscalls.c). */
void slow_exit_flagged(uint64_t function, uint64_t stack_pointer);
void slow_lose(void); /* counts an event that is not recorded */

/* quiet.c: the probes of a paused thread keep its shadow stack, and nothing else. quiet_slow is for the events that
 * are unusual there, and is to be called again with signals held back if it returns false. */
void quiet_enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t site);
void quiet_enter_from(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                      uint64_t probe_return);
void quiet_exit(struct thread *t, uint64_t function, uint64_t stack_pointer, bool tail_call);
bool quiet_slow(struct thread *t, const struct event *event, bool guarded);
void quiet_begin(struct thread *t, uint64_t time); /* signals are held back in both */
void quiet_end(struct thread *t, uint64_t time);

/* calibrate.c: measures what probes take in this process, and says it in the session: before the first event, and when
 * the process ends, as something else may have kept the machine busy. */
void calibrate(void);
void calibrate_again(void);

/* tree.c: the mode profile. tree_enter and tree_exit are its probes for usual events, tree_record for others: `begin`
 * is when the probe came to know that it is one; zero: not known. */
void tree_enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t site);
void tree_enter_from(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                     uint64_t probe_return);
void tree_exit(struct thread *t, uint64_t function, uint64_t stack_pointer, bool tail_call);
void tree_record(struct thread *t, const struct event *event, uint64_t begin);
bool tree_exit_flagged(struct thread *t, uint64_t function,
                       uint64_t stack_pointer);   /* false: it is not a usual event */
void tree_pause(struct thread *t, uint64_t time); /* signals are held back from here on */
void tree_resume(struct thread *t, uint64_t time);
void tree_end(struct thread *t);
bool tree_know(struct thread *t, const struct dwell_tree_node *parent, struct dwell_tree_node *node, uint64_t function);
void tree_forget(struct thread *t);                                     /* what tree_know has made */
uint64_t tree_leave_stack(struct thread *t, uint64_t time);             /* before the shadow stack is changed, */
void tree_take_stack(struct thread *t, uint64_t time, bool other_tree); /* and behind it */

/* stacks.c: stacks other than a thread's own. stacks_find makes sure that the shadow stack is that of the stack which
 * the stack pointer lies on. The next two are told by interpose.c. */
void stacks_begin_thread(struct thread *t);
void stacks_find(struct thread *t, uint64_t stack_pointer);
bool stacks_is_handlers(
    uint64_t stack_pointer); /* it lies on the alternate stack of signal handlers, which is in use */
struct ucontext_t;
void stacks_context_made(const struct ucontext_t *context);
void stacks_context_chosen(const struct ucontext_t *context); /* the thread will run in it */

/* filter.c. filter_begin reads the filters; filter_module finds what they say of a module (zero: nothing), and
 * filter_use_modules is told which of these are loaded, and where. */
struct filter_use {
    uint64_t bias;
    uint32_t module;
};
void filter_begin(int fd);
uint32_t filter_module(struct text build_id, struct text path);
void filter_use_modules(const struct filter_use *uses, uint32_t count);
uint32_t filter_action(uint64_t function);
void filter_enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                  uint64_t probe_return);
void filter_exit(struct thread *t, uint64_t function, uint64_t stack_pointer, bool tail_call);
void filter_record(struct thread *t, const struct event *event);
bool filter_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer); /* as tree_exit_flagged */
void filter_trigger(const struct event *event);
void filter_ignore(struct thread *t, uint32_t depth, uint64_t now); /* signals are held back from here on */
uint32_t filter_shown_depth(const struct thread *t);
void filter_flush(struct thread *t); /* writes the enters that wait */

/* control.c: switching on and off. control_attend brings the calling thread to what was asked for, and is to be
 * called when control_pending says so. */
bool control_pending(const struct thread *t);
void control_attend(struct thread *t);
/* Counts something that all threads have to look at before their next event; signals are held back. */
void control_tell(uint32_t *count);
void control_begin_thread(struct thread *t, bool forked);
void control_begin_process(int fd);
void control_trigger(bool on);                         /* by a filter */
void control_dump_on_signal(void);                     /* if the user has asked for that */
void control_look_again(struct thread *t);             /* after what made the thread pause by itself */
void control_take_commands(struct process *p, int fd); /* in the helper */

struct thread *control_thread(void); /* the calling thread, set up; NULL: nothing is recorded */

/* trace_events.c: dwell/event.h. said_settings takes DWELL_EVENTS; said_enable, in the helper, one more setting of the
 * kind: how many classes it means, or a negative errno value. Signals are held back in the others. */
void said_settings(void);
int said_enable(const char *setting);
void said_begin_thread(struct thread *t);
void said_end_thread(struct thread *t);

/* snapshot.c: a copy of the session, of which `fd` is a descriptor, as a file of its own; a negative errno value where
 * it cannot be made. */
int snapshot_write(int fd, const char *path);

/* thread.c. thread_begin sets up the calling thread (or returns NULL where nothing can be recorded);
 * thread_next_chunk gives it room for `bytes` more, or sets t->stopped; thread_give_up_chunk ends the chunk that it
 * has, and counts its events if the stack is as the file has it; thread_grow_stack makes room in the shadow stack, if
 * it has to, and returns whether there is. Signals are held back in the latter two. */
struct thread *thread_begin(void);
void thread_next_chunk(struct thread *t, uint32_t bytes);
void thread_give_up_chunk(struct thread *t, bool count);
bool thread_grow_stack(struct thread *t);
void thread_set_limit(struct thread *t);
/* The calling thread cannot be recorded at all; what this thread does from now on is lost. */
void thread_refuse(enum dwell_trouble trouble);
void thread_stop(struct thread *t);
void thread_stop_for(struct thread *t, enum dwell_trouble trouble);
/* No more probe of the calling thread reads the clock, or makes a system call. */
void thread_silence(void);
bool thread_is_silent(void);
void thread_note_end(const struct thread *t); /* as things stand now; the thread may go on */
void thread_key_ended(void *block);

/* forked.c: in a child, as soon as it can be known. */
void thread_forked(void);

/* process.c. process_begin sets up the process if it is not, and returns whether it records.
 * process_end notes how the process ends, and how its threads stand. */
bool process_begin(void);
void process_end(enum dwell_end how, int value);
void lock_take(uint32_t *lock);
void lock_release(uint32_t *lock);
void process_lock(void); /* never held while waiting for the helper, which takes it too */
void process_unlock(void);
void process_stop(void);

/* chunk.c: chunks of the session file. chunk_take returns one of about `size` bytes, and at least `least`,
 * with a header of kind DWELL_CHUNK_FREE, or {NULL, 0}; chunk_cut makes its first part a chunk of its own
 * and keeps the rest for others; chunk_retire gives up a finished one. */
struct area chunk_take(uint32_t least, uint32_t size);
void chunk_cut(struct area *area, uint32_t size);
void chunk_retire(struct dwell_chunk_header *chunk);
struct area chunk_prepare(int fd, uint32_t size);
void chunk_free(char *at); /* what it holds is to be forgotten, its place may be used again */
/* Whether a record of a finished chunk has been claimed, but not stored yet. */
bool chunk_has_holes(const struct dwell_chunk_header *chunk);

/* ring.c: the mode ring, in which threads use their oldest chunks again. ring_take returns one as chunk_take does;
 * ring_keep takes a finished one; ring_end_thread leaves the thread's chunks to the process. Signals are held back. */
uint32_t ring_chunk_size(void);
void ring_make_room(struct ring *ring, uint64_t size); /* by forgetting the oldest */
void ring_append(struct ring *ring, struct dwell_chunk_header *chunk);
struct dwell_chunk_header *ring_take_first(struct ring *ring);
struct area ring_take(struct thread *t, uint32_t least, uint32_t size);
void ring_keep(struct thread *t, struct dwell_chunk_header *chunk);
void ring_end_thread(struct thread *t);

/* helper.c */
void helper_start(int fd);
void helper_wake(void);
void helper_end(void);
bool helper_is_here(void); /* the caller is the helper thread */
struct area helper_ask(uint32_t size);
/* A ring of what the OS does on that thread, opened where the program cannot see its descriptor; false: there is no
 * helper to do it. */
bool helper_open_ring(uint32_t tid, void **ring, int *syscalls);
void helper_close(int fd); /* in its table */
/* Ends the helper, and returns a descriptor of the session for its successor; negative: there was none to end. */
int helper_pause(void);
void helper_resume(int fd);

/* monitor.c: samples of CPU and memory. The helper takes one when it is due: for how many milliseconds it may sleep
 * then; negative: for ever. */
void monitor_begin(void);
long monitor_tick(struct process *p, int fd);
void monitor_end(void);

/* metadata.c: appends a record; its strings follow as pairs of pointer and length. */
void metadata_append(const struct dwell_record *record, size_t size, const struct text *texts, int count);
void metadata_note(const char *text);
void metadata_thread_name(struct thread *t, const char *name);                      /* as the system has it */
void metadata_name_thread(const struct thread *t, const char *name, size_t length); /* as the program has it */

/* modules.c. modules_changed: this thread has loaded or unloaded a library, or is about to. Where
 * interpose.c is not part of the program (libdwell.a), nobody tells: each new chunk looks. */
extern const int dwell_interposed __attribute__((weak));
void modules_changed(void);
void modules_loading(const volatile uint64_t *slot); /* dlopen is about to be entered; where its return address lies */
void modules_unloading(bool now);                    /* dlclose */
bool modules_is_loading(const struct thread *t, uint64_t stack_pointer);
void modules_begin(void);                  /* the process' first look; in a forked child, without the loader */
bool modules_is_program(uint64_t address); /* of the executable */
/* Loading: the caller is inside dlopen. False: not all could be looked at, try again later; but the module that holds
 * `function`, which runs, is known. */
bool modules_update(bool loading, uint64_t function);

#pragma GCC visibility pop

#endif
