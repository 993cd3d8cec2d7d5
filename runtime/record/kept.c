/* OS events that wait for the next record: added up, and put into it. */
#include <string.h>

#include "extensions.h"
#include "kept.h"
#include "record.h"

enum { TIME_WORDS = 3, OFF_CPU_WORDS = 1 + 2 * TIME_WORDS };

/* The last time of that kind; NULL if there is none. */
static uint16_t *kept_find_last(struct kept_events *k, uint16_t head)
{
    uint16_t *last = NULL;
    for (uint32_t i = 0; i < k->length; i += OFF_CPU_WORDS)
        if (k->words[i] == head)
            last = k->words + i;
    return last;
}

static void kept_lengthen(uint16_t *last, const uint16_t *record)
{
    const int length = 1 + TIME_WORDS;
    const uint64_t sum = record_number(last + length, TIME_WORDS) + record_number(record + length, TIME_WORDS);
    for (int i = 0; i < TIME_WORDS; i++)
        last[length + i] = (uint16_t)(sum >> 16 * i);
}

/* The room for a last time is kept for the kind of which there is none yet. */
static void kept_add_off_cpu(struct kept_events *k, const uint16_t *record)
{
    const uint32_t left = KEPT_WORDS - k->length;
    uint16_t *const last = left < 2 * OFF_CPU_WORDS ? kept_find_last(k, record[0]) : NULL;
    if (last) {
        kept_lengthen(last, record);
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
