/*
 * The probes where call sites are recorded: those of hooks.c, with a record before each enter that tells from where the
 * call was made. They are another pair, so that whoever does not ask for it pays nothing.
 */

#include "sites.h"
#include "call.h"
#include "clock.h"
#include "probe_steps.h"
#include "record.h"
#include "runtime.h"
#include "slow.h"
#include "thread.h"

enum {
    SITE_WORDS = 4, /* of one in the record of the open calls, */
    SITES_A_RECORD = 63,
};

/* The shortest that says it: mostly two words, as most calls are made near their caller's begin. */
static inline int words_of(uint16_t *words, uint64_t call_site, const struct call *caller)
{
    const uint32_t type = call_site & DWELL_SITE_INLINED ? DWELL_EXT_SITE_INLINED : DWELL_EXT_SITE;
    const uint64_t address = call_site & ~DWELL_SITE_INLINED;
    const uint64_t distance = caller ? address - caller->function : UINT64_MAX / 2;
    if (LIKELY(distance <= UINT16_MAX)) {
        words[0] = (uint16_t)(type << DWELL_EXTENSION_LENGTH_BITS | 1);
        words[1] = (uint16_t)distance;
        return 2;
    }
    const bool near = (int64_t)distance == (int32_t)distance;
    const uint64_t value = near ? distance : address;
    words[0] = (uint16_t)(type << DWELL_EXTENSION_LENGTH_BITS | (near ? 2 : 3));
    words[1] = (uint16_t)value;
    words[2] = (uint16_t)(value >> 16);
    words[3] = (uint16_t)(value >> 32);
    return near ? 3 : 4;
}

int sites_words(uint16_t *words, uint64_t call_site, const struct call *caller)
{
    return words_of(words, call_site, caller);
}

/* As chunk_count_extensions, by one instruction. */
static inline void tell_bytes(struct dwell_chunk_header *chunk, uint32_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("addl %1, %0" : "+m"(chunk->enters) : "er"(bytes) : "memory");
#else
    __atomic_fetch_add(&chunk->enters, bytes, __ATOMIC_RELAXED);
#endif
    if (UNLIKELY(*(volatile uint32_t *)&chunk->used != 0))
        chunk->enters = chunk->exits = DWELL_NOT_COUNTED;
}

void sites_enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                 uint64_t probe_return)
{
    const uint64_t frame_id = frame_id_of(frame_return, probe_return);
    const uint64_t state = thread_state(t);
    char *const base = t->base;
    struct dwell_chunk_header *const chunk = t->chunks.current;
    if (UNLIKELY((uint32_t)state + MAX_SITE_WORDS * 2 > t->chunks.limit ||
                 stack_pointer - t->stack.low >= t->stack.span))
        goto slow;
    const uint64_t now = clock_counter();
    if (UNLIKELY(*t->os.word != t->os.seen || now - t->last > DWELL_TIME_MASK))
        goto slow;
    const uint32_t upper = (uint32_t)(function >> 32);
    const unsigned half = upper != t->upper[0];
    struct call *call = thread_call(t, state);
    if (UNLIKELY(upper != t->upper[half] || call_was_left(&call[-1], stack_pointer, frame_id)))
        goto slow;

    uint16_t words[MAX_SITE_WORDS];
    const uint64_t call_site = call_site_of(&call[-1], function, stack_pointer, frame_return, probe_return);
    const int count = words_of(words, call_site, &call[-1]);
    const uint32_t bytes = (uint32_t)count * 2;
    call->function = function;
    call->stack_pointer = stack_pointer;
    call->enter_time = now;
    call->frame_id = frame_id;
    call->call_site = call_site;
    if (UNLIKELY(!thread_claim(t, state, state + one_call + bytes + ENTER_BYTES)))
        goto slow;
    tell_bytes(chunk, bytes);
    store_enter_from(base + (uint32_t)state, words, count, half, now, function);
    t->last = now;
    return;
slow:
    slow_enter_from(function, stack_pointer, frame_return, probe_return);
}

void sites_exit(struct thread *t, uint64_t function, uint64_t stack_pointer, bool tail_call)
{
    const uint64_t state = thread_state(t);
    char *const base = t->base;
    if (UNLIKELY((uint32_t)state > t->chunks.limit || stack_pointer - t->stack.low >= t->stack.span))
        goto slow;
    const uint64_t now = clock_counter();
    if (UNLIKELY(*t->os.word != t->os.seen || now - t->last > DWELL_TIME_MASK))
        goto slow;
    const struct call *call = thread_call(t, state) - 1;
    if (UNLIKELY(!call_exits(call, function, stack_pointer, tail_call)))
        goto slow;
    if (UNLIKELY(!record_exit(t, state, base, now)))
        goto slow;
    return;
slow:
    slow_exit(function, stack_pointer, tail_call);
}

/* As sites_exit, with an extension that says that the OS worked. */
bool sites_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer)
{
    const uint64_t state = thread_state(t);
    char *const at = t->base + (uint32_t)state;
    struct dwell_chunk_header *const chunk = t->chunks.current;
    if ((uint32_t)state > t->chunks.limit || stack_pointer - t->stack.low >= t->stack.span)
        return false;
    const uint64_t now = clock_counter();
    const struct call *call = thread_call(t, state) - 1;
    if (*t->os.word != t->os.seen || now - t->last > DWELL_TIME_MASK || call->function != function ||
        stack_pointer > call->stack_pointer || !thread_claim(t, state, state - one_call + 2 * EXIT_BYTES))
        return false;
    tell_bytes(chunk, EXIT_BYTES);
    store_flagged_exit(t, at, now);
    return true;
}

/* ---- where a chunk begins ---- */

uint32_t sites_open_bytes(uint32_t depth)
{
    const uint32_t records = (depth + SITES_A_RECORD - 1) / SITES_A_RECORD;
    return runtime.call_sites ? (records + depth * SITE_WORDS) * (uint32_t)sizeof(uint16_t) : 0;
}

void sites_write_open(const struct thread *t, char *at, uint32_t depth)
{
    const struct call *call = (const struct call *)t->shadow + 1;
    for (uint32_t i = 0; i < depth; call++) {
        if (runtime.filtered && call->kind != CALL_SHOWN)
            continue;
        if (i % SITES_A_RECORD == 0) {
            const uint32_t here = depth - i < SITES_A_RECORD ? depth - i : SITES_A_RECORD;
            store_word(at, (uint32_t)DWELL_EXT_OPEN_SITES << DWELL_EXTENSION_LENGTH_BITS | here * SITE_WORDS);
            at += 2;
        }
        for (int word = 0; word < SITE_WORDS; word++, at += 2)
            store_word(at, (uint16_t)(call->call_site >> 16 * word));
        i++;
    }
}
