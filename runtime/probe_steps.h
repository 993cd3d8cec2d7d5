/* What the probes of all modes have in common. */
#ifndef DWELL_PROBE_STEPS_H
#define DWELL_PROBE_STEPS_H

#include "record.h"
#include "thread.h"

/* The same behind the words that tell from where the call was made. */
static inline void store_enter_from(char *at, const uint16_t *words, int count, unsigned half, uint64_t now,
                                    uint64_t function)
{
    for (int i = 0; i < count; i++, at += 2)
        store_word(at, words[i]);
    store_enter(at, half, now, function);
}

/* Claims an exit's room and stores it. False: a signal handler recorded events in between. */
static ALWAYS_INLINE bool record_exit(struct thread *t, uint64_t state, char *base, uint64_t now)
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
