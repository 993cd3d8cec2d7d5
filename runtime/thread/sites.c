/* Call sites on the slow path, and those of the calls that are open where a chunk begins. */

#include "sites.h"
#include "call.h"
#include "record.h"
#include "recorder.h"
#include "runtime.h"
#include "slow.h"
#include "thread.h"

enum {
    SITE_WORDS = 4, /* of one call in the record of the open calls */
    SITES_A_RECORD = 63,
};

bool sites_are_recorded(void)
{
    return runtime.call_sites;
}

uint64_t sites_of_event(const struct call *caller, const struct event *event)
{
    return runtime.call_sites ? call_site_of(caller, event->function, event->stack_pointer, event->origin) : 0;
}

int sites_put(uint16_t words[MAX_SITE_WORDS], uint64_t call_site, const struct call *caller)
{
    return runtime.call_sites ? sites_words(words, call_site, caller) : 0;
}

/* ---- where a chunk begins ---- */

uint32_t sites_open_bytes(uint32_t depth)
{
    const uint32_t records = (depth + SITES_A_RECORD - 1) / SITES_A_RECORD;
    return runtime.call_sites ? (records + depth * SITE_WORDS) * (uint32_t)sizeof(uint16_t) : 0;
}

void sites_write_open(const struct thread *t, char *at, uint32_t depth)
{
    const struct call *call = (const struct call *)t->shadow + 1;
    for (uint32_t i = 0; i < depth; call++) {
        if (!recorder_shows(call))
            continue;
        if (i % SITES_A_RECORD == 0) {
            const uint32_t here = depth - i < SITES_A_RECORD ? depth - i : SITES_A_RECORD;
            store_word(at, (uint32_t)DWELL_EXT_OPEN_SITES << DWELL_EXTENSION_LENGTH_BITS | here * SITE_WORDS);
            at += 2;
        }
        for (int word = 0; word < SITE_WORDS; word++, at += 2)
            store_word(at, (uint16_t)(call->call_site >> 16 * word));
        i++;
    }
}
