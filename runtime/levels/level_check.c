/* What threads do about levels. A call of a probe is on its way from the call instruction to the entry on the shadow
 * stack. When a thread makes another event, outside of signal handlers, its earlier calls have arrived. */
#include "levels/level_check.h"

#include "call.h"
#include "gate.h"
#include "keep_calls.h"
#include "level_table.h"
#include "levels/counts.h"
#include "levels/level_pause.h"
#include "levels/level_unloads.h"
#include "levels/level_watched.h"
#include "levels/quiet_point.h"
#include "modules.h"
#include "own_time.h"
#include "probe_steps.h"
#include "probes.h"
#include "process.h"
#include "process_lock.h"
#include "recorder.h"
#include "runtime.h"
#include "slow.h"
#include "thread.h"
#include "upward.h"

static uint32_t level_generation;

static bool level_is_open(const struct thread *t, uint64_t function)
{
    const struct call *first = (const struct call *)t->shadow;
    for (const struct call *call = thread_call(t, thread_state(t)) - 1; call > first; call--)
        if (call->function == function)
            return true;
    return false;
}

/* The state is of the module that was visited last. When another one may be at its address, and its functions are not
 * visited yet, all its calls are timed. */
static bool level_is_anothers(const struct level_slot *slot, uint64_t function)
{
    if (upward.is_program(function) || level_unloads_are_known())
        return false;
    const uint32_t identity = upward.module_identity_at(function);
    return identity && identity != slot->identity;
}

bool level_takes_enter(struct thread *t, const struct event *event)
{
    const struct level_slot *slot = levels_slot(event->function);
    const uint32_t state = level_state_of(slot);
    if (UNLIKELY(state != LEVEL_TIMED && !event->counted) && level_is_anothers(slot, event->function))
        return false;
    if (state & LEVEL_NESTED && !event->counted)
        return false; /* by a call of another module: its exit finds it */
    const bool counted = event->counted || (state & LEVEL_MASK) == LEVEL_COUNTED;
    if (!event->counted &&
        (LIKELY(state == LEVEL_TIMED) || (state & LEVEL_LEAVING && level_is_open(t, event->function))))
        return false;
    if (counted && slot && !t->pause.active && !counts_add_slowly(t, slot->number))
        slow_count_lost();
    return true;
}

/* A thread that has gone to another stack finds out on the slow path. One that is not set up has no calls. As a paused
 * thread has few events, it answers here, too. */
static __attribute__((noinline)) bool level_pause_skips_now(uint64_t function, uint64_t stack_pointer)
{
    struct thread *t = thread_self;
    if (!t || !t->wiped->alive)
        return true;
    if (stack_pointer - t->stack.low >= t->stack.span)
        return false;
    if (__atomic_load_n(&t->levels.asked, __ATOMIC_RELAXED))
        level_answer(t, stack_pointer);
    return !level_is_open(t, function);
}

static ALWAYS_INLINE bool level_pause_skips(uint64_t function, uint64_t stack_pointer)
{
    return !level_may_be_open(function) || level_pause_skips_now(function, stack_pointer);
}

/* Whether the call does not go to the probe. A thread that is not set up, or has gone to another stack, finds out on
 * the slow path. */
static bool level_skips(uint32_t state, uint64_t function, uint64_t stack_pointer)
{
    if (!(state & LEVEL_LEAVING))
        return (state & LEVEL_MASK) != LEVEL_TIMED;
    const struct thread *t = thread_self;
    return t && stack_pointer - t->stack.low < t->stack.span && !level_is_open(t, function);
}

/* Read at each call: a direct call would be one of those that are rewritten, in a program that the runtime is linked
 * into. */
static void (*volatile level_enter)(void *, void *) = probe_enter;
static void (*volatile level_exit_at)(uint64_t, uint64_t, bool) = probe_exit_at;

void level_counted_enter(void *function, void *call_site)
{
    (void)call_site;
    const struct thread *t = thread_self;
    if (t && t->wiped->gate == GATE_QUIET) /* paused */
        return;
    slow_count((uint64_t)function, (uint64_t)__builtin_frame_address(0));
}

/* The probe is called by a jump: it looks at its return address. */
void level_checked_enter(void *function, void *call_site)
{
    if (level_pause_is_on() && level_pause_skips((uint64_t)function, (uint64_t)__builtin_dwarf_cfa()))
        return;
    const struct level_slot *slot = levels_slot((uint64_t)function);
    const uint32_t state = level_state_of(slot);
    if (!level_skips(state, (uint64_t)function, (uint64_t)__builtin_dwarf_cfa()))
        level_enter(function, call_site);
    else if ((state & LEVEL_MASK) == LEVEL_COUNTED && !counts_add(slot->number))
        level_counted_enter(function, call_site);
}

/* The innermost open call of the function, which an exit of it ends. Usually it is the last one. NULL if there is none,
 * or if its time is not known. */
static ALWAYS_INLINE const struct call *level_ending_call(const struct thread *t, uint64_t function)
{
    const struct call *call = thread_call(t, thread_state(t)) - 1;
    if (UNLIKELY(t->pause.active))
        return NULL;
    while (UNLIKELY(call->function != function)) {
        if (call <= (const struct call *)t->shadow)
            return NULL;
        call--;
    }
    return call;
}

/* What it takes is not the caller's time. */
static __attribute__((noinline, cold)) void level_keep_call(struct thread *t, uint32_t watch, uint64_t function,
                                                            uint64_t enter_time)
{
    const struct own_moment begin = own_of_event(t, t->last);
    __atomic_store_n(&t->levels.inside, t->levels.inside + 1, __ATOMIC_RELEASE);
    keep_call(t, watch, function, enter_time);
    __atomic_store_n(&t->levels.inside, t->levels.inside - 1, __ATOMIC_RELEASE);
    if (runtime.recorder->add_own_time && runtime.clock != DWELL_CLOCK_MONOTONIC && !t->stopped)
        runtime.recorder->add_own_time(t, &begin);
}

static __attribute__((noinline)) void level_judge_call(struct thread *t, uint32_t watch, uint64_t function,
                                                       uint64_t enter_time)
{
    if (!keep_is_inner(t, watch, function) && keep_wants(&t->keep, watch, t->last - enter_time))
        level_keep_call(t, watch, function, enter_time);
}

/* The call's entry is read before the exit. After it, t->last is its time. */
static void level_watched_exit(const struct frame_exit *exit, uint32_t watch)
{
    struct thread *t = thread_self;
    const struct call *call = t && LIKELY(t->wiped->alive) ? level_ending_call(t, exit->function) : NULL;
    const uint64_t enter_time = call ? call->enter_time : 0;
    const uint64_t depth = call ? (uint64_t)((const char *)call - t->shadow) : 0;
    level_exit_at(exit->function, exit->stack_pointer, exit->tail_call);
    if (UNLIKELY(!call) || UNLIKELY(t->state >> 32 > depth) || UNLIKELY(t->pause.active))
        return;
    if (UNLIKELY(keep_may_want(watch, t->last - enter_time)))
        level_judge_call(t, watch, exit->function, enter_time);
}

static void level_exit_of(const struct frame_exit *exit, uint32_t watch)
{
    if (watch)
        level_watched_exit(exit, watch);
    else
        level_exit_at(exit->function, exit->stack_pointer, exit->tail_call);
}

/* The exit of a function some of whose calls were counted below recorded ones: only that of a recorded call goes to the
 * probe. On another stack, the slow path finds out, and needs to know the frame. A signal handler may have such exits,
 * too, before the slow path reads it. So each puts back what it found. */
static __attribute__((noinline)) void level_nested_exit(const struct frame_exit *exit, uint32_t watch)
{
    struct thread *t = thread_self;
    if (!t || (stack_range_has(&t->stack, exit->stack_pointer) && !frames_ended(t, thread_state(t), exit)))
        return;
    const struct frame_exit before = t->levels.exit;
    t->levels.exit = *exit;
    level_exit_of(exit, watch);
    t->levels.exit = before;
}

/* Whether the exit comes from below the frame of the innermost recorded call. Then its own call was not recorded: most
 * exits of a function that is only counted do, while an earlier call of it is open. */
static ALWAYS_INLINE bool level_exit_is_below(uint64_t function, uint64_t stack_pointer)
{
    const struct thread *t = thread_self;
    if (UNLIKELY(!t))
        return false;
    const struct call *call = thread_call(t, thread_state(t)) - 1;
    return call->function != function && stack_pointer < call->stack_pointer &&
           stack_range_has(&t->stack, stack_pointer) && stack_range_has(&t->stack, call->stack_pointer);
}

/* A path of its own: the check of most exits ends before it, and saves no registers. */
static __attribute__((noinline)) void level_check_exit(uint64_t function, uint64_t returns, uint64_t stack_pointer,
                                                       bool tail_call)
{
    const bool paused = level_pause_is_on();
    if (paused && level_pause_skips(function, stack_pointer))
        return;
    const struct level_slot *slot = levels_slot(function);
    const uint32_t state = level_state_of(slot), watch = !paused && slot ? slot->watch : 0;
    const struct frame_exit exit = { function, stack_pointer, returns, tail_call };
    if (!paused && !(state & LEVEL_NESTED) && level_skips(state, function, stack_pointer))
        return;
    if (state & LEVEL_NESTED)
        level_nested_exit(&exit, watch);
    else
        level_exit_of(&exit, watch);
}

/* The usual exit of a watched function that has a place. Nothing has to be kept across a call, as in the usual probe.
 */
static __attribute__((noinline)) void level_check_exit_at_place(uint64_t function, uint64_t returns,
                                                                uint64_t stack_pointer, bool tail_call)
{
    const uint32_t watch = level_watch_at(function);
    struct thread *t = thread_self;
    if (UNLIKELY(!watch) || UNLIKELY(!t))
        goto other;
    const struct steps_start start = steps_start(t);
    const uint64_t enter_time = (thread_call(t, start.state) - 1)->enter_time;
    if (UNLIKELY(!steps_exit_has_room(STEPS_TIMED, t, start.state)) ||
        UNLIKELY(!steps_exit(STEPS_TIMED, t, start, function, stack_pointer, tail_call, NULL)))
        goto other;
    if (LIKELY(!keep_may_want(watch, t->last - enter_time)))
        return;
    level_judge_call(t, watch, function, enter_time);
    return;
other:
    level_check_exit(function, returns, stack_pointer, tail_call);
}

void level_checked_exit(void *function, void *call_site)
{
    const uint64_t address = (uint64_t)function, stack_pointer = (uint64_t)__builtin_dwarf_cfa() - sizeof(void *);
    if (!level_exit_is_below(address, stack_pointer))
        level_check_exit_at_place(address, (uint64_t)call_site, stack_pointer,
                                  __builtin_return_address(0) == call_site);
}

void level_exit_if_watched(const struct frame_exit *exit)
{
    const struct level_slot *slot = levels_slot(exit->function);
    level_exit_of(exit, slot ? slot->watch : 0);
}

/* A request that cannot be answered is forgotten: it comes again. */
void level_answer(struct thread *t, uint64_t stack_pointer)
{
    __atomic_store_n(&t->levels.asked, 0, __ATOMIC_RELAXED);
    const uint32_t generation = __atomic_load_n(&level_generation, __ATOMIC_SEQ_CST);
    if (!quiet_point(stack_pointer))
        return;
    t->levels.stack_end = quiet_stack_end(stack_pointer);
    __atomic_store_n(&t->levels.seen, generation, __ATOMIC_RELEASE);
}

uint32_t level_next_generation(void)
{
    return __atomic_add_fetch(&level_generation, 1, __ATOMIC_SEQ_CST);
}

/* A thread that sleeps makes no event. It reads nothing but the new code when it goes on. */
static bool level_sleeps(const struct thread *t)
{
    return quiet_point_of_sleeper(t->tid, t->levels.stack_end) && !__atomic_load_n(&t->levels.inside, __ATOMIC_ACQUIRE);
}

uint32_t level_ask_threads(void)
{
    const uint32_t newest = __atomic_load_n(&level_generation, __ATOMIC_SEQ_CST);
    uint32_t oldest = newest;
    process_lock();
    for (struct thread *t = runtime.process->threads.live; t; t = t->next) {
        const uint32_t seen = __atomic_load_n(&t->levels.seen, __ATOMIC_ACQUIRE);
        if (seen == newest || t->stopped)
            continue;
        if (level_sleeps(t)) {
            __atomic_store_n(&t->levels.seen, newest, __ATOMIC_RELEASE);
            continue;
        }
        if ((int32_t)(oldest - seen) > 0)
            oldest = seen;
        __atomic_store_n(&t->levels.asked, 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        gate_call_thread(t);
        counts_divert(t); /* its next call may be a counted one */
    }
    process_unlock();
    return oldest;
}

/* The depth is read before the shadow stack, which only grows. */
static void level_mark_calls_of(const struct thread *t, const struct level_table *table, uint32_t number)
{
    const uint64_t state = __atomic_load_n(&t->state, __ATOMIC_ACQUIRE);
    const char *const shadow = *(char *const volatile *)&t->shadow;
    const struct call *call = (const struct call *)shadow + 1, *end = (const struct call *)(shadow + (state >> 32));
    for (; call < end; call++) {
        struct level_slot *slot = level_table_find(table, *(const volatile uint64_t *)&call->function);
        if (slot)
            slot->open = number;
    }
}

void level_mark_open_calls(uint32_t number)
{
    const struct level_table *table = levels_table;
    process_lock();
    for (const struct thread *t = runtime.process->threads.live; table && t; t = t->next)
        if (!t->stopped && t->shadow)
            level_mark_calls_of(t, table, number);
    process_unlock();
}

void level_begin_thread(struct thread *t, bool forked)
{
    t->levels.asked = 0;
    t->levels.seen = forked ? t->levels.seen : 0;
    t->levels.inside = 0;
    t->levels.exit.function = 0;
    t->levels.stack_end = quiet_stack_end((uint64_t)__builtin_frame_address(0));
    counts_begin_thread(t, forked);
}
