/* The rounds are those of XXH64, in four lanes, as they are fast. Nobody has to make the same number elsewhere. */
#include "levels/site_key.h"

#include <string.h>

#include "common.h"
#include "levels/unwind_ranges.h"

enum { STEP = SITE_KEY_LANES * sizeof(uint64_t), PART_BYTES = 1 << 20, PART_RANGES = 2048 };

#define PRIME_1 0x9e3779b185ebca87u
#define PRIME_2 0xc2b2ae3d27d4eb4fu

static inline uint64_t site_key_round(uint64_t lane, uint64_t word)
{
    lane += word * PRIME_2;
    return (lane << 31 | lane >> 33) * PRIME_1;
}

static void site_key_add(struct site_key *key, uint64_t word)
{
    key->lanes[0] = site_key_round(key->lanes[0], word);
}

/* Zeros follow the last bytes. */
static void site_key_add_bytes(struct site_key *key, const uint8_t *at, uint64_t size)
{
    uint64_t lanes[SITE_KEY_LANES], words[SITE_KEY_LANES];
    memcpy(lanes, key->lanes, sizeof lanes);
    for (; size >= STEP; at += STEP, size -= STEP) {
        memcpy(words, at, sizeof words);
        for (int i = 0; i < SITE_KEY_LANES; i++)
            lanes[i] = site_key_round(lanes[i], words[i]);
    }
    memset(words, 0, sizeof words);
    memcpy(words, at, size);
    for (int i = 0; i < SITE_KEY_LANES && size; i++)
        lanes[i] = site_key_round(lanes[i], words[i]);
    memcpy(key->lanes, lanes, sizeof lanes);
}

static void site_key_add_places(struct site_key *key, const struct hook_places *places, uint64_t bias)
{
    for (uint32_t i = 0; i < places->code_count; i++) {
        site_key_add(key, places->code[i].begin - bias);
        site_key_add(key, places->code[i].end - bias);
    }
    site_key_add(key, places->constant_begin - bias);
    site_key_add(key, places->constant_end - bias);
    for (int hook = 0; hook < HOOKS; hook++) {
        const bool own = hook_places_code(places, places->probes[hook]) != NULL;
        site_key_add(key, own ? places->probes[hook] - bias : UINT64_MAX);
        site_key_add(key, places->slot_count[hook]);
        for (uint32_t i = 0; i < places->slot_count[hook]; i++)
            site_key_add(key, places->slots[hook][i] - bias);
    }
}

struct site_key_handlers {
    struct site_key *key;
    uint64_t bias;
};

static void site_key_add_handler(void *data, uint64_t address)
{
    const struct site_key_handlers *h = data;
    site_key_add(h->key, address - h->bias);
}

static void site_key_add_range(struct site_key *key, const struct unwind_ranges *ranges, uint32_t index, uint64_t bias)
{
    struct unwind_range range = { 0 };
    struct site_key_handlers h = { key, bias };
    if (!unwind_range_at(ranges, index, &range)) {
        site_key_add(key, UINT64_MAX);
        return;
    }
    site_key_add(key, range.begin - bias);
    site_key_add(key, range.end - range.begin);
    if (range.handlers)
        site_key_add(key, unwind_handlers(&range, site_key_add_handler, &h));
}

/* Adds the next part of the code. False if there is none. */
static bool site_key_add_code(struct site_key *key, const struct hook_places *places)
{
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < places->code_count; i++) {
        const struct hook_code *code = &places->code[i];
        const uint64_t size = code->end - code->begin, at = key->done - skipped;
        if (at < size) {
            const uint64_t part = smaller_of(size - at, PART_BYTES);
            site_key_add_bytes(key, (const uint8_t *)(code->begin + at), part);
            key->done += part;
            return true;
        }
        skipped += size;
    }
    return false;
}

bool site_key_more(struct site_key *key, const struct hook_places *places, const struct dl_phdr_info *info)
{
    struct unwind_ranges ranges;
    if (!key->begun)
        site_key_add_places(key, places, info->dlpi_addr);
    key->begun = true;
    if (site_key_add_code(key, places))
        return true;
    const uint32_t count = unwind_ranges_begin(&ranges, info) ? ranges.count : 0;
    for (uint32_t i = 0; key->range < count && i < PART_RANGES; i++)
        site_key_add_range(key, &ranges, key->range++, info->dlpi_addr);
    return key->range < count;
}

uint64_t site_key_value(const struct site_key *key)
{
    uint64_t value = 0;
    for (int i = 0; i < SITE_KEY_LANES; i++)
        value = site_key_round(value, key->lanes[i]);
    value ^= value >> 33;
    value *= PRIME_2;
    return value ^ value >> 29;
}

uint64_t site_key_of_bytes(const void *bytes, uint64_t size)
{
    struct site_key key = { .done = 0 };
    site_key_add_bytes(&key, bytes, size);
    site_key_add(&key, size);
    return site_key_value(&key);
}
