/* Numbers are added as blocks of the checksum. Nobody has to make the same key elsewhere. */
#include "levels/site_key.h"

#include "common.h"
#include "levels/unwind_ranges.h"

enum { PART_BYTES = 1 << 20, PART_RANGES = 2048 };

static void site_key_add(struct site_key *key, uint64_t word)
{
    key->words[key->filled++] = word;
    if (key->filled < SITE_KEY_WORDS)
        return;
    checksum_add(&key->sum, key->words, sizeof key->words);
    key->filled = 0;
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
            checksum_add_padded(&key->sum, (const void *)(code->begin + at), part);
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
    if (!key->begun) {
        checksum_begin(&key->sum);
        site_key_add_places(key, places, info->dlpi_addr);
    }
    key->begun = true;
    if (site_key_add_code(key, places))
        return true;
    const uint32_t count = unwind_ranges_begin(&ranges, info) ? ranges.count : 0;
    for (uint32_t i = 0; key->range < count && i < PART_RANGES; i++)
        site_key_add_range(key, &ranges, key->range++, info->dlpi_addr);
    return key->range < count;
}

/* Behind the words that fill no block is their number. */
uint64_t site_key_value(const struct site_key *key)
{
    const uint64_t filled[SITE_KEY_WORDS] = { key->filled };
    struct checksum sum = key->sum;
    checksum_add_padded(&sum, key->words, key->filled * sizeof *key->words);
    checksum_add(&sum, filled, sizeof filled);
    return checksum_of(&sum);
}

uint64_t site_key_of_bytes(const void *bytes, uint64_t size)
{
    const uint64_t length[SITE_KEY_WORDS] = { size };
    struct checksum sum;
    checksum_begin(&sum);
    checksum_add_padded(&sum, bytes, size);
    checksum_add(&sum, length, sizeof length);
    return checksum_of(&sum);
}
