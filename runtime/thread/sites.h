/* Call sites: from where calls are made, where that is recorded. */
#ifndef DWELL_SITES_H
#define DWELL_SITES_H

#include "call.h"
#include "chunk.h"
#include "common.h"
#include "record.h"

#pragma GCC visibility push(hidden)

struct event;
struct thread;

enum { MAX_SITE_WORDS = 4 };

/*
 * The call site of a function that `caller` calls: the address that the call returns to. If the function is inlined
 * into its caller, it is the address that the probe returns to, with DWELL_SITE_INLINED. Then both frames return to the
 * same address. So do two nested calls from one site. They differ in their stack pointers, but alloca changes these,
 * too. But without inlining, the probe is called from the code of the function itself.
 */
static inline uint64_t call_site_of(const struct call *caller, uint64_t function, uint64_t stack_pointer,
                                    struct origin origin)
{
    if (__builtin_expect((uint32_t)(caller->frame_id >> 32) != (uint32_t)origin.frame_return, 1))
        return origin.frame_return;
    if (stack_pointer != caller->stack_pointer) {
        while (caller->call_site & DWELL_SITE_INLINED)
            caller--;
        const uint64_t outer = caller->function;
        const bool outside = origin.probe_return < function || (outer > function && outer <= origin.probe_return);
        if (!outside || function == outer)
            return origin.frame_return;
    }
    return origin.probe_return | DWELL_SITE_INLINED;
}

/* Puts the record of a call site into `words`, and returns its number of words. `caller` is the innermost open call;
 * NULL if the file does not know of it. The shortest form is chosen: mostly two words, as most calls are made near
 * their caller's begin. */
static ALWAYS_INLINE int sites_words(uint16_t words[MAX_SITE_WORDS], uint64_t call_site, const struct call *caller)
{
    const uint32_t type = call_site & DWELL_SITE_INLINED ? DWELL_EXT_SITE_INLINED : DWELL_EXT_SITE;
    const uint64_t address = call_site & ~DWELL_SITE_INLINED;
    const uint64_t distance = caller ? address - caller->function : UINT64_MAX / 2;
    if (LIKELY(distance <= UINT16_MAX)) {
        words[0] = extension_word(type, 1);
        words[1] = (uint16_t)distance;
        return 2;
    }
    const bool near = (int64_t)distance == (int32_t)distance;
    const uint64_t value = near ? distance : address;
    words[0] = extension_word(type, near ? 2 : 3);
    words[1] = (uint16_t)value;
    words[2] = (uint16_t)(value >> 16);
    words[3] = (uint16_t)(value >> 32);
    return near ? 3 : 4;
}

/* As chunk_count_extensions, by one instruction. */
static inline void sites_count_bytes(struct dwell_chunk_header *chunk, uint32_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("addl %1, %0" : "+m"(chunk->open.extension_bytes) : "er"(bytes) : "memory");
#else
    __atomic_fetch_add(&chunk->open.extension_bytes, bytes, __ATOMIC_RELAXED);
#endif
    if (UNLIKELY(*(volatile uint32_t *)&chunk->used != 0))
        chunk->enters = chunk->exits = DWELL_NOT_COUNTED;
}

/* The following are for the slow path; they do nothing where call sites are not recorded. */
bool sites_are_recorded(void);

/* The call site of an enter's call; zero if call sites are not recorded. */
uint64_t sites_of_event(const struct call *caller, const struct event *event);

/* As sites_words. */
int sites_put(uint16_t words[MAX_SITE_WORDS], uint64_t call_site, const struct call *caller);

/* The records of the call sites of the `depth` calls that are open where a chunk begins: their size in bytes, zero if
 * call sites are not recorded; and writing them to `at`. */
uint32_t sites_open_bytes(uint32_t depth);
void sites_write_open(const struct thread *t, char *at, uint32_t depth);

#pragma GCC visibility pop

#endif
