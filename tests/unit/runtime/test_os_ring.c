/* What a thread's perf ring becomes: extension records in the order of their times. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/format.h"
#include "os_ring.h"
#include "osevents.h"
#include "switches.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_os_ring);

/* ---- instead of other files ---- */

static struct {
    struct switch_counts counts;
    uint64_t ticks, preempted;
} missed;

bool switches_missed(const struct thread *t, const struct os_events *events, struct switch_counts *counts,
                     uint64_t *ticks)
{
    (void)t, (void)events;
    *counts = missed.counts;
    *ticks = missed.ticks;
    return true;
}

uint64_t switches_preempted(const struct thread *t, const struct switch_counts *counts, uint64_t ticks)
{
    (void)t, (void)counts, (void)ticks;
    return missed.preempted;
}

/* ---- a ring ---- */

enum { IN = 0, OUT = PERF_RECORD_MISC_SWITCH_OUT, TAKEN = OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT };

static struct thread *ring_thread(void)
{
    struct thread *t = runtime_block();
    runtime.clock = DWELL_CLOCK_MONOTONIC; /* ticks are nanoseconds, as the records have them */
    t->os_source.ring = calloc(1, PAGE + OS_RING_SIZE);
    return t;
}

static void ring_put(struct thread *t, uint32_t type, uint16_t misc, uint64_t time)
{
    struct perf_event_mmap_page *ring = t->os_source.ring;
    const struct {
        struct perf_event_header head;
        uint64_t time;
    } record = { { .type = type, .misc = misc, .size = sizeof record }, time };
    const char *bytes = (const char *)&record;
    for (size_t i = 0; i < sizeof record; i++)
        ((char *)ring + PAGE)[(ring->data_head + i) % OS_RING_SIZE] = bytes[i];
    ring->data_head += sizeof record;
}

static uint64_t ring_number(const uint16_t *words)
{
    return words[0] | (uint64_t)words[1] << 16 | (uint64_t)words[2] << 32;
}

/* What was read: "b" blocked, "p" preempted, with begin and length; "f" page faults. */
static char *ring_read(struct thread *t)
{
    static char text[2048];
    struct os_events e = { .flagged = true };
    os_ring_read(t, OS_NOW, &e);
    text[0] = '\0';
    for (int at = 0; at < e.length;) {
        const unsigned type = e.words[at] >> DWELL_EXTENSION_LENGTH_BITS;
        const unsigned words = e.words[at] & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1);
        char *to = text + strlen(text);
        if (type == DWELL_EXT_FAULTS)
            sprintf(to, "f%u ", e.words[at + 1]);
        else
            sprintf(to, "%c%lu+%lu ", type == DWELL_EXT_BLOCKED ? 'b' : 'p', ring_number(e.words + at + 1),
                    ring_number(e.words + at + 4));
        at += 1 + (int)words;
    }
    sprintf(text + strlen(text), "waits %lu %lu, preemptions %lu %lu", e.switches.waits, e.blocked,
            e.switches.preemptions, e.preempted);
    return text;
}

Test(unit_os_ring, switches_and_faults)
{
    struct thread *t = ring_thread();
    ring_put(t, PERF_RECORD_SWITCH, OUT, 100);
    ring_put(t, PERF_RECORD_SWITCH, IN, 130);
    ring_put(t, PERF_RECORD_SAMPLE, 0, 140);
    ring_put(t, PERF_RECORD_SWITCH, TAKEN, 150);
    ring_put(t, PERF_RECORD_SWITCH, IN, 157);
    cr_assert(eq(str, ring_read(t), "b100+30 p150+7 f1 waits 1 30, preemptions 1 7"));
}

/* A child that was preempted after its ring was opened. What it did before comes first. */
Test(unit_os_ring, since_a_fork)
{
    struct thread *t = ring_thread();
    t->os_source.forked = true;
    t->last = 1000;
    missed.counts = (struct switch_counts){ 2, 3 };
    missed.ticks = 90;
    missed.preempted = 60;
    ring_put(t, PERF_RECORD_SWITCH, IN, 1200);
    ring_put(t, PERF_RECORD_SWITCH, TAKEN, 1300);
    ring_put(t, PERF_RECORD_SWITCH, IN, 1310);
    ring_put(t, PERF_RECORD_SAMPLE, 0, 1320);
    cr_assert(eq(str, ring_read(t), "b1000+30 p1030+60 p1300+10 f1 waits 2 30, preemptions 4 70"));
}

/* The last record of a kind stands for those that have no room. */
Test(unit_os_ring, more_than_there_is_room_for)
{
    struct thread *t = ring_thread();
    t->os_source.forked = true;
    t->last = 10;
    missed.counts = (struct switch_counts){ 1, 0 };
    missed.ticks = 5;
    missed.preempted = 0;
    for (uint64_t i = 1; i <= 20; i++) {
        ring_put(t, PERF_RECORD_SWITCH, OUT, 100 * i);
        ring_put(t, PERF_RECORD_SWITCH, IN, 100 * i + 1);
    }
    cr_assert(
        eq(str, ring_read(t),
           "b100+1 b200+1 b300+1 b400+1 b500+1 b600+1 b700+1 b800+1 b900+1 b1000+16 waits 21 25, preemptions 0 0"));
}
