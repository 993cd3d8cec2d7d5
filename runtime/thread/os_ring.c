/* Reads a thread's perf ring: its switches and page faults become extension records, in the order of their times. */
#include "os_ring.h"

#include <string.h>

#include "clock.h"
#include "osevents.h"
#include "process.h"
#include "runtime.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"

enum {
    LARGEST_RECORD = 64,
    TIME_WORDS = 3,
};

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
        bytes[i] = data[(at + i) % OS_RING_SIZE];
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

static void os_put_off_cpu(struct switch_state *s, struct os_events *e, bool preempted, uint64_t begin, uint64_t ticks)
{
    s->preempted = preempted;
    s->out_time = begin;
    if (ticks)
        os_put_switch(e, s, begin + ticks);
}

/* Moves the words from `first` on before all others. */
static void os_put_first(struct os_events *e, int first)
{
    uint16_t words[OS_MAX_WORDS];
    const int count = e->length - first;
    memcpy(words, e->words + first, (size_t)count * sizeof *words);
    memmove(e->words + count, e->words, (size_t)first * sizeof *words);
    memcpy(e->words, words, (size_t)count * sizeof *words);
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
    const struct switch_state kept = *s;
    const uint64_t preempted = switches_preempted(t, &missed, ticks), blocked = ticks - preempted;
    const int first = e->length;
    os_put_off_cpu(s, e, false, t->last, blocked);
    os_put_off_cpu(s, e, true, t->last + blocked, preempted);
    os_put_first(e, first);
    e->switches.waits += missed.waits;
    e->switches.preemptions += missed.preemptions;
    s->preempted = kept.preempted;
    s->out_time = kept.out_time;
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

uint64_t os_ring_read(const struct thread *t, uint64_t until, struct os_events *e)
{
    const struct perf_event_mmap_page *ring = t->os_source.ring;
    const char *data = (const char *)ring + PAGE;
    const uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail = t->os_source.tail;
    const bool full = head - tail > OS_RING_SIZE - LARGEST_RECORD;
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
