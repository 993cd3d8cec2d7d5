/*
 * Several stacks on one thread: coroutines, by ucontext or by hand. Each has a shadow stack of its own, which comes and
 * goes with it; where its place is known, probes notice by their stack pointer that the thread has changed over.
 *
 * A thread's own stack is whatever lies in none of the known places.
 */
#include "dwell/dwell.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "call.h"
#include "clock.h"
#include "control.h"
#include "lock.h"
#include "process.h"
#include "recorder.h"
#include "runtime.h"
#include "stacks.h"
#include "sys.h"
#include "thread.h"

enum {
    STACK_SIZE = 32 << 10, /* of a shadow stack, at first */
    AT_ONCE = 64,          /* that many are made in one mapping */
    FIRST_PLACES = 512,
};

/* All stacks whose place is known, by address; and stacks that are not used. Outlives a fork, as stacks do. */
static struct {
    struct stack **at;
    size_t count, room;
    struct stack *spare;
    uint32_t last_number;
} places;

static void lock(void)
{
    lock_take(&runtime.process->stacks.lock);
}

static void unlock(void)
{
    lock_release(&runtime.process->stacks.lock);
}

/* ---- stacks and their places; under the lock ---- */

static void reset(struct stack *s)
{
    *(struct call *)s->calls = (struct call){ .stack_pointer = UINT64_MAX };
    s->depth = sizeof(struct call);
    s->tree_of = 0;
}

static bool make_spares(void)
{
    struct stack *made = sys_memory(AT_ONCE * sizeof *made);
    char *calls = made ? sys_memory((size_t)AT_ONCE * STACK_SIZE) : NULL;
    if (!calls)
        return false;
    for (int i = 0; i < AT_ONCE; i++) {
        made[i] = (struct stack){ .calls = calls + (size_t)i * STACK_SIZE, .size = STACK_SIZE, .next = places.spare };
        places.spare = &made[i];
    }
    return true;
}

static struct stack *new_stack(uint64_t low, uint64_t high)
{
    if (!places.spare && !make_spares())
        return NULL;
    struct stack *s = places.spare;
    places.spare = s->next;
    s->low = low;
    s->high = high;
    s->number = ++places.last_number;
    s->aside_at = clock_now(runtime.clock);
    reset(s);
    return s;
}

/* The first place that ends above `address`. */
static size_t place_above(uint64_t address)
{
    size_t low = 0, high = places.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (places.at[middle]->high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct stack *stack_at(uint64_t address)
{
    const size_t i = place_above(address);
    return i < places.count && places.at[i]->low <= address ? places.at[i] : NULL;
}

static void drop_place(size_t i)
{
    places.count--;
    memmove(places.at + i, places.at + i + 1, (places.count - i) * sizeof *places.at);
}

static bool add_place(struct stack *s)
{
    if (places.count == places.room) {
        const size_t room = places.room ? places.room * 2 : FIRST_PLACES;
        struct stack **at = sys_memory(room * sizeof *at);
        if (!at)
            return false;
        if (places.room) {
            memcpy(at, places.at, places.count * sizeof *at);
            sys_unmap(places.at, places.room * sizeof *at);
        }
        places.at = at;
        places.room = room;
    }
    const size_t i = place_above(s->low);
    memmove(places.at + i + 1, places.at + i, (places.count - i) * sizeof *places.at);
    places.at[i] = s;
    places.count++;
    return true;
}

static void give_up(struct stack *s)
{
    s->next = places.spare;
    places.spare = s;
}

/* A stack is begun at this place: what was there is gone. */
static struct stack *begin_at(uint64_t low, uint64_t high)
{
    struct stack *same = stack_at(low);
    if (same && same->low == low && same->high == high) {
        reset(same);
        same->aside_at = clock_now(runtime.clock);
        return same;
    }
    for (size_t i; (i = place_above(low)) < places.count && places.at[i]->low < high;) {
        struct stack *old = places.at[i];
        drop_place(i);
        give_up(old);
    }
    struct stack *s = new_stack(low, high);
    if (s && !add_place(s)) {
        give_up(s);
        return NULL;
    }
    control_notify(&runtime.process->stacks.changes);
    return s;
}

/* The thread's own stack reaches from the known place below `address` to the one above. */
static void own_bounds(struct thread *t, uint64_t address)
{
    const size_t above = place_above(address);
    const uint64_t low = above > 0 ? places.at[above - 1]->high : 0;
    const uint64_t high = above < places.count ? places.at[above]->low : UINT64_MAX;
    t->stack.low = low;
    t->stack.span = high - low;
}

/* ---- changing over; signals are held back ---- */

static void put_aside(struct thread *t, uint64_t now)
{
    struct stack *from = t->stacks.on;
    from->calls = t->shadow;
    from->size = t->shadow_size;
    from->depth = (uint32_t)(t->state >> 32);
    from->aside_at = now;
    from->tree_of = t->tree.head ? t->serial : 0;
}

/* Calls on it are as if they had begun later, by the time that it was put aside. */
static void take_up(struct thread *t, struct stack *to, uint64_t now)
{
    t->stacks.on = to;
    t->shadow = to->calls;
    t->shadow_size = to->size;
    struct call *end = (struct call *)(t->shadow + to->depth);
    for (struct call *call = (struct call *)t->shadow + 1; call < end; call++)
        call->enter_time += now - to->aside_at;
}

uint32_t stacks_calls(const struct stack *s)
{
    return s->depth / (uint32_t)sizeof(struct call) - 1;
}

void stacks_exchange(struct thread *t, struct stack *to, uint64_t now)
{
    put_aside(t, now);
    take_up(t, to, now);
}

/* What is paused goes on in another chunk, with the calls of whatever stack the thread is on then. */
static void change_over_paused(struct thread *t, struct stack *to, uint64_t now)
{
    const uint64_t state = t->state;
    t->state = thread_with_depth(t->pause.resume_position, t->pause.depth);
    thread_give_up_chunk(t, recorder_shows_all());
    t->state = state;
    stacks_exchange(t, to, now);
    t->state = thread_with_depth(state + 1, to->depth);
    t->pause.depth = to->depth;
    t->pause.kept_depth = sizeof(struct call);
}

static void change_over(struct thread *t, struct stack *to)
{
    if (t->stacks.on == to)
        return;
    uint64_t now = clock_now(runtime.clock);
    if (now < t->last)
        now = t->last;
    if (t->pause.active)
        change_over_paused(t, to, now);
    else
        runtime.recorder->switch_stack(t, to, now);
    thread_set_limit(t);
}

static void bounds(struct thread *t, struct stack *s, uint64_t stack_pointer)
{
    if (s->high) {
        t->stack.low = s->low;
        t->stack.span = s->high - s->low;
    } else if (s == &t->stacks.own && stack_pointer) {
        own_bounds(t, stack_pointer);
    } else {
        t->stack.low = 0;
        t->stack.span = UINT64_MAX;
    }
}

void stacks_begin_thread(struct thread *t)
{
    t->stacks.on = &t->stacks.own;
    t->stack.low = 0;
    t->stack.span = UINT64_MAX;
}

/* The thread runs, or is about to run, with this stack pointer. */
static void go_to(struct thread *t, uint64_t stack_pointer)
{
    lock();
    struct stack *to = stack_at(stack_pointer);
    if (!to)
        to = t->stacks.on->high ? &t->stacks.own : t->stacks.on; /* of which the place is not known */
    bounds(t, to, stack_pointer);
    unlock();
    change_over(t, to);
}

bool stacks_is_handlers(uint64_t stack_pointer)
{
    stack_t alternate;
    return SYS2(sigaltstack, NULL, &alternate) == 0 && alternate.ss_flags & SS_ONSTACK &&
           stack_pointer - (uint64_t)alternate.ss_sp < alternate.ss_size;
}

void stacks_find(struct thread *t, uint64_t stack_pointer)
{
    const uint32_t known = __atomic_load_n(&runtime.process->stacks.changes, __ATOMIC_ACQUIRE);
    if (LIKELY(stack_pointer - t->stack.low < t->stack.span && t->stacks.seen_changes == known))
        return;
    if (stacks_is_handlers(stack_pointer))
        return; /* it belongs to whatever it interrupted */
    uint64_t mask = sys_block_signals();
    t->stacks.seen_changes = known;
    go_to(t, stack_pointer);
    thread_set_limit(t);
    sys_restore_signals(mask);
}

/* ---- ucontext ---- */

static struct thread *recorded_thread(void)
{
    struct thread *t = thread_self;
    return t && t->wiped->alive && !t->stopped ? t : NULL;
}

void stacks_context_made(const struct ucontext_t *context)
{
    const uint64_t low = (uint64_t)context->uc_stack.ss_sp;
    if (runtime.off || !runtime.process)
        return;
    uint64_t mask = sys_block_signals();
    lock();
    begin_at(low, low + context->uc_stack.ss_size);
    unlock();
    sys_restore_signals(mask);
}

void stacks_context_chosen(const struct ucontext_t *context)
{
#if defined(__x86_64__)
    const uint64_t stack_pointer = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#else
    const uint64_t stack_pointer = context->uc_mcontext.sp;
#endif
    struct thread *t = recorded_thread();
    if (!t)
        return;
    uint64_t mask = sys_block_signals();
    go_to(t, stack_pointer);
    sys_restore_signals(mask);
}

/* ---- by the program's own word: see dwell.h ---- */

DWELL_EXPORT void *dwell_runtime_fiber_create(const void *stack, size_t size);
DWELL_EXPORT void dwell_runtime_fiber_switch(void *fiber);
DWELL_EXPORT void dwell_runtime_fiber_destroy(void *fiber);

DWELL_EXPORT void *dwell_runtime_fiber_create(const void *stack, size_t size)
{
    if (runtime.off || !runtime.process)
        return NULL;
    const uint64_t low = (uint64_t)stack;
    uint64_t mask = sys_block_signals();
    lock();
    struct stack *s = stack ? begin_at(low, low + size) : new_stack(0, 0);
    unlock();
    sys_restore_signals(mask);
    return s;
}

DWELL_EXPORT void dwell_runtime_fiber_switch(void *fiber)
{
    struct thread *t = recorded_thread();
    if (!t)
        return;
    uint64_t mask = sys_block_signals();
    struct stack *to = fiber ? fiber : &t->stacks.own;
    lock();
    bounds(t, to, 0);
    unlock();
    change_over(t, to);
    sys_restore_signals(mask);
}

DWELL_EXPORT void dwell_runtime_fiber_destroy(void *fiber)
{
    struct stack *s = fiber;
    if (!s || runtime.off || !runtime.process)
        return;
    uint64_t mask = sys_block_signals();
    lock();
    for (size_t i = s->high ? place_above(s->low) : places.count; i < places.count && places.at[i] == s;)
        drop_place(i);
    give_up(s);
    unlock();
    sys_restore_signals(mask);
}
