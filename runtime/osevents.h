/* What the operating system did on a thread: osevents.c, and switches.c, which knows what the kernel counts of it. */
#ifndef DWELL_OSEVENTS_H
#define DWELL_OSEVENTS_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

enum { OS_MAX_WORDS = 80 };
struct os_events {
    bool flagged;
    bool away_preempted;
    uint32_t page_faults;
    struct switch_counts switches;
    uint64_t blocked, preempted; /* ticks */
    uint64_t away_since;         /* not zero: it has not come back to the CPU */
    int length;                  /* of words */
    uint16_t words[OS_MAX_WORDS];
};
/* Of that thread, zero: of the calling one. *syscalls: a descriptor that is to stay open as long as its system calls
 * are to be in the ring; OS_NOTHING: there is none. NULL: they need not be. */
enum { OS_NOTHING = -1 };
void *os_open_ring(uint32_t tid, int *syscalls);
extern const size_t os_ring_size;
bool os_watch_syscalls(void); /* as well; false: this user may not */
void os_open(struct thread *t);
void os_close(struct thread *t);
/* What the OS did since the last call, as extension records; the caller claims it by os_commit. Of another thread,
 * under the process' lock, it may be half of it. */
uint64_t os_read(const struct thread *t, struct os_events *events);
bool os_commit(struct thread *t, uint64_t head, const struct os_events *events);
void os_forget_own(struct thread *t); /* after system calls of the runtime's own */
uint64_t os_ticks(uint64_t ns);       /* of so many nanoseconds */
void os_skip(struct thread *t);       /* what happened until now is not to be recorded */

/* What was missed of a thread's OS events. */
enum os_overflow {
    OS_MADE_UP = 1, /* when its switches were, and page faults */
    OS_MISSED = 2,  /* how long they took, too */
};

/* switches.c: noting says what there was since the thread began; what was missed is that but for what was seen, and but
 * for `events`. False: it cannot be known. */
void switches_begin_thread(struct thread *t);
void switches_note(const struct thread *t);
bool switches_missed(const struct thread *t, const struct os_events *events, struct switch_counts *counts,
                     uint64_t *ticks);
static inline uint64_t switches_sum(const struct switch_counts *counts)
{
    return counts->waits + counts->preemptions;
}

#pragma GCC visibility pop

#endif
