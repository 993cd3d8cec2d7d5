/* What every part of the runtime uses: attributes, branch hints, the size of a page, and two small types. */
#ifndef DWELL_COMMON_H
#define DWELL_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DWELL_HIDDEN __attribute__((visibility("hidden")))
#define DWELL_EXPORT __attribute__((visibility("default")))
#define DWELL_COLD __attribute__((cold, noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { PAGE = 4096 };

/* The beginning of the page of an address, and the first end of a page that is not below it. */
static inline uint64_t page_begin(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

static inline uint64_t page_end(uint64_t address)
{
    return page_begin(address + PAGE - 1);
}

/* Bytes that need no end mark. The owner of the memory is named where a text is passed. */
struct text {
    const void *at;
    size_t length;
};

static inline bool text_is_same(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* A piece of the session file in memory, with a chunk header at its start. `at` is NULL if there is none. */
struct area {
    char *at;
    uint32_t size; /* bytes, a multiple of DWELL_UNIT */
};

/* Saturating subtraction. */
static inline uint64_t saturating_difference(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

/* By one instruction, which a signal handler's probe cannot interrupt. */
static inline void sum_add(uint64_t *sum, uint64_t value)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*sum) : "er"(value));
#else
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
#endif
}

static inline uint64_t smaller_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
