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
#include "osevents.h"
#include "perf_attr.h"
#include "perf_clock.h"
#include "process.h"
#include "rseq.h"
#include "runtime.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"

enum {
    RING_SIZE = OS_RING_PAGES * PAGE,
    LARGEST_RECORD = 64,
    TIME_WORDS = 3,
};

const size_t os_ring_size = PAGE + RING_SIZE;

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
    void *ring = sys_map_at_once(PAGE + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (syscalls)
        *syscalls = ring && runtime.os.syscalls_id ? os_add_syscalls(fd, tid) : OS_NOTHING;
    sys_close((int)fd); /* the mapping keeps the event alive */
    return ring;
}

/* One instant on both clocks. It converts the times of the ring's records to ticks. */
struct instant {
    uint64_t ticks, ns;
};

uint64_t os_ticks(uint64_t ns)
{
    const uint64_t rate = runtime.session.header->ticks_per_second, second = 1000000000;
    return ns / second * rate + ns % second * rate / second;
}

/* The kernel's own conversion (time_zero of perf_event_mmap_page) does not exist in virtual machines. */
static uint64_t os_time_to_ticks(struct instant *now, uint64_t ns)
{
    ns += (uint64_t)__atomic_load_n(&runtime.process->perf_clock.offset, __ATOMIC_RELAXED);
    if (runtime.clock == DWELL_CLOCK_MONOTONIC)
        return ns;
    if (!now->ticks)
        clock_pair(runtime.clock, &now->ticks, &now->ns);
    const uint64_t age = now->ns > ns ? now->ns - ns : 0;
    return now->ticks - os_ticks(age);
}

struct switch_state {
    struct instant now;
    int last[2]; /* 1 + the index of the last record of being blocked, and of being preempted; zero if there is none */
    uint64_t out_time;
    bool out, preempted;
    bool flagged;
};

/* The state at which the last read has ended. */
static struct switch_state os_begin_state(const struct thread *t)
{
    return (struct switch_state){ .out = t->os_source.cut != 0,
                                  .out_time = t->os_source.cut,
                                  .preempted = t->os_source.cut_preempted };
}

/* A sample of a system call: what follows its time. */
struct syscall_sample {
    uint32_t size;
    char data[8 + 8 + 6 * 8]; /* common to all events; number; arguments */
};

static void os_put_head(struct os_events *e, enum dwell_extension type, int words)
{
    e->words[e->length++] = (uint16_t)(type << DWELL_EXTENSION_LENGTH_BITS | words);
}

static void os_put_time(struct os_events *e, uint64_t value)
{
    for (int i = 0; i < TIME_WORDS; i++)
        e->words[e->length++] = (uint16_t)(value >> 16 * i);
}

enum { SWITCH_WORDS = 1 + 2 * TIME_WORDS, OTHER_WORDS = 3 /* page faults, and the flag alone */ };

/* Keeps room for a record of the other kind. */
static bool os_has_room_for_switch(const struct os_events *e, const struct switch_state *s)
{
    return e->length + SWITCH_WORDS + (s->last[!s->preempted] ? 0 : SWITCH_WORDS) + OTHER_WORDS <= OS_MAX_WORDS;
}

static void os_count_switch(struct os_events *e, bool preempted)
{
    *(preempted ? &e->switches.preemptions : &e->switches.waits) += 1;
}

/* If there is no more room, the last record of its kind grows, so that the sums stay true. */
static void os_put_switch(struct os_events *e, struct switch_state *s, uint64_t in_time)
{
    uint64_t duration = in_time > s->out_time ? in_time - s->out_time : 0;
    int *last = &s->last[s->preempted];
    *(s->preempted ? &e->preempted : &e->blocked) += duration;
    if (*last && !os_has_room_for_switch(e, s)) {
        uint16_t *words = e->words + *last + TIME_WORDS;
        for (int i = 0; i < TIME_WORDS; i++)
            duration += (uint64_t)words[i] << 16 * i;
        for (int i = 0; i < TIME_WORDS; i++)
            words[i] = (uint16_t)(duration >> 16 * i);
        return;
    }
    *last = e->length + 1;
    os_put_head(e, s->preempted ? DWELL_EXT_PREEMPTED : DWELL_EXT_BLOCKED, 2 * TIME_WORDS);
    os_put_time(e, s->out_time);
    os_put_time(e, duration);
}

static void os_copy_from_ring(const char *data, uint64_t at, void *to, size_t size)
{
    char *bytes = to;
    for (size_t i = 0; i < size; i++)
        bytes[i] = data[(at + i) % RING_SIZE];
}

static void os_take_record(const struct perf_event_header *head, uint64_t ns, struct switch_state *s,
                           struct os_events *e)
{
    if (head->type == PERF_RECORD_SAMPLE) {
        e->page_faults += head->size == sizeof *head + sizeof ns; /* others are of system calls */
    } else if (head->type == PERF_RECORD_SWITCH && head->misc & PERF_RECORD_MISC_SWITCH_OUT) {
        s->out = true;
        s->preempted = head->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        s->out_time = os_time_to_ticks(&s->now, ns);
    } else if (head->type == PERF_RECORD_SWITCH && s->out) {
        os_count_switch(e, s->preempted);
        os_put_switch(e, s, os_time_to_ticks(&s->now, ns));
        s->out = false;
    }
}

/* Whether the record is of a system call that the runtime itself made. */
static bool os_is_own(const char *data, uint64_t at, const struct perf_event_header *head)
{
    struct syscall_sample sample;
    if (head->type != PERF_RECORD_SAMPLE || head->size < sizeof *head + sizeof(uint64_t) + sizeof sample)
        return false;
    os_copy_from_ring(data, at + sizeof *head + sizeof(uint64_t), &sample, sizeof sample);
    uint64_t sixth;
    memcpy(&sixth, sample.data + sizeof sample.data - sizeof sixth, sizeof sixth);
    return sixth == SYS_OWN;
}

static void os_note_overflow(enum os_overflow overflow)
{
    __atomic_fetch_or(&runtime.process->os_overflow, overflow, __ATOMIC_RELAXED);
}

/* The ring was full, and the kernel may have dropped records. The time off the CPU that is missing is counted as of
 * the kind that was missed more often, and as if it had passed last. */
static void os_make_up_missed(const struct thread *t, struct switch_state *s, struct os_events *e)
{
    struct switch_counts missed;
    uint64_t ticks;
    if (!switches_missed(t, e, &missed, &ticks)) {
        os_note_overflow(OS_MISSED);
        return;
    }
    if (!switches_sum(&missed))
        return;
    os_note_overflow(OS_MADE_UP);
    const uint64_t now = clock_now(runtime.clock);
    s->preempted = missed.preemptions > missed.waits;
    s->out_time = now > ticks ? now - ticks : 0;
    os_put_switch(e, s, now);
    e->switches.waits += missed.waits;
    e->switches.preemptions += missed.preemptions;
}

/* Puts time off the CPU before what the ring has. */
static void os_put_earlier(struct switch_state *s, struct os_events *e, bool preempted, uint64_t begin, uint64_t ticks)
{
    const struct switch_state kept = *s;
    s->preempted = preempted;
    s->out_time = begin;
    if (ticks)
        os_put_switch(e, s, begin + ticks);
    s->preempted = kept.preempted;
    s->out_time = kept.out_time;
}

/* A forked child ran, waited and was preempted before its ring was opened. Its CPU clock shows for how long it was off
 * the CPU: as if that had come first. */
static void os_make_up_since_fork(const struct thread *t, struct switch_state *s, struct os_events *e)
{
    struct switch_counts missed;
    uint64_t ticks;
    s->flagged = true;
    if (!switches_missed(t, e, &missed, &ticks))
        return;
    const uint64_t preempted = switches_preempted(t, &missed, ticks), blocked = ticks - preempted;
    os_put_earlier(s, e, false, t->last, blocked);
    os_put_earlier(s, e, true, t->last + blocked, preempted);
    e->switches.waits += missed.waits;
    e->switches.preemptions += missed.preemptions;
}

/* The thread was off the CPU at the end of what is read. The rest of that time is for the next read, which counts the
 * switch. */
static void os_cut(struct switch_state *s, struct os_events *e, uint64_t time)
{
    if (time > s->out_time) {
        os_put_switch(e, s, time);
        s->flagged = true;
    }
    e->cut = time > s->out_time ? time : s->out_time;
}

static uint64_t os_read_ring(const struct thread *t, uint64_t until, struct os_events *e)
{
    const struct perf_event_mmap_page *ring = t->os_source.ring;
    const char *data = (const char *)ring + PAGE;
    const uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail = t->os_source.tail;
    const bool full = head - tail > RING_SIZE - LARGEST_RECORD;
    struct switch_state state = os_begin_state(t);
    e->until = until != OS_NOW && !full && !t->os_source.forked;
    uint64_t at = tail;
    while (at < head) {
        struct { /* all records that are read end with their time */
            struct perf_event_header head;
            uint64_t time;
        } record;
        os_copy_from_ring(data, at, &record.head, sizeof record.head);
        if (record.head.size < sizeof record.head)
            break;
        os_copy_from_ring(data, at + record.head.size - sizeof record.time, &record.time, sizeof record.time);
        if (e->until && os_time_to_ticks(&state.now, record.time) > until)
            break;
        if (!os_is_own(data, at, &record.head)) {
            os_take_record(&record.head, record.time, &state, e);
            state.flagged = true;
        }
        at += record.head.size;
    }
    if (t->os_source.forked)
        os_make_up_since_fork(t, &state, e);
    else if (full)
        os_make_up_missed(t, &state, e);
    if (e->until && state.out)
        os_cut(&state, e, until);
    e->flagged = state.flagged;
    e->off_cpu_preempted = state.preempted;
    e->off_cpu_since = state.out ? state.out_time : 0;
    if (e->page_faults) {
        os_put_head(e, DWELL_EXT_FAULTS, 1);
        e->words[e->length++] = e->page_faults > UINT16_MAX ? UINT16_MAX : (uint16_t)e->page_faults;
    }
    return e->until ? at : head;
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
        sys_unmap(ring, PAGE + RING_SIZE);
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
        uint64_t head = os_read_ring(t, time, e);
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
        !events->until) {             /* a signal handler's probe has read them first, */
        if (t->os.seen > *t->os.word) /* or it has forked, and this is still the parent's count */
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
