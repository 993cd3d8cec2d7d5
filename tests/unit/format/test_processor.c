/* A thread leaves the processor that another one needs, and may run on all of them afterwards. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sched.h>
#include <string.h>

#include "clock.h"
#include "processor.h"

TestSuite(unit_processor, .timeout = 300);

enum { MS = 1000000 };

static cpu_set_t processor_set(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    cr_assert(eq(int, sched_getaffinity(0, sizeof set, &set), 0));
    return set;
}

Test(unit_processor, here)
{
    const cpu_set_t set = processor_set();
    const uint32_t here = processor_here();
    cr_assert(gt(u32, here, 0));
    const bool allowed = CPU_ISSET(here - 1, &set);
    cr_assert(allowed);
}

/* The system may bring it back at once, so one of many moves has to be seen. */
Test(unit_processor, leaves_the_one_that_it_is_on)
{
    const cpu_set_t before = processor_set();
    bool left = false;
    for (int i = 0; i < 1000 && !left; i++) {
        struct processor_moves moves = { 0 };
        const uint32_t from = processor_here();
        processor_leave(&moves, from);
        left = processor_here() != from;
        const cpu_set_t after = processor_set();
        const bool same = CPU_EQUAL(&after, &before);
        cr_assert(same);
    }
    cr_assert(eq(int, left, CPU_COUNT(&before) > 1));
}

Test(unit_processor, stays_on_the_only_one)
{
    const uint32_t here = processor_here();
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(here - 1, &only);
    cr_assert(eq(int, sched_setaffinity(0, sizeof only, &only), 0));
    struct processor_moves moves = { 0 };
    processor_leave(&moves, here);
    cr_assert(eq(u32, processor_here(), here));
    const cpu_set_t after = processor_set();
    const bool same = CPU_EQUAL(&after, &only);
    cr_assert(same);
}

/* Leaves the processor when the pause has just ended. A thread that waited for the processor meanwhile does it anew, as
 * it was long without a move. */
static void processor_leave_after_pause(struct processor_moves *moves, uint32_t here)
{
    const struct processor_moves before = *moves;
    uint64_t over;
    do {
        *moves = before;
        over = moves->next = clock_monotonic();
        processor_leave(moves, here);
    } while (clock_monotonic() - over >= 64 * MS);
}

/* Where no other processor is free, moves in vain become rare. After a while without any they are tried again. */
Test(unit_processor, pauses_become_longer)
{
    struct processor_moves moves = { 0 };
    processor_leave(&moves, 0);
    cr_assert(eq(u64, moves.pause, 0)); /* unknown */
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor_here() - 1, &only);
    cr_assert(eq(int, sched_setaffinity(0, sizeof only, &only), 0));
    const uint32_t here = processor_here();
    processor_leave(&moves, here);
    cr_assert(eq(u64, moves.pause, MS));
    const uint64_t next = moves.next;
    processor_leave(&moves, here + 1);
    cr_assert(eq(u64, moves.next, next)); /* it is elsewhere */
    for (uint64_t pause = 2 * MS; pause <= 64 * MS; pause *= 2) {
        processor_leave_after_pause(&moves, here);
        cr_assert(eq(u64, moves.pause, pause));
    }
    processor_leave_after_pause(&moves, here);
    cr_assert(eq(u64, moves.pause, 64 * MS));
    moves.next = clock_monotonic() - 65 * MS;
    processor_leave(&moves, here);
    cr_assert(eq(u64, moves.pause, MS));
}
