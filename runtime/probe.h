/* What the probes of all modes have in common. */
#ifndef DWELL_PROBE_H
#define DWELL_PROBE_H

#include "runtime.h"

/* In a thread's state: one entry of the shadow stack. */
static const uint64_t one_call = (uint64_t)sizeof(struct call) << 32;

/* From where a call is made, where that is recorded. */
struct origin {
    uint64_t frame_return, probe_return;
};

/* Whether an exit is that of the innermost open call; else that is an entry of a frame that was left. */
static inline __attribute__((always_inline)) bool call_exits(const struct call *top, uint64_t function,
                                                             uint64_t stack_pointer, bool tail_call)
{
    if (UNLIKELY(top->function != function))
        return false;
    if (stack_pointer > top->stack_pointer && UNLIKELY(!tail_call || stack_pointer > top[-1].stack_pointer))
        return false;
    return true;
}

static inline uint32_t timed_word(uint32_t kind, uint64_t now)
{
    return kind << DWELL_WORD_KIND_SHIFT | ((uint32_t)now & DWELL_TIME_MASK);
}

static inline void store_enter(char *at, unsigned half, uint64_t now, uint64_t function)
{
    store_word(at, timed_word(DWELL_WORD_ENTER_0 + half, now));
    store_address(at + 2, function);
}

/* The same behind the words that tell from where the call was made. */
static inline void store_enter_from(char *at, const uint16_t *words, int count, unsigned half, uint64_t now,
                                    uint64_t function)
{
    for (int i = 0; i < count; i++, at += 2)
        store_word(at, words[i]);
    store_enter(at, half, now, function);
}

/* Claims an exit's room and stores it. False: a signal handler recorded events in between. */
static inline __attribute__((always_inline)) bool record_exit(struct thread *t, uint64_t state, char *base,
                                                              uint64_t now)
{
    if (UNLIKELY(!thread_claim(t, state, state - one_call + EXIT_BYTES)))
        return false;
    store_word(base + (uint32_t)state, timed_word(DWELL_WORD_EXIT, now));
    t->last = now;
    return true;
}

/* One whose room, twice an exit's, is claimed already, with an extension that says that the OS worked. */
static inline void store_flagged_exit(struct thread *t, char *at, uint64_t now)
{
    store_word(at, (uint32_t)DWELL_EXT_OS << DWELL_EXTENSION_LENGTH_BITS);
    store_word(at + EXIT_BYTES, timed_word(DWELL_WORD_EXIT, now));
    t->last = now;
}

#endif
