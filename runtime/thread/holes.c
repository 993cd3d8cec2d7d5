/*
 * Holes: finds the records of a thread's current chunk that were claimed and not stored, and stores them. Which call a
 * missing enter belongs to is known from the shadow stack, as its probe has written the entry before the claim. A
 * missing exit has the time of the event before it.
 */
#include <string.h>

#include "call.h"
#include "chunk.h"
#include "holes.h"
#include "record.h"
#include "recorder.h"
#include "runtime.h"
#include "session.h"
#include "sites.h"
#include "thread.h"
#include "thread_chunks.h"

enum { LONG_TIME_BITS = 48, TIME_WORDS = 3 };

/* A place in the chunk between two records. */
struct holes_walk {
    char *at, *end;
    uint32_t depth;
    uint32_t upper[2];
    uint64_t time;
};

/* A record: its extensions, and its event. */
struct holes_record {
    char *event, *end;
    char *last_extension; /* NULL if there is none. Perhaps it is not whole */
    bool stored;          /* wholly; otherwise `event` and `end` are where the words stop */
    uint32_t word;        /* the event's */
    uint64_t time;
    uint32_t upper[2];
    uint32_t left;
};

static uint32_t holes_word(const char *at)
{
    uint16_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t holes_time(uint64_t last, uint64_t low, int bits)
{
    return last + ((low - last) & ((1ull << bits) - 1));
}

static bool holes_is_extension(uint32_t word)
{
    return word != 0 && word >> DWELL_WORD_KIND_SHIFT == DWELL_WORD_EXTENSION;
}

/* Reads the record at the walk's place. */
static struct holes_record holes_read(const struct holes_walk *w)
{
    struct holes_record r = { .event = w->at, .upper = { w->upper[0], w->upper[1] } };
    for (; r.event < w->end && holes_is_extension(holes_word(r.event)); r.event += record_bytes(r.word)) {
        r.word = holes_word(r.event);
        const char *words = r.event + 2;
        r.last_extension = r.event;
        switch (r.word >> DWELL_EXTENSION_LENGTH_BITS) {
        case DWELL_EXT_TIME:
            r.time = holes_time(w->time, record_number(words, TIME_WORDS), LONG_TIME_BITS);
            break;
        case DWELL_EXT_UPPER:
            r.upper[holes_word(words) & 1] = (uint32_t)record_number(words + 2, 2);
            break;
        case DWELL_EXT_UNWIND:
            r.left = (uint32_t)record_number(words, 2);
            break;
        default:
            break;
        }
    }
    r.end = r.event;
    if (r.event >= w->end)
        return r;
    r.word = holes_word(r.event);
    if (r.word == 0)
        return r;
    if (!r.time)
        r.time = holes_time(w->time, r.word, DWELL_TIME_BITS);
    r.end = r.event + record_bytes(r.word);
    r.stored = r.end == r.event + EXIT_BYTES || record_number(r.event + 2, 2) != 0;
    return r;
}

static void holes_apply(struct holes_walk *w, const struct holes_record *r)
{
    w->at = r->end;
    w->time = r->time;
    memcpy(w->upper, r->upper, sizeof w->upper);
    w->depth -= r->left < w->depth ? r->left : w->depth;
    if (r->word >> DWELL_WORD_KIND_SHIFT != DWELL_WORD_EXIT)
        w->depth++;
    else if (w->depth > 0)
        w->depth--;
}

/* The call that is the `number`th, from 1, of those that the file knows of. NULL if so many are not open. */
static const struct call *holes_call(const struct thread *t, uint32_t number)
{
    const struct call *call = (const struct call *)t->shadow, *end = thread_call(t, t->state);
    if (recorder_shows_all())
        return number < (uint32_t)(end - call) ? call + number : NULL;
    for (call++; call < end; call++)
        if (recorder_shows(call) && --number == 0)
            return call;
    return NULL;
}

/* What is known of the records around a hole. */
struct holes_bounds {
    uint64_t next_time;     /* the event after it is not earlier: UINT64_MAX if there is none */
    uint32_t next_function; /* low half of the address, if that is an enter */
    const char *end;
};

static struct holes_bounds holes_find_bounds(const struct holes_walk *w, const struct holes_record *hole)
{
    char *end = hole->end;
    while (end < w->end && holes_word(end) == 0)
        end += 2;
    struct holes_walk behind = *w;
    behind.at = end;
    const struct holes_record next = holes_read(&behind);
    struct holes_bounds bounds = { UINT64_MAX, 0, end };
    if (next.stored) {
        bounds.next_time = next.time;
        if (next.end != next.event + EXIT_BYTES)
            bounds.next_function = (uint32_t)record_number(next.event + 2, 2);
    }
    return bounds;
}

static const struct slow_record *holes_slow_record(const struct thread *t, const char *at)
{
    const uint32_t position = (uint32_t)(at - t->base);
    for (uint32_t i = 0; i < t->holes.slow_count; i++)
        if (t->holes.slow[i].position == position && t->holes.slow[i].base == t->base)
            return &t->holes.slow[i];
    return NULL;
}

/* Whether the missing record may be the enter of the call. It is later than the event before the hole, and the enter
 * after the hole is another one. */
static bool holes_is_enter_of(const struct call *call, const struct holes_walk *w, const struct holes_bounds *bounds)
{
    if (call->enter_time < w->time || call->enter_time > bounds->next_time)
        return false;
    return call->enter_time < bounds->next_time || (uint32_t)call->function != bounds->next_function;
}

/* Stores a usual enter as its probe would. False if it cannot be that one. */
static bool holes_store_enter(struct holes_walk *w, const struct call *call, const char *end)
{
    uint16_t words[MAX_SITE_WORDS];
    const int count = sites_put(words, call->call_site, recorder_shows(&call[-1]) ? &call[-1] : NULL);
    const uint32_t upper = (uint32_t)(call->function >> 32);
    const unsigned half = upper != w->upper[0];
    if (w->at + 2 * count + ENTER_BYTES > end || upper != w->upper[half])
        return false;
    store_words(w->at, words, count);
    store_enter(w->at + 2 * count, half, call->enter_time, call->function);
    w->at += 2 * count + ENTER_BYTES;
    w->time = call->enter_time;
    w->depth++;
    return true;
}

static void holes_store_exit(struct holes_walk *w)
{
    store_word(w->at, timed_word(DWELL_WORD_EXIT, w->time));
    w->at += EXIT_BYTES;
    w->depth -= w->depth > 0;
}

/* Extensions without a meaning, over the words that were not stored. */
static void holes_pad(char *at, const char *end)
{
    while (at < end) {
        const int length = (int)((end - at) / 2 - 1);
        const int words = length < UINT8_MAX ? length : UINT8_MAX;
        store_word(at, extension_word(DWELL_EXT_PAD, words));
        at += 2 + 2 * words;
    }
}

/*
 * Stores a record of the slow path. What its probe has stored of the extensions is kept, but for the last one, which
 * may not be whole. What it has not stored is not known any more, but that the OS intervened.
 */
static bool holes_store_slow(struct holes_walk *w, const struct holes_record *r, const struct slow_record *slow,
                             const struct call *call)
{
    char *const end = w->at + slow->bytes, *const event = end - (slow->enter ? ENTER_BYTES : EXIT_BYTES);
    const uint64_t time = slow->enter ? call->enter_time : w->time;
    const uint32_t upper = slow->enter ? (uint32_t)(call->function >> 32) : w->upper[0];
    const unsigned half = upper != w->upper[0];
    if (end > w->end || r->event > event || upper != w->upper[half])
        return false;
    if (r->event < event) {
        if (r->last_extension)
            store_word(r->last_extension,
                       extension_word(DWELL_EXT_PAD, extension_words(holes_word(r->last_extension))));
        store_word(r->event, extension_word(DWELL_EXT_OS, 0));
        holes_pad(r->event + 2, event);
    }
    if (slow->enter)
        store_enter(event, half, time, call->function);
    else
        store_word(event, timed_word(DWELL_WORD_EXIT, time));
    w->at = event;
    const struct holes_walk before = *w;
    const struct holes_record whole = holes_read(&before);
    holes_apply(w, &whole);
    return true;
}

/* Stores what is missing from the record `r` on up to the next one that was stored. */
static bool holes_fill_one(struct thread *t, struct holes_walk *w, struct holes_record r)
{
    const struct holes_bounds bounds = holes_find_bounds(w, &r);
    while (w->at < bounds.end) {
        const struct slow_record *slow = holes_slow_record(t, w->at);
        const struct call *call = holes_call(t, w->depth + 1);
        if (call && !holes_is_enter_of(call, w, &bounds))
            call = NULL;
        if (slow) {
            if ((slow->enter && !call) || !holes_store_slow(w, &r, slow, call))
                return false;
        } else if (!call || !holes_store_enter(w, call, bounds.end)) {
            if (holes_word(w->at) != 0)
                return false;
            holes_store_exit(w);
        }
        r = holes_read(w);
    }
    return true;
}

static bool holes_walk_chunk(struct thread *t, uint32_t depth)
{
    struct thread_holes *const h = &t->holes;
    struct holes_walk w = {
        .at = t->base + h->checked,
        .end = t->base + thread_position(t),
        .depth = h->depth,
        .upper = { h->upper[0], h->upper[1] },
        .time = h->time,
    };
    while (w.at < w.end) {
        const struct holes_record r = holes_read(&w);
        if (r.event >= w.end)
            break; /* padding */
        if (r.stored) {
            holes_apply(&w, &r);
            continue;
        }
        h->found = true;
        if (!holes_fill_one(t, &w, r))
            return false;
    }
    return w.depth == depth;
}

static uint32_t holes_depth(const struct thread *t)
{
    return recorder_shown_depth(t) + t->filter.left_unrecorded;
}

void holes_skip(struct thread *t)
{
    struct thread_holes *const h = &t->holes;
    h->slow_count = 0;
    h->checked = thread_position(t);
    h->depth = holes_depth(t);
    memcpy(h->upper, t->upper, sizeof h->upper);
    h->time = t->last;
    h->zeros[HOLES_BEFORE] = h->zeros[HOLES_LAST] = 0;
    h->last = t->chunks.end > HOLES_LAST_BYTES ? t->chunks.end - HOLES_LAST_BYTES : 0;
}

/*
 * The number of zero words before `end` that a zero word follows, as in an enter that was not stored. A missing exit
 * alone is left to the reader. Numbers of extensions may have such words as well: a short wait, or the number of a
 * descriptor. So they are counted where they are stored.
 */
static uint32_t holes_count_zeros(const char *begin, const char *end)
{
    const record_word *at = (const record_word *)begin, *last = (const record_word *)end - 1;
    enum { AT_ONCE = 64 }; /* a constant, so that the compiler uses vector instructions */
    uint32_t count = 0;
    for (; at + AT_ONCE <= last; at += AT_ONCE) {
        uint16_t zeros = 0;
        for (int i = 0; i < AT_ONCE; i++)
            zeros = (uint16_t)(zeros + ((at[i] | at[i + 1]) == 0));
        count += zeros;
    }
    for (; at < last; at++)
        count += (at[0] | at[1]) == 0;
    return count;
}

/* Whether the records from the position `begin` on have other zeros than those that were counted. */
static bool holes_may_be(const struct thread *t, uint32_t begin)
{
    const struct thread_holes *const h = &t->holes;
    const uint32_t stored = h->zeros[HOLES_LAST] + (begin < h->last ? h->zeros[HOLES_BEFORE] : 0);
    return holes_count_zeros(t->base + begin, t->base + thread_position(t)) != stored;
}

static bool holes_search(struct thread *t)
{
    __atomic_fetch_add(&session_more(&runtime.session)->hole_searches, 1, __ATOMIC_RELAXED);
    return holes_walk_chunk(t, holes_depth(t));
}

bool holes_fill(struct thread *t)
{
    if (!t->chunks.current || t->holes.checked == thread_position(t))
        return true;
    if (session_is_whole(&runtime.session) && holes_may_be(t, t->holes.checked) && !holes_search(t)) {
        thread_give_up_chunk(t, false);
        return false;
    }
    holes_skip(t);
    return true;
}

void holes_fill_last(struct thread *t)
{
    const struct thread_holes *const h = &t->holes;
    const uint32_t begin = h->checked > h->last ? h->checked : h->last;
    if (t->chunks.current && thread_position(t) > begin && holes_may_be(t, begin))
        holes_fill(t);
}
