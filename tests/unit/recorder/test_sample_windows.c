/* For which part of the time samples are taken, so that the switches of sampled threads stay in the budget. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder/sample_windows.h"

TestSuite(unit_sample_windows, .timeout = 300);

enum { MS = 1000000 };

/* 25 thousandths of a second are 25 ms. */
Test(unit_sample_windows, switches_cost_what_is_allowed)
{
    cr_assert(eq(u32, sample_stretch(0, 1000 * MS, 10000, 25), 1));
    cr_assert(eq(u32, sample_stretch(2500, 1000 * MS, 10000, 25), 1)); /* 25 ms */
    cr_assert(eq(u32, sample_stretch(2501, 1000 * MS, 10000, 25), 2));
    cr_assert(eq(u32, sample_stretch(5000, 1000 * MS, 10000, 25), 2));
    cr_assert(eq(u32, sample_stretch(20000, 1000 * MS, 10000, 25), 8));
    cr_assert(eq(u32, sample_stretch(40000, 1000 * MS, 10000, 25), SAMPLE_MOST_STRETCH));
    cr_assert(eq(u32, sample_stretch(4000000, 1000 * MS, 10000, 25), SAMPLE_MOST_STRETCH));
    cr_assert(eq(u32, sample_stretch(4000000, 1000 * MS, 0, 25), 1)); /* they cost nothing here */
}

Test(unit_sample_windows, longer_at_once_and_shorter_by_steps)
{
    struct sample_windows w = { .permille = 25, .stretch = 1, .cost = 10000, .switches = 800, .time = 20 * MS };
    sample_windows_decide(&w);
    cr_assert(eq(u32, w.stretch, SAMPLE_MOST_STRETCH));
    cr_assert(eq(u64, w.switches, 0));
    cr_assert(eq(u64, w.time, 0));
    for (unsigned stretch = SAMPLE_MOST_STRETCH / 2; stretch >= 1; stretch /= 2) {
        w.switches = 1;
        w.time = 20 * MS;
        sample_windows_decide(&w);
        cr_assert(eq(u32, w.stretch, stretch));
    }
    sample_windows_decide(&w);
    cr_assert(eq(u32, w.stretch, 1));
}

/* To measure what a switch costs takes 200 more of them. So it is left alone if few were seen. */
Test(unit_sample_windows, few_switches_cost_nothing)
{
    const struct sample_windows few = { .permille = 25, .stretch = 1, .switches = 19, .time = 10 * MS };
    cr_assert(eq(u32, sample_windows_needed(&few, 50000), 1));
    const struct sample_windows enough = { .permille = 25, .stretch = 1, .switches = 20, .time = 10 * MS };
    cr_assert(eq(u32, sample_windows_needed(&enough, 50000), 4)); /* 1 ms of 10, where 0.25 are allowed */
}

static uint32_t windows_tid(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

static uint64_t windows_switches(void)
{
    struct rusage use;
    cr_assert(eq(int, getrusage(RUSAGE_THREAD, &use), 0));
    return (uint64_t)(use.ru_nvcsw + use.ru_nivcsw);
}

/* The kernel's own counts. The first sample only shows that the thread is there. */
Test(unit_sample_windows, switches_of_sampled_threads)
{
    enum { SLEEPS = 50 };
    struct sample_windows w = { .permille = 25, .stretch = 1 };
    const uint64_t first = windows_switches();
    sample_windows_note(&w, windows_tid(), MS);
    cr_assert(eq(sz, w.count, 1));
    const uint64_t begin = windows_switches();
    for (int i = 0; i < SLEEPS; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
        sample_windows_note(&w, windows_tid(), MS);
    }
    const uint64_t end = windows_switches();
    cr_assert(
        gt(u64, end - begin, SLEEPS / 2)); /* where the host takes the processor, a sleep is over before it blocks */
    cr_assert(sample_windows_look(&w));
    cr_assert(ge(u64, w.switches, end - begin)); /* the processor may be taken at any time */
    cr_assert(le(u64, w.switches, windows_switches() - first));
    cr_assert(eq(u64, w.time, (uint64_t)SLEEPS * MS));
    const uint64_t before = w.switches;
    nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
    const uint64_t second = windows_switches();
    sample_windows_begin(&w); /* what was before the window does not count */
    cr_assert(sample_windows_look(&w));
    cr_assert(le(u64, w.switches, before + windows_switches() - second));
    cr_assert(eq(u64, w.time, (uint64_t)SLEEPS * MS));
}

Test(unit_sample_windows, threads_that_have_ended)
{
    struct sample_windows w = { .permille = 25, .stretch = 1, .count = 1 };
    w.threads[0] = (struct switching_thread){ .tid = UINT32_MAX, .time = 20 * MS };
    cr_assert(not(sample_windows_look(&w)));
    cr_assert(eq(sz, w.count, 0));
    sample_windows_note(&w, UINT32_MAX, MS);
    cr_assert(eq(sz, w.count, 0));
}

/* Without a budget nothing is looked at. */
Test(unit_sample_windows, without_a_budget)
{
    struct sample_windows w = { .stretch = 1 };
    sample_windows_note(&w, windows_tid(), MS);
    cr_assert(eq(sz, w.count, 0));
}

/* More threads than are looked at: when none of those runs any more, others take their places. */
Test(unit_sample_windows, other_threads)
{
    struct sample_windows w = { .permille = 25, .stretch = 1, .count = SAMPLE_LOOKED_AT };
    for (size_t i = 0; i < SAMPLE_LOOKED_AT; i++)
        w.threads[i] = (struct switching_thread){ .tid = windows_tid(), .time = i == 0 ? MS : 0 };
    cr_assert(not(sample_windows_look(&w)));
    cr_assert(eq(sz, w.count, SAMPLE_LOOKED_AT));
    cr_assert(not(sample_windows_look(&w)));
    cr_assert(eq(sz, w.count, 0));
}
