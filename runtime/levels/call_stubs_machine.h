/* The code of the stubs of calls, which depends on the machine, and what it shares with call_stubs.c. */
#ifndef DWELL_LEVELS_CALL_STUBS_MACHINE_H
#define DWELL_LEVELS_CALL_STUBS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "dwell/format_calls.h"
#include "levels/call_stubs.h"

#pragma GCC visibility push(hidden)

enum { CALL_STUBS = 4096, CALL_STUB_SIZE = 16 };

struct call_stub {
    uint64_t called; /* what the stub calls: the target, or code that jumps there */
    uint64_t function;
    uint32_t frame;
    struct call_stack stack;
    uint8_t unloaded;     /* it may get another target */
    uint8_t watched;      /* its exits may be (keep_calls.h) */
    uint16_t level;       /* enum level */
    uint64_t page, count; /* counted: offsets of the page in a thread's directory, and of the counter in the page */
    uint32_t number;      /* of the counter */
    uint32_t direct;      /* all registers are kept */
    uint64_t target;
};

_Static_assert(sizeof(struct call_stub) == 64, "the stubs' offsets");

extern struct call_stub call_stub_list[CALL_STUBS];
extern uint64_t call_stub_ways[CALL_STUBS]; /* where gates lead */

/* CALL_STUBS pieces of code each, of CALL_STUB_SIZE bytes. */
extern const char call_stub_gates[];
extern const char call_stubs[];
extern const char call_stub_counters[];

/* What stubs call. Below, `first` is the address of the word below the arguments on the stack. The first one returns
 * whether the call is recorded. */
bool call_stub_enter(const struct call_stub *stub, uint64_t first);
void call_stub_exit(const struct call_stub *stub, uint64_t first, bool recorded);

#if defined(__x86_64__)

enum {
    CALL_COUNTERS_KEEP = false, /* counting leaves r11 changed */
    CALL_SAVED = 104,           /* bytes of the frame that hold no arguments */
    CALL_FRAME_POINTER = 16,    /* the caller's rbp is S - 16 */
    CALL_LONG_COPY = 256,
    /* the sizes of frames: stubs have an instruction for each of them */
    CALL_FRAME_SMALL = 128,
    CALL_FRAME_USUAL = 256,
    CALL_FRAME_LARGE = 640,
    CALL_FRAME_MOST = 1280
};

static ALWAYS_INLINE uint64_t call_stub_return_to(uint64_t first)
{
    return *(const uint64_t *)first;
}

static ALWAYS_INLINE uint64_t call_stub_frame_pointer(uint64_t first)
{
    return *(const uint64_t *)(first - CALL_FRAME_POINTER);
}

/* A multiple of 16 bytes. One instruction is faster for many of them. */
static ALWAYS_INLINE void call_stub_copy_words(char *to, const char *from, size_t size)
{
    size_t words = size / sizeof(uint64_t);
    if (UNLIKELY(size >= CALL_LONG_COPY)) {
        __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
        return;
    }
    for (const char *const end = from + size; from != end; from += 16, to += 16)
        __builtin_memcpy(to, from, 16);
}

#else

/* The caller's frame pointer and the return address are at the low end of what is saved. */
enum {
    CALL_COUNTERS_KEEP = true, /* counting leaves all registers as they were but x16 and x17 */
    CALL_SAVED = 256,
    /* the sizes of frames: stubs have an instruction for each of them */
    CALL_FRAME_SMALL = 256,
    CALL_FRAME_USUAL = 384,
    CALL_FRAME_LARGE = 768,
    CALL_FRAME_MOST = 1280
};

static ALWAYS_INLINE const uint64_t *call_stub_saved(uint64_t first)
{
    return (const uint64_t *)(first + sizeof(void *) - CALL_SAVED);
}

static ALWAYS_INLINE uint64_t call_stub_frame_pointer(uint64_t first)
{
    return call_stub_saved(first)[0];
}

static ALWAYS_INLINE uint64_t call_stub_return_to(uint64_t first)
{
    return call_stub_saved(first)[1];
}

/* A multiple of 16 bytes. */
static ALWAYS_INLINE void call_stub_copy_words(char *to, const char *from, size_t size)
{
    for (const char *const end = from + size; from != end; from += 16, to += 16)
        __builtin_memcpy(to, from, 16);
}

#endif

static ALWAYS_INLINE uint32_t call_stub_frame(uint32_t stack_bytes)
{
    const uint32_t least = CALL_SAVED + stack_bytes;
    if (least <= CALL_FRAME_SMALL)
        return CALL_FRAME_SMALL;
    if (least <= CALL_FRAME_USUAL)
        return CALL_FRAME_USUAL;
    return least <= CALL_FRAME_LARGE ? CALL_FRAME_LARGE : CALL_FRAME_MOST;
}

_Static_assert(CALL_SAVED + DWELL_CALLS_STACK <= CALL_FRAME_USUAL, "without a size of the arguments");
_Static_assert(CALL_SAVED + DWELL_CALLS_STACK_MOST <= CALL_FRAME_MOST, "the most arguments");
_Static_assert(((CALL_FRAME_SMALL | CALL_FRAME_USUAL | CALL_FRAME_LARGE | CALL_FRAME_MOST) & 63) == 0, "alignment");

#pragma GCC visibility pop

#endif
