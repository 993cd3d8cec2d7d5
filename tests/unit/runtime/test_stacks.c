/* The runtime's stacks: finding the stack of a stack pointer, and the shadow stacks after a switch. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <ucontext.h>

#include "dwell/dwell.h"
#include "stacks.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_stacks);

void *dwell_runtime_fiber_create(const void *stack, size_t size);
void dwell_runtime_fiber_switch(void *fiber);
void dwell_runtime_fiber_destroy(void *fiber);

static struct stack *stacks_make(uint64_t low, uint64_t size)
{
    return dwell_runtime_fiber_create((const void *)low, size);
}

Test(unit_runtime_stacks, a_thread_begins_on_its_own)
{
    struct thread *t = runtime_block();
    cr_assert(eq(ptr, t->stacks.on, &t->stacks.own));
    cr_assert(eq(u64, t->stack.low, 0));
    cr_assert(eq(u64, t->stack.span, UINT64_MAX));
    stacks_find(t, 0x1000);
    cr_assert(eq(int, runtime_calls.switches, 0));
    cr_assert(eq(int, runtime_calls.limits, 0));
}

Test(unit_runtime_stacks, found_by_the_stack_pointer)
{
    struct thread *t = runtime_block();
    struct stack *first = stacks_make(0x10000, 0x1000), *second = stacks_make(0x30000, 0x1000);
    cr_assert(eq(u32, first->number, 1));
    cr_assert(eq(u32, second->number, 2));
    cr_assert(eq(int, runtime_calls.notified, 2));
    stacks_find(t, 0x30010);
    cr_assert(eq(ptr, t->stacks.on, second));
    cr_assert(eq(u64, t->stack.low, 0x30000));
    cr_assert(eq(u64, t->stack.span, 0x1000));
    stacks_find(t, 0x10fff);
    cr_assert(eq(ptr, t->stacks.on, first));
    cr_assert(eq(int, runtime_calls.switches, 2));
    stacks_find(t, 0x10000);
    cr_assert(eq(int, runtime_calls.switches, 2));
}

/* Addresses outside of all known stacks belong to the thread's original stack, between its two neighbours. */
Test(unit_runtime_stacks, back_to_the_threads_own)
{
    struct thread *t = runtime_block();
    stacks_make(0x10000, 0x1000);
    stacks_make(0x30000, 0x1000);
    stacks_find(t, 0x10800);
    stacks_find(t, 0x20000);
    cr_assert(eq(ptr, t->stacks.on, &t->stacks.own));
    cr_assert(eq(u64, t->stack.low, 0x11000));
    cr_assert(eq(u64, t->stack.span, 0x1f000));
    stacks_find(t, 0x50000);
    cr_assert(eq(int, runtime_calls.switches, 2));
    cr_assert(eq(u64, t->stack.low, 0x31000));
    cr_assert(eq(u64, t->stack.span, UINT64_MAX - 0x31000));
}

Test(unit_runtime_stacks, a_new_stack_replaces_those_it_overlaps)
{
    struct thread *t = runtime_block();
    struct stack *old = stacks_make(0x10000, 0x1000);
    struct stack *same = stacks_make(0x10000, 0x1000);
    cr_assert(eq(ptr, same, old));
    cr_assert(eq(int, runtime_calls.notified, 1));
    struct stack *wide = stacks_make(0x0f000, 0x3000);
    stacks_find(t, 0x10800);
    cr_assert(eq(ptr, t->stacks.on, wide));
    cr_assert(eq(u64, t->stack.low, 0x0f000));
}

/* It is there until its next event. Its shadow stack is used again afterwards. */
Test(unit_runtime_stacks, a_new_stack_in_the_place_of_one_that_a_thread_is_on)
{
    struct thread *t = runtime_block();
    struct stack *old = stacks_make(0x10000, 0x1000);
    stacks_find(t, 0x10800);
    runtime_open_call(t, 0x100, 0);
    thread_self = NULL; /* another thread */
    struct stack *new = stacks_make(0x10000, 0x1000);
    cr_assert(ne(ptr, new, old));
    cr_assert(ne(ptr, new->calls, old->calls));
    cr_assert(eq(int, runtime_calls.notified, 2));
    cr_assert(ne(ptr, stacks_make(0x30000, 0x1000), old));
    stacks_find(t, 0x20000);
    cr_assert(eq(u32, stacks_calls(new), 0));
    cr_assert(eq(ptr, stacks_make(0x50000, 0x1000), old));
}

/* Its block is used again for another thread. */
Test(unit_runtime_stacks, a_thread_ends_on_its_own)
{
    struct thread *t = runtime_block();
    struct stack *other = stacks_make(0x10000, 0x1000);
    char *const own = t->shadow;
    stacks_find(t, 0x10800);
    runtime_open_call(t, 0x100, 0);
    stacks_end_thread(t);
    cr_assert(eq(ptr, t->shadow, own));
    cr_assert(eq(u32, stacks_calls(other), 1));
    cr_assert(eq(ptr, stacks_make(0x10000, 0x1000), other));
    cr_assert(eq(u32, stacks_calls(other), 0));
}

/* In mode profile, calls on a stack are below the root of the thread that is on it. */
Test(unit_runtime_stacks, the_base_call_has_the_threads_root)
{
    static struct dwell_tree_node root;
    struct thread *t = runtime_block();
    stacks_make(0x10000, 0x1000);
    t->tree.root = &root;
    stacks_find(t, 0x10800);
    cr_assert(eq(ptr, ((struct call *)t->shadow)->node, &root));
    stacks_make(0x10000, 0x1000);
    cr_assert(eq(ptr, ((struct call *)t->shadow)->node, &root));
    stacks_find(t, 0x20000);
    cr_assert(eq(ptr, ((struct call *)t->shadow)->node, &root));
    t->pause.active = 1;
    stacks_find(t, 0x10800);
    cr_assert(eq(ptr, ((struct call *)t->shadow)->node, &root));
}

Test(unit_runtime_stacks, of_contexts)
{
    struct thread *t = runtime_block();
    ucontext_t context = { .uc_stack = { .ss_sp = (void *)0x40000, .ss_size = 0x2000 } };
    stacks_context_made((const struct ucontext_t *)&context);
    stacks_find(t, 0x41000);
    cr_assert(eq(u64, t->stacks.on->low, 0x40000));
    cr_assert(eq(u64, t->stacks.on->high, 0x42000));
}

/* The calls of a stack that was put aside are as if they had begun later, by that time. */
Test(unit_runtime_stacks, shadow_stacks_are_exchanged)
{
    struct thread *t = runtime_block();
    struct stack *to = stacks_make(0x10000, 0x1000);
    char *const own = t->shadow;
    runtime_open_call(t, 0x100, 0)->enter_time = 50;
    to->aside_at = 70;
    stacks_exchange(t, to, 80);
    cr_assert(eq(ptr, t->shadow, to->calls));
    cr_assert(eq(u32, t->shadow_size, to->size));
    cr_assert(eq(ptr, t->stacks.own.calls, own));
    cr_assert(eq(u32, stacks_calls(&t->stacks.own), 1));
    cr_assert(eq(u32, stacks_calls(to), 0));
    t->state = thread_with_depth(t->state, to->depth);
    stacks_exchange(t, &t->stacks.own, 200);
    cr_assert(eq(ptr, t->shadow, own));
    cr_assert(eq(u64, ((struct call *)own)[1].enter_time, 50 + 120));
}

Test(unit_runtime_stacks, by_name)
{
    struct thread *t = runtime_block();
    struct stack *nowhere = dwell_runtime_fiber_create(NULL, 0);
    cr_assert(eq(int, runtime_calls.notified, 0));
    dwell_runtime_fiber_switch(nowhere);
    cr_assert(eq(ptr, t->stacks.on, nowhere));
    cr_assert(eq(u64, t->stack.span, UINT64_MAX));
    stacks_find(t, 0x70000); /* its addresses are not known: the thread stays on it */
    cr_assert(eq(ptr, t->stacks.on, nowhere));
    dwell_runtime_fiber_switch(NULL);
    cr_assert(eq(ptr, t->stacks.on, &t->stacks.own));
    dwell_runtime_fiber_destroy(nowhere);
    dwell_runtime_fiber_destroy(nowhere);
    cr_assert(eq(ptr, dwell_runtime_fiber_create(NULL, 0), nowhere));
    cr_assert(ne(ptr, dwell_runtime_fiber_create(NULL, 0), nowhere));
}

Test(unit_runtime_stacks, destroyed)
{
    struct thread *t = runtime_block();
    dwell_runtime_fiber_destroy(stacks_make(0x10000, 0x1000));
    t->stacks.seen_changes--;
    stacks_find(t, 0x10800);
    cr_assert(eq(ptr, t->stacks.on, &t->stacks.own));
}

/* A paused thread goes on in another chunk, with the calls of the stack that it is on then. */
Test(unit_runtime_stacks, in_a_pause)
{
    struct thread *t = runtime_block();
    struct stack *to = stacks_make(0x10000, 0x1000);
    runtime_open_call(t, 0x100, 0);
    t->pause.active = 1;
    t->pause.depth = t->pause.kept_depth = 2 * sizeof(struct call);
    const uint32_t low = (uint32_t)t->state;
    stacks_find(t, 0x10800);
    cr_assert(eq(int, runtime_calls.switches, 0));
    cr_assert(eq(int, runtime_calls.given_up, 1));
    cr_assert(eq(ptr, t->stacks.on, to));
    cr_assert(eq(u64, t->state, one_call | (low + 1)));
    cr_assert(eq(u32, t->pause.depth, sizeof(struct call)));
    cr_assert(eq(u32, t->pause.kept_depth, sizeof(struct call)));
}
