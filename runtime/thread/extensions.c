/* The extension records before an event or control event. */
#include <string.h>

#include "call.h"
#include "clock.h"
#include "extensions.h"
#include "os_cpu.h"
#include "osevents.h"
#include "record.h"
#include "runtime.h"
#include "sites.h"
#include "switches.h"
#include "thread.h"
#include "thread_chunks.h"

void extensions_put_unwind(struct extensions *e, uint64_t left)
{
    if (left == 0)
        return;
    extensions_put_head(e, DWELL_EXT_UNWIND, 2);
    extensions_put_number(e, left, 2);
}

void extensions_put_time(struct extensions *e, uint64_t now, uint64_t last)
{
    if (now - last <= DWELL_TIME_MASK)
        return;
    extensions_put_head(e, DWELL_EXT_TIME, 3);
    extensions_put_number(e, now, 3);
}

unsigned extensions_put_upper(struct extensions *e, const struct thread *t, uint64_t function)
{
    const uint32_t upper = (uint32_t)(function >> 32);
    if (upper == t->upper[0])
        return 0;
    if (upper == t->upper[1])
        return 1;
    const unsigned half = t->next_upper;
    extensions_put_head(e, DWELL_EXT_UPPER, 3);
    extensions_put_number(e, half, 1);
    extensions_put_number(e, upper, 2);
    return half;
}

void extensions_take_upper(struct thread *t, unsigned half, uint64_t function)
{
    const uint32_t upper = (uint32_t)(function >> 32);
    if (upper == t->upper[half])
        return;
    t->upper[half] = upper;
    t->next_upper = !half;
}

void extensions_read_os_events(struct thread *t, struct extensions *e, uint64_t until)
{
    bool more = true;
    while (more && *t->os.word != t->os.seen && t->wiped->alive) {
        struct os_events events;
        uint64_t head = os_read_until(t, until, &events);
        more = !events.until;
        if (!os_commit(t, head, &events))
            continue; /* a signal handler's probe has recorded them */
        if (!events.flagged)
            continue;
        t->switches.recorded += switches_sum(&events.switches);
        if (e->length + events.length + OS_CPU_WORDS > MAX_OS_WORDS)
            return; /* flagged and described enough */
        memcpy(e->words + e->length, events.words, (size_t)events.length * sizeof *events.words);
        e->length += events.length;
        if (events.blocked + events.preempted && t == thread_self)
            os_cpu_put(e);
    }
}

uint64_t extensions_end_interval(struct thread *t, struct extensions *e)
{
    uint64_t now;
    do {
        extensions_read_os_events(t, e, OS_NOW);
        now = clock_now(runtime.clock);
    } while (os_intervened(t));
    return now > t->last ? now : t->last; /* the counters of two CPUs may differ by a few ticks */
}

uint32_t extensions_control_bytes(const struct control_event *event)
{
    const int words = 1 + 3 + event->count + (int)event->opened * (OPEN_WORDS + OPEN_SITE_WORDS);
    return (uint32_t)words * 2;
}

void extensions_put_control(struct extensions *e, const struct thread *t, const struct control_event *event)
{
    const int site_words = sites_are_recorded() ? OPEN_SITE_WORDS : 0;
    const struct call *open = thread_call(t, t->state) - event->opened;
    for (uint32_t i = 0; i < event->opened; i++) {
        extensions_put_head(e, DWELL_EXT_OPEN, OPEN_WORDS - 1 + site_words);
        extensions_put_number(e, open[i].function, 4);
        extensions_put_number(e, open[i].enter_time, 3);
        extensions_put_number(e, open[i].call_site, site_words);
    }
    extensions_put_head(e, event->type, 3 + event->count);
    extensions_put_number(e, event->time, 3);
    for (int i = 0; i < event->count; i++)
        extensions_put(e, event->words[i]);
}

void extensions_store(const struct extensions *e, char *at, uint32_t word, bool enter, uint64_t function)
{
    store_words(at, e->words, e->length);
    at += extensions_bytes(e);
    store_word(at, word);
    if (enter)
        store_address(at + 2, function);
}

void extensions_append_control(struct thread *t, const struct extensions *e, const struct control_event *event)
{
    const uint32_t bytes = extensions_bytes(e), left = t->filter.left_unrecorded;
    if (!t->chunks.current || (uint32_t)t->state + bytes > t->chunks.end)
        thread_next_chunk(t, bytes);
    if (!t->chunks.current)
        return;
    char *at = t->base + (uint32_t)t->state;
    t->state += bytes;
    t->chunks.current->open.extension_bytes += bytes;
    t->chunks.current->open.left += event->ended - event->opened + left;
    store_words(at, e->words, e->length);
    t->last = event->time;
    t->filter.left_unrecorded = 0;
    holes_skip(t);
}
