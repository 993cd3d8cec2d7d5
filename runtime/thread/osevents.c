/*
 * What the operating system did on a thread: context switches and page faults. A probe sees by one load that it
 * intervened. The exact source is a perf event that the thread opens on itself; the kernel fills its ring. The other
 * source is rseq, whose pointer the kernel clears when it takes the CPU away. Neither needs privilege.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "clock.h"
#include "helper.h"
#include "os_ring.h"
#include "osevents.h"
#include "perf_attr.h"
#include "perf_clock.h"
#include "process.h"
#include "process_lock.h"
#include "rseq.h"
#include "runtime.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"

const size_t os_ring_size = PAGE + OS_RING_SIZE;

/* ---- perf ---- */

/* The number of the kernel's event for the start of a system call; zero if this user may not read it. */
static uint32_t os_find_syscalls_event(void)
{
    static const char *const places[] = { SYSCALLS_EVENT, SYSCALLS_EVENT_OLD };
    char text[16];
    for (int i = 0; i < 2; i++)
        if (sys_read_file(places[i], text, sizeof text) > 0)
            return (uint32_t)strtoul(text, NULL, 10);
    return 0;
}

static struct perf_event_attr os_syscalls_event(void)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof(struct perf_event_attr),
        .config = runtime.os.syscalls_id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        .use_clockid = 1, /* the same as its ring's owner */
        .clockid = runtime.clock == DWELL_CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW,
    };
}

bool os_watch_syscalls(void)
{
    runtime.os.syscalls_id = os_find_syscalls_event();
    struct perf_event_attr attr = os_syscalls_event();
    const long fd = runtime.os.syscalls_id ? SYS5(perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) : -1;
    if (fd < 0)
        runtime.os.syscalls_id = 0;
    else
        sys_close((int)fd);
    return runtime.os.syscalls_id != 0;
}

/* Opens another event of the thread that writes into the same ring. It lives as long as its descriptor. */
static int os_add_syscalls(long ring_fd, uint32_t tid)
{
    struct perf_event_attr attr = os_syscalls_event();
    const long fd = SYS5(perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return OS_NOTHING;
    if (SYS3(ioctl, fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) == 0)
        return (int)fd;
    sys_close((int)fd);
    return OS_NOTHING;
}

void os_compare_clocks(void)
{
    struct process_perf_clock *const c = &runtime.process->perf_clock;
    __atomic_store_n(&c->offset, perf_clock_offset(runtime.clock == DWELL_CLOCK_MONOTONIC), __ATOMIC_RELAXED);
    __atomic_store_n(&c->known, 1, __ATOMIC_RELEASE);
}

void *os_open_ring(uint32_t tid, int *syscalls)
{
    if (!__atomic_load_n(&runtime.process->perf_clock.known, __ATOMIC_ACQUIRE))
        os_compare_clocks();
    struct perf_event_attr attr = os_perf_attr(runtime.clock == DWELL_CLOCK_MONOTONIC);
    long fd = SYS5(perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *ring = sys_map_at_once(PAGE + OS_RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (syscalls)
        *syscalls = ring && runtime.os.syscalls_id ? os_add_syscalls(fd, tid) : OS_NOTHING;
    sys_close((int)fd); /* the mapping keeps the event alive */
    return ring;
}

/* ---- either ---- */

static bool os_is_wanted(enum dwell_os_source source)
{
    return runtime.os.wanted & 1u << source;
}

static bool os_open_perf(struct thread *t)
{
    void *at = NULL;
    t->os_source.syscalls = OS_NOTHING;
    if (os_is_wanted(DWELL_OS_PERF) && !helper_open_ring(t->tid, &at, &t->os_source.syscalls))
        at = os_open_ring(0, NULL);
    if (!at)
        return false;
    const struct perf_event_mmap_page *ring = at;
    t->os_source.ring = at;
    t->os_source.kind = t->os_source.syscalls != OS_NOTHING ? DWELL_OS_SYSCALLS : DWELL_OS_PERF;
    t->os.word = (const volatile uint64_t *)&ring->data_head;
    t->os_source.tail = t->os.seen = *t->os.word;
    t->os_source.cut = 0;
    return true;
}

static bool os_open_rseq(struct thread *t)
{
    volatile uint64_t *pointer = os_is_wanted(DWELL_OS_RSEQ) ? rseq_pointer() : NULL;
    if (!pointer || !rseq_works(pointer))
        return false;
    t->os_source.kind = DWELL_OS_RSEQ;
    t->os.word = pointer;
    t->os.seen = (uint64_t)&rseq_never;
    rseq_arm(pointer);
    return true;
}

void os_open(struct thread *t, bool forked)
{
    t->os_source.forked = false;
    if (!os_open_perf(t)) {
        os_open_rseq(t);
    } else if (forked) {
        t->os_source.forked = true;
        t->os.seen--; /* there is something to be read */
    }
}

/* The lock is taken, as another thread may be reading the ring. */
void os_close(struct thread *t)
{
    static const uint64_t nothing;
    const uint32_t source = t->os_source.kind;
    void *const ring = t->os_source.ring;
    if (source == DWELL_OS_RSEQ)
        *(volatile uint64_t *)t->os.word = 0;
    process_lock();
    t->os_source.ring = NULL;
    t->os_source.kind = DWELL_OS_NONE;
    t->os.word = &nothing;
    t->os.seen = 0;
    process_unlock();
    if (ring)
        sys_unmap(ring, PAGE + OS_RING_SIZE);
    if (source == DWELL_OS_SYSCALLS)
        helper_close(t->os_source.syscalls);
}

uint64_t os_read(const struct thread *t, struct os_events *e)
{
    return os_read_until(t, OS_NOW, e);
}

uint64_t os_read_until(const struct thread *t, uint64_t time, struct os_events *e)
{
    e->length = 0;
    e->page_faults = 0;
    e->switches = (struct switch_counts){ 0, 0 };
    e->blocked = e->preempted = 0;
    e->off_cpu_since = e->cut = 0;
    e->until = false;
    e->flagged = true;
    if (t->os_source.ring) {
        uint64_t head = os_ring_read(t, time, e);
        if (e->length == 0 && e->flagged)
            os_put_head(e, DWELL_EXT_OS, 0);
        return head;
    }
    uint64_t found = *t->os.word;
    e->flagged = found == 0;        /* else another user of rseq has set it: nothing is known of this interval */
    e->switches.waits = e->flagged; /* or something similar */
    if (e->flagged)
        os_put_head(e, DWELL_EXT_OS, 0);
    return found;
}

void os_disregard(const struct thread *t, uint64_t word)
{
    if (t->os_source.kind == DWELL_OS_RSEQ && word == (uint64_t)&rseq_never && *t->os.word == 0)
        rseq_arm((volatile uint64_t *)t->os.word);
}

struct off_cpu os_off_cpu(const struct thread *t)
{
    const volatile uint64_t *const seen = &t->switches.off_cpu_seen, *const waits = &t->switches.seen.waits;
    struct off_cpu off;
    uint64_t before;
    do {
        before = *seen;
        off = (struct off_cpu){ before, *waits };
        if (t->os_source.ring && *t->os.word != t->os.seen) {
            struct os_events events;
            os_read(t, &events);
            off.ticks += events.blocked + events.preempted;
            off.waits += events.switches.waits;
        }
    } while (*seen != before); /* a handler's probe has read them */
    return off;
}

bool os_commit(struct thread *t, uint64_t head, const struct os_events *events)
{
    if (!t->os_source.ring) {
        rseq_arm((volatile uint64_t *)t->os.word);
        return true;
    }
    struct perf_event_mmap_page *ring = t->os_source.ring;
    if (t->os.seen >= head && !t->os_source.forked &&
        !events->until) {             /* nothing new: perhaps a signal handler's probe has read them first */
        if (t->os.seen > *t->os.word) /* after its fork, it is still the parent's count */
            t->os_source.tail = t->os.seen = *t->os.word;
        return false;
    }
    t->switches.seen.waits += events->switches.waits;
    t->switches.seen.preemptions += events->switches.preemptions;
    t->switches.off_cpu_seen += events->blocked + events->preempted;
    t->os_source.tail = head;
    t->os_source.forked = false;
    t->os_source.cut = events->cut;
    t->os_source.cut_preempted = events->off_cpu_preempted;
    __atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
    t->os.seen = head;
    return true;
}

void os_skip(struct thread *t, uint64_t time)
{
    struct os_events events;
    if (*t->os.word != t->os.seen) {
        const uint64_t head = os_read_until(t, time, &events);
        os_commit(t, head, &events);
    }
}

bool os_intervened(struct thread *t)
{
    os_forget_own(t);
    return *t->os.word != t->os.seen;
}

/* Otherwise an event that makes system calls of its own would send the next one to the slow path, too. */
void os_forget_own(struct thread *t)
{
    if (t->os_source.kind != DWELL_OS_SYSCALLS || *t->os.word == t->os.seen)
        return;
    struct os_events events;
    const uint64_t head = os_read(t, &events);
    if (!events.flagged)
        os_commit(t, head, &events);
}
