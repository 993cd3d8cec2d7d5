/*
 * Storing the records of an events chunk (docs/format.md). The stores are volatile, so that they come in program order:
 * a reader after a kill may find an enter's word without its address, but never an address without its word.
 */
#ifndef DWELL_RECORD_H
#define DWELL_RECORD_H

#include <string.h>

#include "common.h"
#include "dwell/format.h"

enum {
    ENTER_BYTES = 6, /* a word and 32 bits of address */
    EXIT_BYTES = 2,
};

typedef uint16_t __attribute__((may_alias)) record_word;
typedef uint32_t __attribute__((may_alias, aligned(2))) record_address;

static inline void store_word(char *at, uint32_t word)
{
    *(volatile record_word *)at = (uint16_t)word;
}

static inline void store_address(char *at, uint64_t function)
{
    *(volatile record_address *)at = (uint32_t)function;
}

/* The word of an enter or exit: its kind and the low bits of its time in ticks. */
static inline uint32_t timed_word(uint32_t kind, uint64_t now)
{
    return kind << DWELL_WORD_KIND_SHIFT | ((uint32_t)now & DWELL_TIME_MASK);
}

/* The first word of an extension record that is followed by `words` words. */
static inline uint16_t extension_word(enum dwell_extension type, int words)
{
    return (uint16_t)((uint32_t)type << DWELL_EXTENSION_LENGTH_BITS | (uint32_t)words);
}

enum { MAX_COST_WORDS = 4 };

/* Puts the record of the ticks that the runtime took into `words`, and returns its number of words. */
static ALWAYS_INLINE int cost_words(uint16_t words[MAX_COST_WORDS], uint64_t ticks)
{
    const bool is_short = ticks <= UINT16_MAX;
    words[0] = extension_word(DWELL_EXT_RUNTIME, is_short ? 1 : 3);
    words[1] = (uint16_t)ticks;
    words[2] = (uint16_t)(ticks >> 16);
    words[3] = (uint16_t)(ticks >> 32);
    return is_short ? 2 : 4;
}

/* The number of words that follow the first one of an extension record. */
static inline int extension_words(uint32_t word)
{
    return (int)(word & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1));
}

/* The number in these words, of which the first one is the lowest. */
static inline uint64_t record_number(const void *at, int words)
{
    uint64_t number = 0;
    for (int i = 0; i < words; i++) {
        uint16_t word;
        memcpy(&word, (const char *)at + 2 * i, sizeof word);
        number |= (uint64_t)word << 16 * i;
    }
    return number;
}

/* The size of the record that begins with this word. */
static inline uint32_t record_bytes(uint32_t word)
{
    switch (word >> DWELL_WORD_KIND_SHIFT) {
    case DWELL_WORD_EXIT:
        return EXIT_BYTES;
    case DWELL_WORD_EXTENSION:
        return 2 + 2 * (uint32_t)extension_words(word);
    default:
        return ENTER_BYTES;
    }
}

/* `half`: which of the chunk's two upper halves belongs to the address. */
static inline void store_enter(char *at, unsigned half, uint64_t now, uint64_t function)
{
    store_word(at, timed_word(DWELL_WORD_ENTER_0 + half, now));
    store_address(at + 2, function);
}

static inline void store_words(char *at, const uint16_t *words, int count)
{
    for (int i = 0; i < count; i++, at += 2)
        store_word(at, words[i]);
}

#endif
