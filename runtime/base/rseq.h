/* The pointer of rseq, which the kernel clears when it takes the CPU away. The runtime arms it before an interval, and
 * dwell doctor tests it. Only one source file of a program may include this. */
#ifndef DWELL_RUNTIME_RSEQ_H
#define DWELL_RUNTIME_RSEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys.h"

enum { RSEQ_TEST_SLEEP = 1 }; /* milliseconds */

#if defined(__x86_64__)

/* glibc 2.35 and later register rseq and export its place. Older ones do not. */
extern const ptrdiff_t __rseq_offset __attribute__((weak, visibility("default")));
extern const unsigned __rseq_size __attribute__((weak, visibility("default")));

/* A critical section that no thread executes. The kernel checks its signature and clears the pointer to it. */
__asm__(".pushsection .text\n"
        ".type dwell_rseq_never, @function\n"
        "dwell_rseq_never:\n"
        "	ud2\n"
        "	nop\n"
        "	.byte 0x0f, 0xb9, 0x3d\n" /* ud1, with RSEQ_SIG as its operand */
        "	.long 0x53053053\n"
        "dwell_rseq_abort:\n"
        "	ud2\n"
        ".popsection\n");

extern const char dwell_rseq_never[] __attribute__((visibility("hidden")));
extern const char dwell_rseq_abort[] __attribute__((visibility("hidden")));

struct rseq_critical_section {
    uint32_t version, flags;
    uint64_t start, length, abort;
} __attribute__((aligned(32)));

static struct rseq_critical_section rseq_never = { .length = 2 };

static inline volatile uint64_t *rseq_pointer(void)
{
    if (!&__rseq_size || !__rseq_size)
        return NULL;
    return (volatile uint64_t *)((char *)__builtin_thread_pointer() + __rseq_offset + 8);
}

static inline void rseq_arm(volatile uint64_t *pointer)
{
    rseq_never.start = (uint64_t)dwell_rseq_never;
    rseq_never.abort = (uint64_t)dwell_rseq_abort;
    *pointer = (uint64_t)&rseq_never;
}

/* Some kernels clear the pointer only when an interrupt took the CPU. That is useless, because waits are not seen. */
static inline bool rseq_works(volatile uint64_t *pointer)
{
    static int tested;
    if (tested == 0) {
        uint32_t word = 0;
        rseq_arm(pointer);
        sys_futex_wait(&word, 0, RSEQ_TEST_SLEEP);
        tested = *pointer == 0 ? 1 : -1;
        *pointer = 0;
    }
    return tested > 0;
}

#else

static struct {
    int none;
} rseq_never;
static inline volatile uint64_t *rseq_pointer(void)
{
    return NULL;
}
static inline void rseq_arm(volatile uint64_t *pointer)
{
    *pointer = 0;
}
static inline bool rseq_works(volatile uint64_t *pointer)
{
    (void)pointer;
    return false;
}

#endif

#endif
