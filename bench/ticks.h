/* The clock that every benchmark program and hook here reads: the CPU's own counter. */
#ifndef BENCH_TICKS_H
#define BENCH_TICKS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

__attribute__((always_inline, no_instrument_function)) static inline uint64_t read_ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "no cycle counter known for this architecture"
#endif
}

#endif
