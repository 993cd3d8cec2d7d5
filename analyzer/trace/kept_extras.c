/* Adds up the OS events of several intervals, and writes them as extensions. */
#include "trace/kept_extras.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"

enum { TIME_WORDS = 3, OFF_CPU_BYTES = 2 * (1 + 2 * TIME_WORDS), OFF_CPU_WORDS = OFF_CPU_BYTES / 2 };

static uint64_t kept_extras_flagged(const struct decoded_extras *extras, uint64_t length)
{
    const uint64_t off_cpu = smaller(smaller(extras->blocked, length) + smaller(extras->preempted, length), length);
    return larger(decode_flagged(extras, length), off_cpu);
}

/* Adds the first words of a record as a record of its own. */
static void kept_extras_add_record(struct kept_extras *k, const uint8_t *at, unsigned words)
{
    const size_t size = 2 * (size_t)words;
    GROW_BY(k->times, k->length, size, k->room);
    memcpy(k->times + k->length, at, size);
    const uint16_t head =
        (uint16_t)((decode_word(at) >> DWELL_EXTENSION_LENGTH_BITS) << DWELL_EXTENSION_LENGTH_BITS | (words - 1));
    memcpy(k->times + k->length, &head, sizeof head);
    k->length += size;
}

/* Objects and CPUs keep their places among the times. */
static void kept_extras_add_times(struct kept_extras *k, const struct decoded_extras *extras)
{
    for (const uint8_t *at = extras->run; at < extras->run_end;) {
        const uint32_t word = decode_word(at), type = word >> DWELL_EXTENSION_LENGTH_BITS;
        const size_t size = 2 + 2 * (word & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1));
        if ((type == DWELL_EXT_BLOCKED || type == DWELL_EXT_PREEMPTED) && size >= OFF_CPU_BYTES) {
            kept_extras_add_record(k, at, OFF_CPU_WORDS);
            k->time_count++;
        } else if (type == DWELL_EXT_OBJECT || type == DWELL_EXT_CPU) {
            kept_extras_add_record(k, at, (unsigned)size / 2);
        }
        at += size;
    }
}

void kept_extras_add(struct kept_extras *k, const struct decoded_extras *extras, uint64_t length)
{
    if (!extras->flagged)
        return;
    const uint64_t flagged = kept_extras_flagged(extras, length);
    k->any = true;
    k->flagged += flagged;
    k->own += less(decode_runtime(extras, length), length - flagged);
    k->os_events += extras->os_events;
    k->page_faults += extras->page_faults;
    if (extras->blocked || extras->preempted || extras->objects)
        kept_extras_add_times(k, extras);
}

void kept_extras_put(struct kept_extras *k, struct event_writer *w, uint64_t length)
{
    if (!k->any)
        return;
    const bool whole = k->flagged >= length;
    const uint64_t described = k->time_count + k->page_faults;
    uint64_t flags = less(k->os_events, described);
    if (!whole && flags == 0)
        flags = 1;
    for (; flags > (whole ? 0 : 1); flags--)
        event_writer_put_head(w, DWELL_EXT_OS, 0);
    if (!whole) {
        event_writer_put_head(w, DWELL_EXT_OS, TIME_WORDS);
        event_writer_put_number(w, larger(less(k->flagged, k->own), 1), TIME_WORDS); /* zero is the whole interval */
    }
    event_writer_put_words(w, k->times, k->length / sizeof(uint16_t));
    if (k->page_faults) {
        event_writer_put_head(w, DWELL_EXT_FAULTS, 2);
        event_writer_put_number(w, k->page_faults, 2);
    }
    k->any = false;
    k->flagged = k->own = k->length = k->time_count = k->os_events = k->page_faults = 0;
}

void kept_extras_free(struct kept_extras *k)
{
    free(k->times);
    *k = (struct kept_extras){ 0 };
}
