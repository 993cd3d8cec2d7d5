/* Finds all times of single calls in a chunk of events. */
#include "profile/call_scanner.h"

/* Elapsed times in 1/256 ticks. */
struct scanned_times {
    uint64_t inclusive, exclusive;
};

/* ---- rare amounts ---- */

static struct scanned_rare *call_scan_times_rare(struct call_scanner *s, struct scanned_call *call)
{
    struct scanned_rare *rare = &s->rare[call - s->stack];
    if (!(call->kind & SCANNED_RARE))
        *rare = (struct scanned_rare){ .less = 0 };
    call->kind |= SCANNED_RARE;
    return rare;
}

/* Subtracts what samples and counting took from a call whose own time is known: the scanner's clock is slower by it. */
static void call_scan_times_settle(struct call_scanner *s, struct scanned_call *call, struct scanned_times *times,
                                   uint64_t now)
{
    struct scanned_rare *rare = call_scan_times_rare(s, call);
    const uint64_t less = call->kind & SCANNED_IDLE ? times->exclusive : rare->less;
    struct call_amounts own = { times->exclusive, times->exclusive - less, 0, rare->off_cpu };
    call_amounts_take_part(&own, &s->scan->probes.paths[call->path].lost, now);
    const uint64_t lost = times->exclusive - own.elapsed;
    rare->less = own.elapsed - own.application;
    s->lost += lost;
    times->inclusive -= lost;
    times->exclusive -= lost;
}

/* Ends the call on top of the stack, and adds it to its caller. */
static inline struct scanned_times call_scan_times_end(struct call_scanner *s, struct scanned_call *call, uint64_t now)
{
    struct scanned_times times;
    times.inclusive = call_scanner_end(s, call, now);
    times.exclusive = times.inclusive - call->called_times;
    if (call->kind & SCANNED_DIVIDED)
        call_scan_times_settle(s, call, &times, now);
    call[-1].called_times += times.inclusive;
    return times;
}

/* Adds a call's rare amounts to its caller. Returns them. */
static struct scanned_rare call_scan_times_pass_rare(struct call_scanner *s, struct scanned_call *call,
                                                     const struct scanned_times *times)
{
    struct scanned_rare amounts = *call_scan_times_rare(s, call), *caller = call_scan_times_rare(s, call - 1);
    if (call->kind & SCANNED_IDLE)
        amounts.less = times->exclusive;
    caller->called_less += amounts.less + amounts.called_less;
    caller->blocked += amounts.blocked;
    caller->called_off_cpu += amounts.off_cpu + amounts.called_off_cpu;
    return amounts;
}

/* Adds what an interval's OS events change. */
__attribute__((noinline)) static void call_scan_times_add_os(struct call_scanner *s, const struct interval_parts *parts,
                                                             uint64_t length)
{
    struct scanned_rare *rare = call_scan_times_rare(s, &s->stack[s->depth - 1]);
    const struct call_amounts own = call_scanner_add_os(s, parts, length);
    rare->less += own.elapsed - own.application;
    rare->blocked += own.blocked;
    rare->off_cpu += own.off_cpu;
}

/* ---- calls ---- */

static struct call_part call_scan_times_make_part(const struct scanned_call *call, const struct scanned_times *times,
                                                  const struct scanned_rare *rare)
{
    struct call_part part = call_scanner_part(call);
    part.own = (struct call_amounts){ times->exclusive, times->exclusive - rare->less, rare->blocked, rare->off_cpu };
    part.below =
        (struct call_amounts){ call->called_times, call->called_times - rare->called_less, 0, rare->called_off_cpu };
    return part;
}

struct call_part call_scan_times_part(struct call_scanner *s, struct scanned_call *call, uint64_t now)
{
    const struct scanned_times times = call_scan_times_end(s, call, now);
    const struct scanned_rare rare = call_scan_times_pass_rare(s, call, &times);
    return call_scan_times_make_part(call, &times, &rare);
}

static inline void call_scan_times_take(struct call_scanner *s, const struct scanned_call *call,
                                        const struct scanned_times *times, const struct scanned_rare *rare,
                                        uint64_t now)
{
    struct call_amounts own = { times->exclusive, times->exclusive - rare->less, 0, rare->off_cpu };
    const struct scanned_path *path = &s->scan->paths[call->path];
    if (call_scanner_is_outside(s, now))
        return;
    if (call->kind & SCANNED_DIVIDED)
        call_amounts_take_part(&own, &s->scan->probes.paths[call->path].sampled, now);
    const struct finished_call finished = {
        .function = path->number,
        .caller = path->caller,
        .path = call->path,
        .process = s->chunk->process,
        .thread = s->chunk->thread,
        .begin = call->begin,
        .end = now,
        .times = {
            [CALL_ELAPSED_INCLUSIVE] = times->inclusive,
            [CALL_ELAPSED_EXCLUSIVE] = own.elapsed,
            [CALL_APPLICATION_INCLUSIVE] = times->inclusive - rare->less - rare->called_less,
            [CALL_APPLICATION_EXCLUSIVE] = own.application,
        },
        .blocked = rare->blocked,
        .off_cpu = rare->off_cpu + rare->called_off_cpu,
        .completed = true,
    };
    s->scan->take(s->context, &finished);
}

/* Ends a call that was found open, or has rare amounts. */
__attribute__((noinline)) static void call_scan_times_pop_rare(struct call_scanner *s, struct scanned_call *call,
                                                               uint64_t now, bool ended)
{
    const struct scanned_times times = call_scan_times_end(s, call, now);
    const struct scanned_rare rare = call_scan_times_pass_rare(s, call, &times);
    if (call->kind & SCANNED_FOUND)
        call_scanner_keep_part(s, call_scan_times_make_part(call, &times, &rare), now, ended);
    else if (ended && call->kind & SCANNED_WANTED)
        call_scan_times_take(s, call, &times, &rare, now);
}

/* As call_scan_times_settle, of a call without OS events and rare amounts. Returns what was subtracted. */
static inline uint64_t call_scan_times_lose_part(const struct call_scanner *s, const struct scanned_call *call,
                                                 struct scanned_times *times, uint64_t now)
{
    const double part = s->scan->probes.paths[call->path].lost.application;
    const uint64_t lost = call_amounts_part(times->exclusive, part, now);
    times->inclusive -= lost;
    times->exclusive -= lost;
    return lost;
}

STACK_INLINE void call_scan_times_pop(struct call_scan_loop *l, uint64_t now, bool ended)
{
    struct scanned_call *call = l->top--;
    if (__builtin_expect(call->kind & (SCANNED_FOUND | SCANNED_HELD | SCANNED_UNDER_HELD | SCANNED_RARE | SCANNED_IDLE),
                         0)) {
        call_scan_loop_store(l);
        call_scan_times_pop_rare(l->s, call, now, ended);
        call_scan_loop_load(l);
        return;
    }
    struct scanned_times times;
    times.inclusive = now * DWELL_PROBE_FRACTION - l->lost - call->clock;
    times.exclusive = times.inclusive - call->called_times;
    if (call->kind & SCANNED_DIVIDED)
        l->lost += call_scan_times_lose_part(l->s, call, &times, now);
    call[-1].called_times += times.inclusive;
    if (ended && call->kind & SCANNED_WANTED)
        call_scan_times_take(l->s, call, &times, &(struct scanned_rare){ .less = 0 }, now);
}

/* ---- actions on events ---- */

STACK_INLINE void call_scan_times_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct call_scan_loop *l = to;
    if (__builtin_expect(d->has_extras, 0) && l->top != l->s->stack) {
        const struct interval_parts parts = interval_parts(&d->extras, d->time - begin);
        call_scan_loop_store(l);
        call_scan_times_add_os(l->s, &parts, d->time - begin);
        call_scan_loop_load(l);
    }
}

STACK_INLINE void call_scan_times_enter(void *to, const struct decoder *d)
{
    call_scanner_find_generation(to, d->time);
    call_scan_loop_push(to, d->function, d->time, d->time, true)->called_times = 0;
}

STACK_INLINE void call_scan_times_leaf(void *to, const struct decoder *d, uint64_t entered)
{
    call_scanner_find_generation(to, entered);
    call_scan_loop_push(to, d->function, entered, entered, true)->called_times = 0;
    call_scan_times_pop(to, d->time, true);
}

STACK_INLINE void call_scan_times_open(void *to, const struct decoder *d, const struct dwell_frame *frame,
                                       uint64_t site)
{
    (void)site;
    call_scan_loop_push(to, frame->function, frame->enter_time, d->time, false)->called_times = 0;
}

STACK_INLINE void call_scan_times_exit(void *to, const struct decoder *d)
{
    call_scan_times_pop(to, d->time, true);
}

STACK_INLINE void call_scan_times_lose(void *to, const struct decoder *d)
{
    call_scan_times_pop(to, d->time, false);
}

/* All that is called in the loop is compiled into it: so the decoder stays in registers. */
void call_scan_times_events(struct call_scanner *s, struct decoder *d, struct stack_state *state)
{
    static const struct stack_actions actions = CALL_SCANNER_ACTIONS(call_scan_times);
    struct call_scan_loop loop = call_scan_loop_of(s);
    stack_apply_all(&actions, &loop, state, d);
    call_scan_loop_store(&loop);
}
