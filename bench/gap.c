/*
 * gap CALLS: calls a tiny instrumented function over and over and reads the clock after every call. Every tick of the
 * run lies between two readings. So no stall can hide: a page fault in a probe, a chunk that was not ready, or a disk
 * that delays a store. Prints, in nanoseconds, the median gap, the 99.99th percentile and the worst, and the clock's
 * frequency:
 *
 *     median 9.6 p9999 41.0 worst 15303.1 hz 2596122000
 */
#define _GNU_SOURCE /* clock_gettime */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ticks.h"

#define UNSEEN __attribute__((no_instrument_function)) /* has no probes of its own */

/* Gaps are counted in buckets of relative width 1/32 (exact below 64 ticks). The table stays in the L1 cache. An array
 * of all gaps would cause page faults and misses of its own. */
enum { STEP_BITS = 5, STEPS = 1 << STEP_BITS, BUCKETS = 64 * STEPS };

static uint32_t counts[BUCKETS];

UNSEEN static unsigned bucket_of(uint64_t ticks)
{
    if (ticks < 2 * STEPS)
        return (unsigned)ticks;
    unsigned shift = 63 - (unsigned)__builtin_clzll(ticks) - STEP_BITS;
    return shift * STEPS + (unsigned)(ticks >> shift);
}

/* The smallest gap of the bucket. */
UNSEEN static uint64_t ticks_of(unsigned bucket)
{
    if (bucket < 2 * STEPS)
        return bucket;
    unsigned shift = bucket / STEPS - 1;
    return (uint64_t)(bucket % STEPS + STEPS) << shift;
}

UNSEEN static uint64_t ticks_at(double share, uint64_t total)
{
    uint64_t wanted = (uint64_t)(share * (double)total);
    uint64_t seen = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += counts[i];
        if (seen > wanted)
            return ticks_of(i);
    }
    return 0;
}

UNSEEN static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Long enough for an error below one in 10,000. */
UNSEEN static double measure_hz(void)
{
    uint64_t start_ns = nanoseconds();
    uint64_t start = read_ticks();
    uint64_t now_ns;
    do {
        now_ns = nanoseconds();
    } while (now_ns - start_ns < 100000000u);
    return (double)(read_ticks() - start) * 1e9 / (double)(now_ns - start_ns);
}

__attribute__((noinline)) static void tiny(void)
{
    __asm__ volatile("");
}

UNSEEN static uint64_t run(uint64_t calls)
{
    uint64_t worst = 0;
    tiny(); /* the first probe of a thread sets the thread up, which is not a gap */
    uint64_t last = read_ticks();
    for (uint64_t i = 0; i < calls; i++) {
        tiny();
        uint64_t now = read_ticks();
        uint64_t gap = now - last;
        last = now;
        counts[bucket_of(gap)]++;
        if (gap > worst)
            worst = gap;
    }
    return worst;
}

UNSEEN int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: gap CALLS\n");
        return 2;
    }
    uint64_t calls = strtoull(argv[1], NULL, 10);
    double hz = measure_hz();
    uint64_t worst = run(calls);
    double ns = 1e9 / hz;
    printf("median %.1f p9999 %.1f worst %.1f hz %.0f\n", (double)ticks_at(0.5, calls) * ns,
           (double)ticks_at(0.9999, calls) * ns, (double)worst * ns, hz);
    return 0;
}
