/* Finds the elapsed inclusive times of single calls in a chunk of events. What samples and counting took of a path is
 * subtracted in proportion: of flagged intervals at once, and of the rest when the call ends. So `called_times` is the
 * time of the calls that a call made, and of its flagged intervals. */
#include "profile/call_scanner.h"

__attribute__((noinline)) static void
call_scan_elapsed_add_os(struct call_scanner *s, const struct interval_parts *parts, uint64_t length, uint64_t now)
{
    struct scanned_call *call = &s->stack[s->depth - 1];
    const struct call_amounts own = call_scanner_add_os(s, parts, length);
    if (!(call->kind & SCANNED_DIVIDED))
        return;
    const double part = s->scan->probes.paths[call->path].lost.flagged;
    const uint64_t flagged = own.elapsed - own.application, lost = call_amounts_part(flagged - own.off_cpu, part, now);
    s->lost += lost;
    call->called_times += flagged - lost;
}

/* ---- calls ---- */

/* Ends the call on top of the stack, and adds it to its caller. Returns its time. */
static uint64_t call_scan_elapsed_end(struct call_scanner *s, struct scanned_call *call, uint64_t now)
{
    uint64_t time = call_scanner_end(s, call, now);
    const uint64_t lost = call_scan_lost(s->scan, call->path, time - call->called_times, now);
    s->lost += lost;
    time -= lost;
    call[-1].called_times += time;
    return time;
}

struct call_part call_scan_elapsed_part(struct call_scanner *s, struct scanned_call *call, uint64_t now)
{
    struct call_part part = call_scanner_part(call);
    part.own.elapsed = call_scan_elapsed_end(s, call, now);
    return part;
}

/* Ends a call that was found open, or is held, or whose caller is held. */
__attribute__((noinline)) static void call_scan_elapsed_pop_rare(struct call_scanner *s, struct scanned_call *call,
                                                                 uint64_t now, bool ended)
{
    if (call->kind & SCANNED_FOUND) {
        call_scanner_keep_part(s, call_scan_elapsed_part(s, call, now), now, ended);
        return;
    }
    const uint64_t time = call_scan_elapsed_end(s, call, now);
    if (ended && call->kind & SCANNED_WANTED)
        call_scanner_take_amount(s, call->path, time, now);
}

STACK_INLINE void call_scan_elapsed_pop(struct call_scan_loop *l, uint64_t now, bool ended)
{
    struct scanned_call *call = l->top--;
    if (__builtin_expect(call->kind & (SCANNED_FOUND | SCANNED_HELD | SCANNED_UNDER_HELD), 0)) {
        call_scan_loop_store(l);
        call_scan_elapsed_pop_rare(l->s, call, now, ended);
        call_scan_loop_load(l);
        return;
    }
    uint64_t time = now * DWELL_PROBE_FRACTION - l->lost - call->clock;
    const uint64_t lost = call_scan_lost(l->s->scan, call->path, time - call->called_times, now);
    l->lost += lost;
    time -= lost;
    l->top->called_times += time;
    if (ended && call->kind & SCANNED_WANTED)
        call_scanner_take_amount(l->s, call->path, time, now);
}

/* ---- actions on events ---- */

STACK_INLINE void call_scan_elapsed_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct call_scan_loop *l = to;
    if (__builtin_expect(d->has_extras, 0) && l->top != l->s->stack) {
        const struct interval_parts parts = interval_parts(&d->extras, d->time - begin);
        call_scan_loop_store(l);
        call_scan_elapsed_add_os(l->s, &parts, d->time - begin, d->time);
        call_scan_loop_load(l);
    }
}

STACK_INLINE void call_scan_elapsed_enter(void *to, const struct decoder *d)
{
    call_scanner_find_generation(to, d->time);
    call_scan_loop_push(to, d->function, d->time, d->time, true)->called_times = 0;
}

/* A known path that is not held needs no place on the stack. */
STACK_INLINE void call_scan_elapsed_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    struct call_scan_loop *l = to;
    const struct call_scan *scan = l->s->scan;
    call_scanner_find_generation(l, entered);
    const struct index_slot *slot = call_scan_loop_find(l, l->top->path, d->function);
    const scanned_kind kind = slot->value_plus_1 ? scan->steps[slot->value_plus_1 - 1].kind : SCANNED_HELD;
    if (__builtin_expect((kind | l->top->kind) & SCANNED_HELD, 0)) {
        call_scan_loop_push(l, d->function, entered, entered, true)->called_times = 0;
        call_scan_elapsed_pop(l, d->time, true);
        return;
    }
    const uint32_t path = slot->value_plus_1 - 1;
    const uint64_t cost = scan->costs[kind >> SCANNED_FLAG_BITS].call,
                   measured = (d->time - entered) * DWELL_PROBE_FRACTION - cost,
                   lost = call_scan_lost(scan, path, measured, d->time);
    l->lost += scan->costs[l->top->kind >> SCANNED_FLAG_BITS].callee + cost + lost;
    l->top->called_times += measured - lost;
    if (kind & SCANNED_WANTED)
        call_scanner_take_amount(l->s, path, measured - lost, d->time);
}

STACK_INLINE void call_scan_elapsed_open(void *to, const struct decoder *d, const struct dwell_frame *frame,
                                         uint64_t site)
{
    (void)site;
    call_scan_loop_push(to, frame->function, frame->enter_time, d->time, false)->called_times = 0;
}

STACK_INLINE void call_scan_elapsed_exit(void *to, const struct decoder *d)
{
    call_scan_elapsed_pop(to, d->time, true);
}

STACK_INLINE void call_scan_elapsed_lose(void *to, const struct decoder *d)
{
    call_scan_elapsed_pop(to, d->time, false);
}

/* All that is called in the loop is compiled into it: so the decoder stays in registers. */
void call_scan_elapsed_events(struct call_scanner *s, struct decoder *d, struct stack_state *state)
{
    static const struct stack_actions actions = CALL_SCANNER_ACTIONS(call_scan_elapsed);
    struct call_scan_loop loop = call_scan_loop_of(s);
    stack_apply_all(&actions, &loop, state, d);
    call_scan_loop_store(&loop);
}
