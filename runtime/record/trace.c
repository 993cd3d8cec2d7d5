/*
 * The modes trace and ring without filters: the events on the slow path, pauses and switches of stacks. Builds the
 * extension records that an event needs before it, and claims room for all of it at once.
 *
 * Reentrant: a signal handler may record events at any point of trace_record.
 */
#include "calibrate.h"
#include "call.h"
#include "chunk.h"
#include "clock.h"
#include "extensions.h"
#include "frames_left.h"
#include "objects.h"
#include "osevents.h"
#include "pause.h"
#include "probes.h"
#include "record.h"
#include "recorder.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "stacks.h"
#include "thread.h"
#include "thread_chunks.h"

static bool trace_is_ready(const struct thread *t, uint32_t room)
{
    (void)t;
    return room > 0;
}

/* ---- events ---- */

/* Records the runtime's own time before an event, if it exceeds that of a usual event on the slow path. Calibration
 * does not measure the rest. */
static void trace_put_own_time(const struct thread *t, struct extensions *e, const struct own_moment *begin)
{
    const uint64_t usual = runtime.session.header->ticks_per_second / 1000000;
    if (begin->time == 0 || (int64_t)(clock_counter() - begin->time) <= (int64_t)usual)
        return;
    const uint64_t took = own_since(t, begin).cpu;
    if (took <= usual)
        return;
    e->length += cost_words(e->words + e->length, took);
}

/* Whether no probe handles the thread's next event until thread_set_limit is called. */
static bool trace_needs_limit(const struct thread *t)
{
    return (uint32_t)t->state > t->chunks.limit || (t->wiped->limit == 0 && t->wiped->gate == GATE_SLOW);
}

/* One try. Writing entries below the top of the shadow stack, or the upper halves, needs signals held back. */
static enum attempt_outcome trace_try(struct thread *t, const struct event *event, struct extensions *e, bool guarded)
{
    const uint64_t state = thread_state(t);
    char *const base = t->base; /* after the claim a handler may have begun another chunk */
    struct dwell_chunk_header *const chunk = t->chunks.current;
    if (UNLIKELY(!*(volatile uint32_t *)&t->wiped->alive))
        return ATTEMPT_AGAIN; /* a handler has forked, and this is the child */
    const uint64_t last = t->last;
    uint64_t now = clock_now(runtime.clock);
    if (now < last)
        now = last; /* the counters of two CPUs may differ by a few ticks */
    if (UNLIKELY(os_intervened(t)))
        return ATTEMPT_AGAIN; /* before the clock was read */

    const int64_t left = frames_left_before(t, state, event);
    if (left < 0)
        return ATTEMPT_DONE; /* its enter came before the recording */
    const int before_upper = e->length;
    unsigned half = 0;
    extensions_put_unwind(e, (uint64_t)left);
    extensions_put_time(e, now, last);
    const int length = e->length;
    if (event->enter)
        half = extensions_put_upper(e, t, event->function);
    const bool new_upper = e->length > length;
    if ((left > 0 || new_upper) && !guarded) {
        e->length = before_upper;
        return ATTEMPT_GUARDED;
    }
    if (left > 0 && !holes_fill(t))
        return ATTEMPT_AGAIN;

    const uint64_t depth = (state >> 32) - (uint64_t)left * sizeof(struct call);
    struct call *const call = (struct call *)(t->shadow + depth);
    uint64_t call_site = 0;
    if (event->enter) {
        call_site = sites_of_event(&call[-1], event);
        e->length += sites_put(e->words + e->length, call_site, &call[-1]);
    }
    const uint32_t bytes = extensions_bytes(e) + (event->enter ? ENTER_BYTES : EXIT_BYTES);
    if ((uint32_t)state + bytes > t->chunks.end || depth + sizeof *call > t->shadow_size) {
        thread_next_chunk(t, bytes);
        return ATTEMPT_AGAIN;
    }
    uint64_t after = depth - sizeof *call;
    uint32_t kind = DWELL_WORD_EXIT;
    if (event->enter) {
        *call = (struct call){ event->function, event->stack_pointer, now, event->frame_id, call_site, { NULL } };
        after = depth + sizeof *call;
        kind = DWELL_WORD_ENTER_0 + half;
    }
    const uint32_t slow_count = t->holes.slow_count;
    const struct slow_record record = { base, (uint32_t)state, bytes, event->enter };
    if (!guarded && !holes_begin_slow(&t->holes, record))
        return ATTEMPT_GUARDED;
    if (!thread_claim(t, state, after << 32 | ((uint32_t)state + bytes))) {
        holes_end_slow(&t->holes, slow_count);
        return ATTEMPT_AGAIN;
    }
    chunk_count_extensions(chunk, extensions_bytes(e), (uint32_t)left);
    extensions_store(e, base + (uint32_t)state, timed_word(kind, now), event->enter, event->function);
    holes_end_slow(&t->holes, slow_count);
    if (LIKELY(t->base == base))
        holes_note_zeros(&t->holes, (uint32_t)state, e->words, e->length);
    t->last = now;
    if (new_upper)
        extensions_take_upper(t, half, event->function);
    return ATTEMPT_DONE;
}

static enum attempt_outcome trace_record(struct thread *t, struct attempt *attempt)
{
    struct extensions *const e = &attempt->extensions;
    if ((UNLIKELY(trace_needs_limit(t)) && runtime.clock != DWELL_CLOCK_MONOTONIC) || UNLIKELY(t->ring.ends_early))
        thread_next_chunk(t, ENTER_BYTES);
    if (UNLIKELY(t->stopped))
        return ATTEMPT_AGAIN; /* the event is counted as lost */
    extensions_read_os_events(t, e, OS_NOW);
    if (attempt->event->flagged && e->length == 0)
        extensions_put_head(e, DWELL_EXT_OS, 0);
    const int kept = e->length;
    if (attempt->event->object)
        object_put(e, attempt->event->object);
    trace_put_own_time(t, e, &attempt->begin);
    const enum attempt_outcome outcome = trace_try(t, attempt->event, e, attempt->guarded);
    e->length = kept;
    return outcome;
}

/* ---- control events ---- */

static void trace_control(struct thread *t, const struct control_event *event)
{
    uint16_t storage[MAX_CONTROL_WORDS];
    struct extensions e = { storage, 0 };
    struct control_event at = *event;
    if (t->stopped)
        return;
    holes_fill(t);
    if (at.time)
        extensions_read_os_events(t, &e, at.time);
    else
        at.time = extensions_end_interval(t, &e);
    extensions_put_control(&e, t, &at);
    extensions_append_control(t, &e, &at);
}

static void trace_pause(struct thread *t, uint64_t time)
{
    if (t->chunks.current)
        trace_control(t, &(struct control_event){ .type = DWELL_EXT_PAUSE, .time = time });
}

/* Where the resume event does not fit, the next chunk begins with the calls that are open. */
static void trace_resume(struct thread *t, uint64_t time)
{
    uint16_t words[PAUSE_RESUME_WORDS];
    const struct control_event resume = pause_resume_event(t, time, words);
    if (t->chunks.current && !pause_resume_fits(t, &resume)) {
        const uint64_t state = t->state;
        t->state = thread_with_depth(state, t->pause.depth);
        thread_give_up_chunk(t, true);
        t->state = state;
    }
    os_skip(t, time);
    if (t->chunks.current)
        trace_control(t, &resume);
    t->last = time;
}

static void trace_switch_stack(struct thread *t, struct stack *to)
{
    uint16_t storage[MAX_CONTROL_WORDS];
    struct extensions e = { storage, 0 };
    holes_fill(t);
    if ((uint32_t)t->state + STACKS_SWITCH_ROOM > t->chunks.end)
        thread_next_chunk(t, STACKS_SWITCH_ROOM);
    const uint64_t now = extensions_end_interval(t, &e);
    const uint32_t ended = thread_calls(t->state), opened = stacks_calls(to);
    const uint16_t words[] = { (uint16_t)to->number, (uint16_t)(to->number >> 16) };
    const bool few = opened <= MAX_OPENED;
    stacks_exchange(t, to, now);
    t->state = thread_with_depth(t->state, few ? to->depth : sizeof(struct call));
    if (t->chunks.current && !t->stopped) {
        const struct control_event event = { DWELL_EXT_SWITCH, now, words, 2, few ? opened : 0, ended };
        extensions_put_control(&e, t, &event);
        extensions_append_control(t, &e, &event);
    }
    if (!few)
        thread_give_up_chunk(t, true); /* the next one begins with the calls of the stack */
    t->state = thread_with_depth(t->state, to->depth);
    t->last = now;
}

const struct recorder trace_recorder = {
    .gates = { GATE_SLOW, GATE_SITES },
    .paused_gates = { GATE_QUIET, GATE_QUIET_SITES },
    .ready_chunks = 2,
    .calibration = &calibration_of_events,
    .is_ready = trace_is_ready,
    .record = trace_record,
    .control = trace_control,
    .pause = trace_pause,
    .resume = trace_resume,
    .switch_stack = trace_switch_stack,
};
