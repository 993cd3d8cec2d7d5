/* Finds the elapsed inclusive times of single calls in a chunk of events. */
#include "profile/call_scanner.h"

/* The call's time in 1/256 ticks. A held call has that of the calls below it, and what `less` lists as below zero. */
static inline uint64_t call_scan_elapsed_time(const struct scanned_call *call, uint64_t ticks)
{
    return (call->kind & SCANNED_HELD ? call->called : ticks) * DWELL_PROBE_FRACTION - call->less;
}

__attribute__((noinline)) static void call_scan_elapsed_add_os(struct call_scanner *s,
                                                               const struct decoded_extras *extras, uint64_t length)
{
    call_scanner_add_os(s, extras, length);
}

/* ---- calls ---- */

void call_scan_elapsed_flush(struct call_scanner *s)
{
    for (size_t i = 0; i < s->amount_count; i++)
        s->amounts[i].function = s->scan->paths[s->amounts[i].path].number;
    if (s->amount_count)
        s->scan->take_amounts(s->context, s->amounts, s->amount_count);
    s->amount_count = 0;
}

static inline void call_scan_elapsed_take(struct call_scanner *s, uint32_t path, uint64_t time, uint64_t now)
{
    if (call_scanner_is_outside(s, now))
        return;
    if (__builtin_expect(s->amount_count == SCANNED_AMOUNTS, 0))
        call_scan_elapsed_flush(s);
    s->amounts[s->amount_count++] = (struct call_amount){ time, path, 0 };
}

struct call_part call_scan_elapsed_part(struct call_scanner *s, struct scanned_call *call, uint64_t now)
{
    const uint64_t ticks = now - s->skipped - call->base, time = call_scan_elapsed_time(call, ticks);
    call[-1].less += ticks * DWELL_PROBE_FRACTION - time;
    call[-1].called += call->kind & SCANNED_UNDER_HELD ? ticks : 0;
    struct call_part part = call_scanner_part(call);
    part.own.elapsed = time;
    return part;
}

/* Ends a call that was found open, or is held, or whose caller is held. */
__attribute__((noinline)) static void call_scan_elapsed_pop_rare(struct call_scanner *s, struct scanned_call *call,
                                                                 uint64_t now, bool ended)
{
    const struct call_part part = call_scan_elapsed_part(s, call, now);
    if (!part.entered)
        call_scanner_keep_part(s, part, now, ended);
    else if (ended && call->kind & SCANNED_WANTED)
        call_scan_elapsed_take(s, call->path, part.own.elapsed, now);
}

static inline void call_scan_elapsed_pop(struct call_scanner *s, uint64_t now, bool ended)
{
    struct scanned_call *call = &s->stack[--s->depth];
    if (__builtin_expect(call->kind & (SCANNED_FOUND | SCANNED_HELD | SCANNED_UNDER_HELD), 0)) {
        call_scan_elapsed_pop_rare(s, call, now, ended);
        return;
    }
    call[-1].less += call->less;
    if (ended && call->kind & SCANNED_WANTED)
        call_scan_elapsed_take(s, call->path, (now - s->skipped - call->base) * DWELL_PROBE_FRACTION - call->less, now);
}

/* ---- actions on events ---- */

static inline void call_scan_elapsed_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct call_scanner *s = to;
    if (__builtin_expect(d->has_extras, 0) && s->depth > 1) {
        const struct decoded_extras extras = d->extras; /* a copy, so that the decoder has no address */
        call_scan_elapsed_add_os(s, &extras, d->time - begin);
    }
}

static inline void call_scan_elapsed_enter(void *to, const struct decoder *d)
{
    call_scanner_find_generation(to, d->time);
    call_scanner_push(to, d->function, d->time, d->time, true);
}

static inline void call_scan_elapsed_open(void *to, const struct decoder *d, const struct dwell_frame *frame,
                                          uint64_t site)
{
    (void)site;
    call_scanner_push(to, frame->function, frame->enter_time, d->time, false);
}

static inline void call_scan_elapsed_exit(void *to, const struct decoder *d)
{
    call_scan_elapsed_pop(to, d->time, true);
}

static inline void call_scan_elapsed_lose(void *to, const struct decoder *d)
{
    call_scan_elapsed_pop(to, d->time, false);
}

/* All that is called in the loop is compiled into it: so the decoder stays in registers. */
__attribute__((flatten)) void call_scan_elapsed_events(struct call_scanner *s, struct decoder *d,
                                                       struct stack_state *state)
{
    static const struct stack_actions actions = CALL_SCANNER_ACTIONS(call_scan_elapsed);
    stack_apply_all(&actions, s, state, d);
}
