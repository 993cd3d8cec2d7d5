/*
 * Events that are not of the usual kind: the first of a thread, the first after the OS worked, after a
 * long time, after frames were left, at the end of a chunk. Builds the extension records that an event
 * needs before it, and claims room for all of it at once.
 *
 * Reentrant: a signal handler may record events at any point of it.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "call.h"
#include "chunk.h"
#include "clock.h"
#include "control.h"
#include "filter.h"
#include "frames_left.h"
#include "modules.h"
#include "osevents.h"
#include "pause.h"
#include "record.h"
#include "runtime.h"
#include "session.h"
#include "sites.h"
#include "slow.h"
#include "stacks.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"
#include "tree.h"

enum {
    MAX_OS_WORDS = 160,  /* of extensions before one event, on what the OS did */
    CONTROL_WORDS = 160, /* of a control event, */
    OPEN_WORDS = 8,      /* and of each call that is found open there, */
    OPEN_SITE_WORDS = 4, /* with its site */
    MAX_WORDS = MAX_OS_WORDS + CONTROL_WORDS + MAX_OPENED * (OPEN_WORDS + OPEN_SITE_WORDS),
};

/* The words before an event. */
struct extensions {
    uint16_t words[MAX_WORDS];
    int length;
};

static void put(struct extensions *e, uint16_t word)
{
    e->words[e->length++] = word;
}

static void put_head(struct extensions *e, enum dwell_extension type, int words)
{
    put(e, (uint16_t)(type << DWELL_EXTENSION_LENGTH_BITS | words));
}

static void put_number(struct extensions *e, uint64_t value, int words)
{
    for (int i = 0; i < words; i++)
        put(e, (uint16_t)(value >> 16 * i));
}

static void read_os_events(struct thread *t, struct extensions *pending)
{
    while (*t->os.word != t->os.seen && t->wiped->alive) {
        struct os_events events;
        uint64_t head = os_read(t, &events);
        if (!os_commit(t, head, &events))
            continue; /* a signal handler's probe has recorded them */
        if (!events.flagged)
            continue;
        t->switches.recorded += switches_sum(&events.switches);
        if (pending->length + events.length > MAX_OS_WORDS)
            return; /* flagged and described enough */
        memcpy(pending->words + pending->length, events.words, (size_t)events.length * sizeof *events.words);
        pending->length += events.length;
    }
}

/* So far only what a usual event on this way takes is left untold: calibration knows nothing of the rest, as it may
 * wait for memory, for the disk or for another thread. */
static void tell_own_time(struct extensions *e, uint64_t begin)
{
    if (begin == 0)
        return;
    const uint64_t usual = runtime.session.header->ticks_per_second / 1000000;
    const uint64_t took = clock_counter() - begin;
    if (took <= usual || took > INT64_MAX)
        return;
    put_head(e, DWELL_EXT_RUNTIME, 3);
    put_number(e, took, 3);
}

static void put_site(struct extensions *e, uint64_t call_site, const struct call *caller)
{
    e->length += sites_words(e->words + e->length, call_site, caller);
}

static uint64_t event_call_site(const struct call *caller, const struct event *event)
{
    return call_site_of(caller, event->function, event->stack_pointer, event->origin);
}

/* Which of the two upper halves names this address, and whether one does. */
static bool find_upper(const struct thread *t, uint64_t function, unsigned *half)
{
    uint32_t upper = (uint32_t)(function >> 32);
    *half = upper != t->upper[0];
    return upper == t->upper[*half];
}

/* In program order: whoever reads the file after a kill finds whole extensions before an event, or no
 * event behind them. */
static void store(char *at, const struct extensions *e, uint16_t word, bool enter, uint64_t function)
{
    for (int i = 0; i < e->length; i++, at += 2)
        store_word(at, e->words[i]);
    store_word(at, word);
    if (enter)
        store_address(at + 2, function);
}

enum outcome { DONE, AGAIN, GUARD };

/*
 * One try. AGAIN: the thread's state changed meanwhile, or it needed room first. GUARD: to be called again
 * with signals held back, as it writes what a handler's probes rely on: entries below the top of the shadow
 * stack, or the upper halves.
 */
static enum outcome try_record(struct thread *t, const struct event *event, struct extensions *e, bool guarded)
{
    const uint64_t state = thread_state(t);
    char *const base = t->base; /* after the claim a handler may have begun another chunk */
    struct dwell_chunk_header *const chunk = t->chunks.current;
    if (UNLIKELY(!*(volatile uint32_t *)&t->wiped->alive))
        return AGAIN; /* a handler has forked, and this is the child */
    const uint64_t last = t->last;
    uint64_t now = clock_now(runtime.clock);
    if (now < last)
        now = last; /* the counters of two CPUs may differ by a few ticks */

    const int64_t left = frames_left_before(t, state, event);
    if (left < 0)
        return DONE; /* its enter came before the recording */
    unsigned half = 0;
    const bool new_upper = event->enter && !find_upper(t, event->function, &half);
    if ((left > 0 || new_upper) && !guarded)
        return GUARD;
    if (left > 0) {
        put_head(e, DWELL_EXT_UNWIND, 2);
        put_number(e, (uint64_t)left, 2);
    }
    if (now - last > DWELL_TIME_MASK) {
        put_head(e, DWELL_EXT_TIME, 3);
        put_number(e, now, 3);
    }
    if (new_upper) {
        half = t->next_upper;
        put_head(e, DWELL_EXT_UPPER, 3);
        put_number(e, half, 1);
        put_number(e, event->function >> 32, 2);
    }

    const uint64_t depth = (state >> 32) - (uint64_t)left * sizeof(struct call);
    uint64_t call_site = 0;
    if (UNLIKELY(runtime.call_sites) && event->enter) {
        const struct call *caller = (const struct call *)(t->shadow + depth) - 1;
        call_site = event_call_site(caller, event);
        put_site(e, call_site, caller);
    }
    const uint32_t bytes = (uint32_t)e->length * 2 + (event->enter ? ENTER_BYTES : EXIT_BYTES);
    if ((uint32_t)state + bytes > t->chunks.end || depth + sizeof(struct call) > t->shadow_size) {
        thread_next_chunk(t, bytes);
        return AGAIN;
    }
    struct call *call = (struct call *)(t->shadow + depth);
    uint64_t after = depth - sizeof *call;
    uint32_t word = DWELL_WORD_EXIT;
    if (event->enter) {
        *call = (struct call){ event->function, event->stack_pointer, now, event->frame_id, call_site, { NULL } };
        after = depth + sizeof *call;
        word = DWELL_WORD_ENTER_0 + half;
    }
    if (!thread_claim(t, state, after << 32 | ((uint32_t)state + bytes)))
        return AGAIN;
    word = word << DWELL_WORD_KIND_SHIFT | ((uint32_t)now & DWELL_TIME_MASK);
    chunk_count_extensions(chunk, (uint32_t)e->length * 2, (uint32_t)left);
    store(base + (uint32_t)state, e, (uint16_t)word, event->enter, event->function);
    t->last = now;
    if (new_upper) {
        t->upper[half] = (uint32_t)(event->function >> 32);
        t->next_upper = !half;
    }
    return DONE;
}

/* A chunk that begins does so without the calls that were left: whether it has to is known before they are told. */
static bool make_room(struct thread *t)
{
    if (!t->chunks.current || (uint32_t)t->state + sizeof(struct extensions) > t->chunks.end)
        thread_next_chunk(t, sizeof(struct extensions));
    return !t->stopped;
}

uint32_t slow_control_bytes(const struct control_event *event)
{
    const int words = 1 + 3 + event->count + (int)event->opened * (OPEN_WORDS + OPEN_SITE_WORDS);
    return (uint32_t)words * 2;
}

void slow_control(struct thread *t, const struct control_event *event)
{
    struct extensions e;
    e.length = 0;
    if (t->stopped || runtime.mode == DWELL_MODE_PROFILE)
        return;
    if (runtime.filtered) { /* calls that wait come before */
        slow_keep_os_events(t);
        filter_flush(t);
        if (!make_room(t))
            return;
        e.length = (int)t->filter.kept_words;
        memcpy(e.words, t->filter.kept, t->filter.kept_words * sizeof *t->filter.kept);
        t->filter.kept_words = 0;
        if (t->filter.left_unrecorded) {
            put_head(&e, DWELL_EXT_UNWIND, 2);
            put_number(&e, t->filter.left_unrecorded, 2);
        }
    } else {
        read_os_events(t, &e);
    }
    const struct call *open = thread_call(t, t->state) - event->opened;
    for (uint32_t i = 0; i < event->opened; i++) {
        put_head(&e, DWELL_EXT_OPEN, OPEN_WORDS - 1 + (runtime.call_sites ? OPEN_SITE_WORDS : 0));
        put_number(&e, open[i].function, 4);
        put_number(&e, open[i].enter_time, 3);
        if (runtime.call_sites)
            put_number(&e, open[i].call_site, OPEN_SITE_WORDS);
    }
    put_head(&e, event->type, 3 + event->count);
    put_number(&e, event->time, 3);
    for (int i = 0; i < event->count; i++)
        put(&e, event->words[i]);

    const uint32_t bytes = (uint32_t)e.length * 2;
    if (!t->chunks.current || (uint32_t)t->state + bytes > t->chunks.end)
        thread_next_chunk(t, bytes);
    if (!t->chunks.current)
        return;
    char *at = t->base + (uint32_t)t->state;
    t->state += bytes;
    t->chunks.current->enters += bytes;
    t->chunks.current->exits += event->ended - event->opened + t->filter.left_unrecorded;
    t->filter.left_unrecorded = 0;
    for (int i = 0; i < e.length; i++, at += 2)
        store_word(at, e.words[i]);
    t->last = event->time;
}

void slow_keep_os_events(struct thread *t)
{
    struct extensions e;
    e.length = 0;
    read_os_events(t, &e);
    if (!e.length)
        return;
    if (t->filter.kept_words + (uint32_t)e.length > KEPT_WORDS - 1) {
        e.length = 0;
        put_head(&e, DWELL_EXT_OS, 0);
    }
    if (t->filter.kept_words + (uint32_t)e.length <= KEPT_WORDS) {
        memcpy(t->filter.kept + t->filter.kept_words, e.words, (size_t)e.length * sizeof *e.words);
        t->filter.kept_words += (uint32_t)e.length;
    }
}

void slow_emit(struct thread *t, uint64_t time, const struct call *call, bool enter)
{
    const uint64_t function = call->function;
    if (!make_room(t)) {
        slow_count_lost();
        return;
    }
    struct extensions e;
    e.length = (int)t->filter.kept_words;
    memcpy(e.words, t->filter.kept, t->filter.kept_words * sizeof *t->filter.kept);
    if (t->filter.left_unrecorded) {
        put_head(&e, DWELL_EXT_UNWIND, 2);
        put_number(&e, t->filter.left_unrecorded, 2);
    }
    if (time < t->last)
        time = t->last;
    if (time - t->last > DWELL_TIME_MASK) {
        put_head(&e, DWELL_EXT_TIME, 3);
        put_number(&e, time, 3);
    }
    unsigned half = 0;
    if (enter && !find_upper(t, function, &half)) {
        half = t->next_upper;
        put_head(&e, DWELL_EXT_UPPER, 3);
        put_number(&e, half, 1);
        put_number(&e, function >> 32, 2);
    }
    if (enter && runtime.call_sites)
        put_site(&e, call->call_site, call[-1].kind == CALL_SHOWN ? &call[-1] : NULL);
    const uint32_t bytes = (uint32_t)e.length * 2 + (enter ? ENTER_BYTES : EXIT_BYTES);
    const uint32_t kind = enter ? (uint32_t)DWELL_WORD_ENTER_0 + half : (uint32_t)DWELL_WORD_EXIT;
    t->chunks.current->exits += t->filter.left_unrecorded;
    t->chunks.current->enters += (uint32_t)e.length * 2;
    store(t->base + (uint32_t)t->state, &e,
          (uint16_t)(kind << DWELL_WORD_KIND_SHIFT | ((uint32_t)time & DWELL_TIME_MASK)), enter, function);
    t->state += bytes;
    t->last = time;
    t->filter.left_unrecorded = t->filter.kept_words = 0;
    if (enter && (uint32_t)(function >> 32) != t->upper[half]) {
        t->upper[half] = (uint32_t)(function >> 32);
        t->next_upper = !half;
    }
}

/* In the file at once: a kill would take what is not there yet. */
void slow_count_lost(void)
{
    if (runtime.session.header && (!runtime.off || runtime.lossy))
        session_lose(&runtime.session);
}

static void update_modules(struct thread *t, const struct event *event)
{
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        thread_stop_for(t, DWELL_TROUBLE_REFUSED);
        return;
    }
    if (t->wiped->alive) { /* else a handler has forked */
        const bool loading = modules_is_loading(t, event->stack_pointer);
        t->modules.stale = !modules_update(loading, event->function) || loading;
        thread_set_limit(t);
    }
    sys_restore_signals(mask);
}

static bool hold_signals(struct thread *t, uint64_t *mask)
{
    *mask = sys_block_signals();
    if (*mask != SYS_NOT_BLOCKED)
        return true;
    thread_stop_for(t, DWELL_TROUBLE_REFUSED);
    return false;
}

/* For filter.c, before the exit of a call that is shown. */
void slow_keep_flag(struct thread *t)
{
    if (t->filter.kept_words == 0)
        t->filter.kept[t->filter.kept_words++] = DWELL_EXT_OS << DWELL_EXTENSION_LENGTH_BITS;
}

static void record(const struct event *event)
{
    struct extensions e;
    e.length = 0;
    uint64_t begin = 0;
    bool guarded = false;
    uint64_t mask = 0;
    for (;;) {
        struct thread *t = thread_self;
        if (UNLIKELY(!t || !t->wiped->alive)) {
            t = thread_begin();
            if (!t) {
                slow_count_lost();
                break;
            }
            e.length = 0;
        }
        if (UNLIKELY(control_pending(t)))
            control_attend(t);
        if (UNLIKELY(t->stopped)) {
            if (!t->pause.active)
                slow_count_lost();
            break;
        }
        /* What is told is left out beside what calibration has measured; a thread that is stopped may not be allowed to
         * read the clock any more. */
        if (begin == 0 && !t->pause.active && runtime.clock != DWELL_CLOCK_MONOTONIC)
            begin = clock_counter();
        if (UNLIKELY(t->modules.stale))
            update_modules(t, event);
        stacks_find(t, event->stack_pointer);
        if (UNLIKELY(runtime.filtered) && event->enter) {
            filter_trigger(event);
            if (control_pending(t))
                continue;
        }
        if (UNLIKELY(t->pause.active)) {
            if (pause_record(t, event, guarded))
                break;
            if (!guarded && !hold_signals(t, &mask))
                break;
            guarded = true;
            continue;
        }
        if (runtime.mode == DWELL_MODE_PROFILE) {
            tree_record(t, event, begin);
            break;
        }
        if (UNLIKELY(runtime.filtered)) {
            filter_record(t, event);
            break;
        }
        const uint32_t limit = runtime.call_sites ? t->chunks.limit : t->wiped->limit;
        if (UNLIKELY((uint32_t)t->state > limit) && runtime.clock != DWELL_CLOCK_MONOTONIC)
            thread_next_chunk(t, ENTER_BYTES);
        if (UNLIKELY(t->stopped))
            continue;
        read_os_events(t, &e);
        if (event->flagged && e.length == 0)
            put_head(&e, DWELL_EXT_OS, 0);
        const int kept = e.length;
        tell_own_time(&e, begin);
        enum outcome outcome = try_record(t, event, &e, guarded);
        if (outcome == DONE)
            break;
        e.length = kept;
        if (outcome == GUARD) {
            guarded = hold_signals(t, &mask);
        }
    }
    if (guarded)
        sys_restore_signals(mask);
}

/* The probe is one of calibrate.c's, which is spoiled by a way as long as this. */
static bool is_rehearsal(void)
{
    return thread_self && thread_self->serial == 0;
}

static void take(const struct event *event)
{
    if (UNLIKELY(is_rehearsal()))
        return;
    if (runtime.off) {
        slow_count_lost();
        return;
    }
    int error = errno;
    record(event);
    errno = error;
}

void slow_enter(uint64_t function, uint64_t stack_pointer, uint64_t frame_id)
{
    take(&(struct event){ .function = function, .stack_pointer = stack_pointer, .frame_id = frame_id, .enter = true });
}

void slow_enter_from(uint64_t function, uint64_t stack_pointer, uint64_t frame_return, uint64_t probe_return)
{
    take(&(struct event){
        .function = function,
        .stack_pointer = stack_pointer,
        .frame_id = frame_id_of(frame_return, probe_return),
        .origin = { frame_return, probe_return },
        .enter = true,
    });
}

void slow_exit(uint64_t function, uint64_t stack_pointer, bool tail_call)
{
    take(&(struct event){ .function = function, .stack_pointer = stack_pointer, .tail_call = tail_call });
}

void slow_exit_flagged(uint64_t function, uint64_t stack_pointer)
{
    take(&(struct event){ .function = function, .stack_pointer = stack_pointer, .flagged = true });
}
