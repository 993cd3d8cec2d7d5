/* OS events that wait for the next record: added up, and put into it. */
#include <string.h>

#include "extensions.h"
#include "kept.h"
#include "record.h"

enum { TIME_WORDS = 3, OFF_CPU_WORDS = 1 + 2 * TIME_WORDS };

static uint64_t kept_number(const uint16_t *words)
{
    return words[0] | (uint64_t)words[1] << 16 | (uint64_t)words[2] << 32;
}

/* Makes the last time of that kind longer. There always is one, as the first of each kind has room. */
static void kept_lengthen(struct kept_events *k, const uint16_t *record)
{
    uint16_t *last = NULL;
    for (uint32_t i = 0; i < k->length; i += OFF_CPU_WORDS)
        if (k->words[i] == record[0])
            last = k->words + i;
    if (!last)
        return;
    uint16_t *const length = last + 1 + TIME_WORDS;
    const uint64_t sum = kept_number(length) + kept_number(record + 1 + TIME_WORDS);
    for (int i = 0; i < TIME_WORDS; i++)
        length[i] = (uint16_t)(sum >> 16 * i);
}

static bool kept_has(const struct kept_events *k, uint16_t head)
{
    for (uint32_t i = 0; i < k->length; i += OFF_CPU_WORDS)
        if (k->words[i] == head)
            return true;
    return false;
}

static void kept_add_off_cpu(struct kept_events *k, const uint16_t *record)
{
    const uint32_t left = KEPT_WORDS - k->length;
    if (left < 2 * OFF_CPU_WORDS && (left < OFF_CPU_WORDS || kept_has(k, record[0]))) {
        kept_lengthen(k, record);
        return;
    }
    memcpy(k->words + k->length, record, OFF_CPU_WORDS * sizeof *record);
    k->length += OFF_CPU_WORDS;
}

void kept_add(struct kept_events *k, const struct extensions *events, uint64_t ticks, uint64_t own)
{
    k->any = true;
    k->ticks += ticks;
    k->own += own;
    for (int i = 0; i < events->length; i += 1 + extension_words(events->words[i])) {
        const uint32_t type = events->words[i] >> DWELL_EXTENSION_LENGTH_BITS;
        if (type == DWELL_EXT_BLOCKED || type == DWELL_EXT_PREEMPTED)
            kept_add_off_cpu(k, events->words + i);
        else if (type == DWELL_EXT_FAULTS)
            k->faults += events->words[i + 1];
    }
}

void kept_merge(struct kept_events *into, const struct kept_events *from)
{
    into->any |= from->any;
    into->faults += from->faults;
    into->ticks += from->ticks;
    into->own += from->own;
    for (uint32_t i = 0; i < from->length; i += OFF_CPU_WORDS)
        kept_add_off_cpu(into, from->words + i);
}

void kept_put(struct kept_events *k, struct extensions *e, uint64_t interval)
{
    if (!k->any)
        return;
    const bool whole = k->ticks >= interval;
    const uint64_t part = k->ticks > k->own ? k->ticks - k->own : 1; /* zero is the whole interval */
    if (!whole || (k->length == 0 && k->faults == 0)) {
        extensions_put_head(e, DWELL_EXT_OS, whole ? 0 : TIME_WORDS);
        extensions_put_number(e, part, whole ? 0 : TIME_WORDS);
    }
    memcpy(e->words + e->length, k->words, k->length * sizeof *k->words);
    e->length += (int)k->length;
    if (k->faults) {
        const int words = k->faults <= UINT16_MAX ? 1 : 2;
        extensions_put_head(e, DWELL_EXT_FAULTS, words);
        extensions_put_number(e, k->faults, words);
    }
    *k = (struct kept_events){ .any = false };
}
