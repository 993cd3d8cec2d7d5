/* The checksum of a chunk in memory. The runtime makes it for finished chunks, and the analyzer compares it. */
#include "chunk_sum.h"

#include <stdbool.h>
#include <string.h>

#include "checksum.h"
#include "dwell/format.h"

static const char chunk_zeros[DWELL_UNIT];

static bool chunk_sum_is_zero(const char *unit, uint32_t length)
{
    uint64_t word = 0;
    memcpy(&word, unit, length < sizeof word ? length : sizeof word);
    return word == 0 && memcmp(unit, chunk_zeros, length) == 0;
}

/* What is behind the bytes, up to a whole unit, is zero. */
static void chunk_sum_add(struct checksum *sum, const char *bytes, uint32_t length, uint32_t from)
{
    const uint32_t blocks = (length + CHECKSUM_BLOCK - 1) / CHECKSUM_BLOCK;
    checksum_add_padded(sum, bytes, length);
    checksum_add(sum, chunk_zeros, DWELL_UNIT - from - blocks * CHECKSUM_BLOCK);
}

uint64_t chunk_sum(const char *chunk, uint32_t end)
{
    struct checksum sum;
    checksum_begin(&sum);
    for (uint32_t at = 0; at < end; at += DWELL_UNIT) {
        const uint32_t length = end - at < DWELL_UNIT ? end - at : DWELL_UNIT;
        const uint64_t numbers[DWELL_SEAL_NUMBER / sizeof(uint64_t)] = { at / DWELL_UNIT };
        struct dwell_chunk_header head;
        if (chunk_sum_is_zero(chunk + at, length))
            continue;
        checksum_add(&sum, numbers, sizeof numbers);
        if (at > 0) {
            chunk_sum_add(&sum, chunk + at, length, 0);
            continue;
        }
        memcpy(&head, chunk, sizeof head);
        head.sealed = 0;
        head.checksum = 0;
        checksum_add(&sum, &head, sizeof head);
        chunk_sum_add(&sum, chunk + sizeof head, length - (uint32_t)sizeof head, sizeof head);
    }
    return checksum_of(&sum);
}
