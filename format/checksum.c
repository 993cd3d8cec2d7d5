/* XXH64, as its specification describes it. */
#include "checksum.h"

#include <string.h>

static const uint64_t checksum_primes[] = { 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                                            0x85ebca77c2b2ae63 };

static inline uint64_t checksum_rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline uint64_t checksum_round(uint64_t lane, uint64_t word)
{
    return checksum_rotate(lane + word * checksum_primes[1], 31) * checksum_primes[0];
}

static inline uint64_t checksum_word(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

void checksum_begin(struct checksum *c)
{
    *c =
        (struct checksum){ { checksum_primes[0] + checksum_primes[1], checksum_primes[1], 0, -checksum_primes[0] }, 0 };
}

void checksum_add(struct checksum *c, const void *data, size_t size)
{
    uint64_t a = c->lanes[0], b = c->lanes[1], d = c->lanes[2], e = c->lanes[3];
    const char *at = data, *end = at + size;
    for (; at < end; at += CHECKSUM_BLOCK) {
        a = checksum_round(a, checksum_word(at));
        b = checksum_round(b, checksum_word(at + 8));
        d = checksum_round(d, checksum_word(at + 16));
        e = checksum_round(e, checksum_word(at + 24));
    }
    *c = (struct checksum){ { a, b, d, e }, c->length + size };
}

void checksum_add_padded(struct checksum *c, const void *data, size_t size)
{
    const size_t whole = size / CHECKSUM_BLOCK * CHECKSUM_BLOCK;
    char block[CHECKSUM_BLOCK] = { 0 };
    checksum_add(c, data, whole);
    if (whole == size)
        return;
    memcpy(block, (const char *)data + whole, size - whole);
    checksum_add(c, block, sizeof block);
}

uint64_t checksum_of(const struct checksum *c)
{
    static const unsigned bits[] = { 1, 7, 12, 18 };
    const uint64_t *prime = checksum_primes;
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += checksum_rotate(c->lanes[i], bits[i]);
    for (int i = 0; i < 4; i++)
        sum = (sum ^ checksum_round(0, c->lanes[i])) * prime[0] + prime[3];
    if (c->length == 0)
        sum = 0x27d4eb2f165667c5; /* the fifth prime */
    sum += c->length;
    sum = (sum ^ sum >> 33) * prime[1];
    sum = (sum ^ sum >> 29) * prime[2];
    return sum ^ sum >> 32;
}
