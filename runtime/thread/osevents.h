/*
 * What the operating system did on a thread: context switches and page faults.
 */
#ifndef DWELL_OSEVENTS_H
#define DWELL_OSEVENTS_H

#include "common.h"
#include "switches.h"

#pragma GCC visibility push(hidden)

struct thread;

/* In a thread's block, for the fast path: the operating system intervened since the last event if *word is not `seen`.
 */
struct os_watch {
    const volatile uint64_t *word;
    uint64_t seen;
};

/* In a thread's block. */
struct os_source {
    uint32_t kind; /* enum dwell_os_source */
    int syscalls;  /* perf: a descriptor in the helper's table, or OS_NOTHING */
    uint64_t tail; /* perf: how far the ring has been read, in bytes */
    bool forked; /* perf: the thread is that of a forked child, and what it did before the ring was opened is unread */
    bool cut_preempted;
    uint64_t cut; /* perf: if not zero: what was read ends then, in ticks, and the thread was off the CPU */
    void *ring;   /* perf: the mapping; else NULL */
};

/* What the user wants; outlives a fork. */
struct os_settings {
    uint32_t wanted;      /* bits 1 << enum dwell_os_source */
    bool syscalls_wanted; /* system calls are events, too */
    uint32_t syscalls_id; /* the kernel's number of that event; zero if they are not watched */
};

/* In the process' block: what perf_clock_offset has returned. */
struct process_perf_clock {
    uint32_t known;
    int64_t offset;
};

enum { OS_MAX_WORDS = 80, OS_NOTHING = -1 };

struct os_events {
    bool flagged;
    bool off_cpu_preempted;
    uint32_t page_faults;
    struct switch_counts switches;
    uint64_t blocked, preempted;  /* ticks */
    uint64_t off_cpu_since;       /* if not zero: it has been off the CPU since then, in ticks */
    bool until;                   /* they end at a time before now; */
    uint64_t cut;                 /* that time, if the thread was off the CPU then; else zero */
    int length;                   /* of `words` */
    uint16_t words[OS_MAX_WORDS]; /* extension records */
};

static inline void os_put_head(struct os_events *e, enum dwell_extension type, int words)
{
    e->words[e->length++] = (uint16_t)(type << DWELL_EXTENSION_LENGTH_BITS | words);
}

/* What was missed of a thread's OS events. */
enum os_overflow {
    OS_MADE_UP = 1, /* the times of its switches, and page faults */
    OS_MISSED = 2,  /* how long they took, too */
};

/* Opens and maps a perf ring of that thread, or of the calling one if zero; NULL if the kernel refuses. *syscalls
 * becomes a descriptor that must stay open as long as system calls are to be in the ring, or OS_NOTHING. `syscalls` may
 * be NULL. */
void *os_open_ring(uint32_t tid, int *syscalls);

/* Compares the process' clock with that of perf events. The first ring does so; afterwards it is needed only if the
 * process may have entered another time namespace. */
void os_compare_clocks(void);

/* Bytes of a ring's mapping. */
extern const size_t os_ring_size;

/* Watches system calls, too, from now on. False if this user may not. */
bool os_watch_syscalls(void);

/* Begin and end watching the calling thread. Signals are held back. `forked`: it is that of a forked child, whose time
 * off the CPU since the fork is the first thing to be read. */
void os_open(struct thread *t, bool forked);
void os_close(struct thread *t);

/* Reads what the OS did since the last os_commit. Of another thread, under the process' lock, it may be half of it.
 * Returns a number for os_commit. */
uint64_t os_read(const struct thread *t, struct os_events *events);

/* The same until that time in ticks, or OS_NOW. What came later is left for the next read; time off the CPU is divided.
 * A full ring is read whole. Signals are held back until os_commit if it is a time. */
#define OS_NOW UINT64_MAX
uint64_t os_read_until(const struct thread *t, uint64_t time, struct os_events *events);

/* How long the thread has been off its CPU while it was watched, as far as its source has the times, and how often it
 * waited. Unread records are included. For the calling thread, whose handlers may read meanwhile. */
struct off_cpu {
    uint64_t ticks, waits;
};
struct off_cpu os_off_cpu(const struct thread *t);

/* Discards that a thread without a ring was off its CPU since *t->os.word was `word`. */
void os_disregard(const struct thread *t, uint64_t word);

/* The caller takes over what os_read has returned. False if a handler's probe has taken it meanwhile. */
bool os_commit(struct thread *t, uint64_t head, const struct os_events *events);

/* Discards what the OS did until that time in ticks. Signals are held back. */
void os_skip(struct thread *t, uint64_t time);

/* Whether the OS has intervened since the last look. After the clock was read, it tells whether the time is too late
 * for the events that were read before. */
bool os_intervened(struct thread *t);

/* Discards system calls that the runtime itself has made, if there is nothing else. */
void os_forget_own(struct thread *t);

#pragma GCC visibility pop

#endif
