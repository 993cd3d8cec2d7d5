/*
 * Several stacks on one thread: coroutines, by ucontext or by hand. Each has a shadow stack of its own, which is used
 * while the thread runs on it. If a stack's addresses are known, probes see by their stack pointer that the thread has
 * switched to it.
 *
 * A thread's own stack is all that lies in none of the known stacks.
 *
 * A thread may leave a stack unnoticed, at a context's end. It is on that stack until its next event. A stack that is
 * made in this place meanwhile gets another shadow stack.
 */
#include "dwell/dwell.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "call.h"
#include "clock.h"
#include "gate.h"
#include "lock.h"
#include "process.h"
#include "recorder.h"
#include "runtime.h"
#include "stacks.h"
#include "sys.h"
#include "thread.h"
#include "thread_chunks.h"

enum {
    STACK_SIZE = 32 << 10, /* bytes of a shadow stack, at first */
    AT_ONCE = 64,          /* number of stacks made in one mapping */
    FIRST_PLACES = 512,
};

/* All stacks whose addresses are known, in the order of their addresses; and unused ones. They outlive a fork, as
 * stacks do. */
static struct {
    struct stack **at;
    uint32_t count, room;
    struct stack *spare;
    uint32_t last_number;
} stacks_known;

static void stacks_lock(void)
{
    lock_take(&runtime.process->stacks.lock);
}

static void stacks_unlock(void)
{
    lock_release(&runtime.process->stacks.lock);
}

/* ---- stacks and their places; under the lock ---- */

static void stacks_reset(struct stack *s)
{
    *(struct call *)s->calls = (struct call){ .stack_pointer = UINT64_MAX };
    s->depth = sizeof(struct call);
    s->tree_of = 0;
    s->aside_at = clock_now(runtime.clock);
}

static bool stacks_make_spares(void)
{
    struct stack *made = sys_memory(AT_ONCE * sizeof *made);
    char *calls = made ? sys_memory((size_t)AT_ONCE * STACK_SIZE) : NULL;
    if (!calls)
        return false;
    for (int i = 0; i < AT_ONCE; i++) {
        made[i] =
            (struct stack){ .calls = calls + (size_t)i * STACK_SIZE, .size = STACK_SIZE, .next = stacks_known.spare };
        stacks_known.spare = &made[i];
    }
    return true;
}

static struct stack *stacks_new(uint64_t low, uint64_t high)
{
    if (!stacks_known.spare && !stacks_make_spares())
        return NULL;
    struct stack *s = stacks_known.spare;
    stacks_known.spare = s->next;
    s->low = low;
    s->high = high;
    s->number = ++stacks_known.last_number;
    s->given_up = false;
    stacks_reset(s);
    return s;
}

/* The index of the first known stack that ends above `address`. */
static size_t stacks_index_above(uint64_t address)
{
    size_t low = 0, high = stacks_known.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (stacks_known.at[middle]->high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct stack *stacks_at(uint64_t address)
{
    const size_t i = stacks_index_above(address);
    return i < stacks_known.count && stacks_known.at[i]->low <= address ? stacks_known.at[i] : NULL;
}

static void stacks_remove_index(size_t i)
{
    stacks_known.count--;
    memmove(stacks_known.at + i, stacks_known.at + i + 1, (stacks_known.count - i) * sizeof *stacks_known.at);
}

static bool stacks_add(struct stack *s)
{
    if (stacks_known.count == stacks_known.room) {
        struct stack **at = sys_grow(stacks_known.at, &stacks_known.room, sizeof *at, FIRST_PLACES);
        if (!at)
            return false;
        stacks_known.at = at;
    }
    const size_t i = stacks_index_above(s->low);
    memmove(stacks_known.at + i + 1, stacks_known.at + i, (stacks_known.count - i) * sizeof *stacks_known.at);
    stacks_known.at[i] = s;
    stacks_known.count++;
    return true;
}

static void stacks_give_up(struct stack *s)
{
    s->given_up = true;
    if (s->threads)
        return;
    s->next = stacks_known.spare;
    stacks_known.spare = s;
}

/* Makes a stack at these addresses. Known stacks that it overlaps are gone. */
static struct stack *stacks_begin_at(uint64_t low, uint64_t high)
{
    struct stack *same = stacks_at(low);
    if (same && same->low == low && same->high == high && !same->threads) {
        stacks_reset(same);
        return same;
    }
    for (size_t i; (i = stacks_index_above(low)) < stacks_known.count && stacks_known.at[i]->low < high;) {
        struct stack *old = stacks_known.at[i];
        stacks_remove_index(i);
        stacks_give_up(old);
    }
    struct stack *s = stacks_new(low, high);
    if (s && !stacks_add(s)) {
        stacks_give_up(s);
        return NULL;
    }
    gate_notify(&runtime.process->stacks.changes);
    return s;
}

/* The thread's own stack reaches from the known stack below `address` to the one above. */
static void stacks_set_own_range(struct thread *t, uint64_t address)
{
    const size_t above = stacks_index_above(address);
    const uint64_t low = above > 0 ? stacks_known.at[above - 1]->high : 0;
    const uint64_t high = above < stacks_known.count ? stacks_known.at[above]->low : UINT64_MAX;
    t->stack.low = low;
    t->stack.span = high - low;
}

/* ---- changing over; signals are held back ---- */

static void stacks_put_aside(struct thread *t, uint64_t now)
{
    struct stack *from = t->stacks.on;
    from->calls = t->shadow;
    from->size = t->shadow_size;
    from->depth = (uint32_t)(t->state >> 32);
    from->aside_at = now;
    from->tree_of = t->tree.head ? t->serial : 0;
}

/* The calls become as if they had begun later, by the time that the stack was put aside. */
static void stacks_take_up(struct thread *t, struct stack *to, uint64_t now)
{
    t->stacks.on = to;
    t->shadow = to->calls;
    t->shadow_size = to->size;
    ((struct call *)t->shadow)->node = t->tree.root;
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
    stacks_put_aside(t, now);
    stacks_take_up(t, to, now);
}

uint64_t stacks_now(const struct thread *t)
{
    const uint64_t now = clock_now(runtime.clock);
    return now > t->last ? now : t->last; /* the counters of two CPUs may differ by a few ticks */
}

/* A paused thread goes on in another chunk, with the calls of the stack that it is on then. */
static void stacks_switch_paused(struct thread *t, struct stack *to, uint64_t now)
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

/* One thread less is on the stack. */
static void stacks_leave(struct stack *s)
{
    stacks_lock();
    s->threads--;
    if (s->given_up && !s->threads)
        stacks_give_up(s);
    stacks_unlock();
}

/* The thread counts as one on `to` already. */
static void stacks_switch(struct thread *t, struct stack *to)
{
    struct stack *from = t->stacks.on;
    if (from != to) {
        if (t->pause.active)
            stacks_switch_paused(t, to, stacks_now(t));
        else
            runtime.recorder->switch_stack(t, to);
        thread_set_limit(t);
    }
    stacks_leave(from);
}

static void stacks_set_range(struct thread *t, struct stack *s, uint64_t stack_pointer)
{
    if (s->high) {
        t->stack.low = s->low;
        t->stack.span = s->high - s->low;
    } else if (s == &t->stacks.own && stack_pointer) {
        stacks_set_own_range(t, stack_pointer);
    } else {
        t->stack.low = 0;
        t->stack.span = UINT64_MAX;
    }
}

void stacks_begin_thread(struct thread *t)
{
    t->stacks.on = &t->stacks.own;
    t->stacks.own.threads = 1;
    t->stack.low = 0;
    t->stack.span = UINT64_MAX;
}

void stacks_end_thread(struct thread *t)
{
    struct stack *from = t->stacks.on;
    if (from == &t->stacks.own)
        return;
    stacks_exchange(t, &t->stacks.own, t->last);
    stacks_leave(from);
}

/* The thread runs, or is about to run, with this stack pointer. */
static void stacks_go_to(struct thread *t, uint64_t stack_pointer)
{
    stacks_lock();
    struct stack *to = stacks_at(stack_pointer);
    if (!to)
        to = t->stacks.on->high ? &t->stacks.own : t->stacks.on; /* its addresses are not known */
    stacks_set_range(t, to, stack_pointer);
    to->threads++;
    stacks_unlock();
    stacks_switch(t, to);
}

struct stack_range stacks_handlers(void)
{
    stack_t stack;
    if (SYS2(sigaltstack, NULL, &stack) < 0 || !(stack.ss_flags & SS_ONSTACK))
        return (struct stack_range){ 0 };
    return (struct stack_range){ (uint64_t)stack.ss_sp, stack.ss_size };
}

bool stacks_is_handlers(uint64_t stack_pointer)
{
    const struct stack_range handlers = stacks_handlers();
    return stack_range_has(&handlers, stack_pointer);
}

void stacks_find(struct thread *t, uint64_t stack_pointer)
{
    const uint32_t known = __atomic_load_n(&runtime.process->stacks.changes, __ATOMIC_ACQUIRE);
    if (LIKELY(stack_pointer - t->stack.low < t->stack.span && t->stacks.seen_changes == known))
        return;
    if (stacks_is_handlers(stack_pointer))
        return; /* the handler's calls belong to the stack that it interrupted */
    uint64_t mask = sys_block_signals();
    t->stacks.seen_changes = known;
    stacks_go_to(t, stack_pointer);
    thread_set_limit(t);
    sys_restore_signals(mask);
}

bool stacks_are_used(void)
{
    return __atomic_load_n(&stacks_known.last_number, __ATOMIC_RELAXED) != 0;
}

static struct thread *stacks_recorded_thread(void)
{
    struct thread *t = thread_self;
    return t && t->wiped->alive && !t->stopped ? t : NULL;
}

/* The program makes a stack. The calling thread may have left the one in this place unnoticed. */
static struct stack *stacks_make(uint64_t low, uint64_t high)
{
    struct thread *t = stacks_recorded_thread();
    if (runtime.off || !runtime.process)
        return NULL;
    if (t)
        stacks_find(t, (uint64_t)__builtin_frame_address(0));
    uint64_t mask = sys_block_signals();
    stacks_lock();
    struct stack *s = high ? stacks_begin_at(low, high) : stacks_new(0, 0);
    stacks_unlock();
    sys_restore_signals(mask);
    return s;
}

/* ---- ucontext ---- */

void stacks_context_made(const struct ucontext_t *context)
{
    const uint64_t low = (uint64_t)context->uc_stack.ss_sp;
    stacks_make(low, low + context->uc_stack.ss_size);
}

void stacks_context_chosen(const struct ucontext_t *context)
{
#if defined(__x86_64__)
    const uint64_t stack_pointer = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#else
    const uint64_t stack_pointer = context->uc_mcontext.sp;
#endif
    struct thread *t = stacks_recorded_thread();
    if (!t)
        return;
    uint64_t mask = sys_block_signals();
    stacks_go_to(t, stack_pointer);
    sys_restore_signals(mask);
}

/* ---- by the program's own word: see dwell.h ---- */

DWELL_EXPORT void *dwell_runtime_fiber_create(const void *stack, size_t size);
DWELL_EXPORT void dwell_runtime_fiber_switch(void *fiber);
DWELL_EXPORT void dwell_runtime_fiber_destroy(void *fiber);

DWELL_EXPORT void *dwell_runtime_fiber_create(const void *stack, size_t size)
{
    return stacks_make((uint64_t)stack, stack ? (uint64_t)stack + size : 0);
}

DWELL_EXPORT void dwell_runtime_fiber_switch(void *fiber)
{
    struct thread *t = stacks_recorded_thread();
    if (!t)
        return;
    uint64_t mask = sys_block_signals();
    struct stack *to = fiber ? fiber : &t->stacks.own;
    stacks_lock();
    stacks_set_range(t, to, 0);
    to->threads++;
    stacks_unlock();
    stacks_switch(t, to);
    sys_restore_signals(mask);
}

DWELL_EXPORT void dwell_runtime_fiber_destroy(void *fiber)
{
    struct stack *s = fiber;
    if (!s || s->given_up || runtime.off || !runtime.process)
        return;
    uint64_t mask = sys_block_signals();
    stacks_lock();
    for (size_t i = s->high ? stacks_index_above(s->low) : stacks_known.count;
         i < stacks_known.count && stacks_known.at[i] == s;)
        stacks_remove_index(i);
    stacks_give_up(s);
    stacks_unlock();
    sys_restore_signals(mask);
}
