/*
 * The stubs are part of the runtime's code. So unwinders, debuggers and other profilers find what they need in its
 * tables, as for any function: exceptions and cancelled threads pass through.
 *
 * A slot leads to a gate, which jumps to where its function's level says. One store changes the level for all calls
 * that begin later:
 *
 *     timed     a stub, which records the call
 *     counted   one that adds to a counter of the thread and jumps to the function
 *     out       the function
 *
 * The frames of a timed call:
 *
 *     the caller's frame      the arguments on the stack
 *                             the return address           S, a stub's first stack pointer
 *     the stub's frame        its number, the registers
 *                             the arguments again
 *     the function's frame    its return address           S - frame, the stack pointer of both events
 *
 * On aarch64, return addresses are in a register, and S is the word below the arguments nevertheless.
 *
 * The frame has one of four sizes, multiples of 64 bytes: what is aligned on the stack stays so. All registers that can
 * hold arguments arrive as they were, and results leave as they were. On x86-64, what records the usual call uses
 * general registers only: it is compiled so (runtime/meson.build). All else keeps the vector registers itself
 * (keep_vectors.h). The stubs of aarch64 keep those that can hold arguments.
 *
 * A compiler may know which registers a function changes that it compiles together with its caller (GCC's -fipa-ra), or
 * give it more registers for results. So the stubs of direct calls keep all registers that a call may change.
 */
#include "levels/call_stubs.h"

#include <string.h>
#include <sys/uio.h>

#include "common.h"
#include "keep_vectors.h"
#include "levels/call_stubs_machine.h"
#include "levels/counts.h"
#include "levels/level_check.h"
#include "levels/near_code.h"
#include "main_stack.h"
#include "probes.h"
#include "sys.h"

__attribute__((used)) struct call_stub call_stub_list[CALL_STUBS];
__attribute__((used)) uint64_t call_stub_ways[CALL_STUBS];
static struct {
    struct near_ways *ways; /* of a stub for direct calls; NULL if there are none */
    uint64_t counter;
} call_stub_near[CALL_STUBS];
static uint32_t call_stub_count;
static bool call_stubs_ended; /* gates lead to functions */

/* The part behind a page may be no memory: a stack can end there. Bytes that cannot be read are no arguments, nor is
 * what lies above the main thread's stack. */
DWELL_COLD void call_stub_copy_some(char *to, const char *from, size_t size);
DWELL_COLD void call_stub_copy_partly(char *to, const char *from, size_t size);
KEEPS_VECTORS(call_stub_copy_some, call_stub_copy_partly);

void call_stub_copy_partly(char *to, const char *from, size_t size)
{
    const uint64_t begin = (uint64_t)from, main_end = main_stack_end(begin);
    if (main_end) {
        call_stub_copy_words(to, from, smaller_of(size, (main_end - begin) & ~(uint64_t)15));
        return;
    }
    const size_t certain = smaller_of(size, stack_certain_end(begin) - begin);
    const struct iovec here = { to + certain, size - certain }, there = { (void *)(from + certain), size - certain };
    memcpy(to, from, certain);
    if (certain < size)
        SYS6(process_vm_readv, SYS0(getpid), &here, 1, &there, 1, 0);
}

/* Arguments lie in the caller's frame. Its end is known, or rbp leads to it. In a caller that uses rbp otherwise, it
 * may be any number, and the arguments are no more than `frame_bytes`. */
static ALWAYS_INLINE uint32_t call_stub_size(const struct call_stack *stack, uint64_t first)
{
    if (LIKELY(!stack->to_frame_pointer))
        return stack->bytes;
    const uint64_t size = call_stub_frame_pointer(first) - (first + sizeof(void *));
    if (size >= stack->bytes)
        return stack->bytes;
    return size <= stack->frame_bytes ? stack->frame_bytes : (uint32_t)(size + 15) & ~(uint32_t)15;
}

static __attribute__((noinline)) void call_stub_copy(const struct call_stub *stub, uint64_t first)
{
    const char *from = (const char *)first + sizeof(void *);
    char *to = (char *)(first - stub->frame) + sizeof(void *);
    const uint32_t size = call_stub_size(&stub->stack, first);
    if (LIKELY(((uint64_t)from & (PAGE - 1)) + size <= PAGE))
        call_stub_copy_words(to, from, size);
    else
        call_stub_copy_some(to, from, size);
}

/* A thread without a page for a counter comes here, too, and calls that were on their way when the level changed. */
__attribute__((used)) bool call_stub_enter(const struct call_stub *stub, uint64_t first)
{
    const uint16_t level = __atomic_load_n(&stub->level, __ATOMIC_ACQUIRE);
    if (stub->stack.bytes)
        call_stub_copy(stub, first);
    if (LIKELY(level == LEVEL_TIMED))
        probe_enter_from(stub->function, first - stub->frame, call_stub_return_to(first), (uint64_t)call_stubs);
    else if (level == LEVEL_COUNTED && !counts_add(stub->number))
        level_counted_enter((void *)stub->function, (void *)call_stub_return_to(first));
    return level == LEVEL_TIMED;
}

DWELL_COLD void call_stub_watched_exit(const struct frame_exit *exit);
KEEPS_VECTORS(call_stub_watched_exit, level_exit_if_watched);

static __attribute__((noinline)) void call_stub_exit_if_watched(const struct call_stub *stub, uint64_t first)
{
    const struct frame_exit exit = { stub->function, first - stub->frame, call_stub_return_to(first), false };
    call_stub_watched_exit(&exit);
}

__attribute__((used)) void call_stub_exit(const struct call_stub *stub, uint64_t first, bool recorded)
{
    if (UNLIKELY(!recorded))
        return;
    if (UNLIKELY(__atomic_load_n(&stub->watched, __ATOMIC_RELAXED)))
        call_stub_exit_if_watched(stub, first);
    else
        probe_exit_at(stub->function, first - stub->frame, false);
}

static bool call_stub_is(const struct call_stub *stub, uint64_t target, uint64_t function,
                         const struct call_stack *stack, bool direct)
{
    return stub->target == target && stub->function == function && stub->direct == direct &&
           memcmp(&stub->stack, stack, sizeof *stack) == 0;
}

/* The number of the stub that is to have the target; CALL_STUBS if none is left. */
static uint32_t call_stub_choose(uint64_t target, uint64_t function, const struct call_stack *stack, bool direct)
{
    for (uint32_t i = 0; i < call_stub_count; i++)
        if (call_stub_is(&call_stub_list[i], target, function, stack, direct))
            return i;
    if (call_stub_count < CALL_STUBS)
        return call_stub_count++;
    uint32_t i = 0;
    while (i < CALL_STUBS && !call_stub_list[i].unloaded)
        i++;
    return i;
}

static uint64_t call_stub_index(const struct call_stub *stub)
{
    return (uint64_t)(stub - call_stub_list);
}

static uint64_t call_stub_way(const struct call_stub *stub)
{
    const uint64_t index = call_stub_index(stub), at = index * CALL_STUB_SIZE;
    const uint64_t counter = call_stub_near[index].counter;
    if (__atomic_load_n(&call_stubs_ended, __ATOMIC_ACQUIRE) || stub->level == LEVEL_OUT)
        return stub->called;
    if (stub->level == LEVEL_COUNTED && (!stub->direct || CALL_COUNTERS_KEEP))
        return (uint64_t)call_stub_counters + at;
    return stub->level == LEVEL_COUNTED && counter ? counter : (uint64_t)call_stubs + at;
}

static void call_stub_lead(const struct call_stub *stub)
{
    const uint64_t way = call_stub_way(stub);
    struct near_ways *near = call_stub_near[call_stub_index(stub)].ways;
    if (near) {
        near->page = stub->page;
        near->count = stub->count;
        __atomic_store_n(&near->way, way, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&call_stub_ways[call_stub_index(stub)], way, __ATOMIC_RELEASE);
}

static void call_stub_set_level(struct call_stub *stub, enum level level, uint32_t number)
{
    if (level == LEVEL_COUNTED) {
        stub->number = number;
        stub->page = offsetof(struct counts_directory, pages[number / COUNTS_IN_PAGE]);
        stub->count = offsetof(struct dwell_counts, counts[number % COUNTS_IN_PAGE].calls);
    }
    __atomic_store_n(&stub->level, (uint16_t)level, __ATOMIC_RELEASE);
    call_stub_lead(stub);
}

uint64_t call_stub_of(uint64_t target, uint64_t function, const struct call_stack *stack, bool direct)
{
    const uint32_t i = call_stub_choose(target, function, stack, direct);
    if (i == CALL_STUBS)
        return 0;
    struct call_stub *stub = &call_stub_list[i];
    if (!call_stub_is(stub, target, function, stack, direct)) {
        *stub = (struct call_stub){ .called = target,
                                    .target = target,
                                    .function = function,
                                    .frame = call_stub_frame(stack->bytes),
                                    .stack = *stack,
                                    .direct = direct };
        call_stub_set_level(stub, LEVEL_TIMED, 0);
    }
    stub->unloaded = false;
    return (uint64_t)call_stub_gates + (uint64_t)i * CALL_STUB_SIZE;
}

void call_stub_set_near(uint64_t stub, struct near_ways *ways, uint64_t called, uint64_t counter)
{
    const uint64_t i = (stub - (uint64_t)call_stub_gates) / CALL_STUB_SIZE;
    ways->stub = (uint64_t)call_stubs + i * CALL_STUB_SIZE;
    call_stub_near[i].ways = ways;
    call_stub_near[i].counter = counter;
    call_stub_list[i].called = called;
    call_stub_lead(&call_stub_list[i]);
}

void call_stubs_leave_near(const char *at, size_t size)
{
    for (uint32_t i = 0; i < call_stub_count; i++) {
        if ((uint64_t)call_stub_near[i].ways - (uint64_t)at >= size)
            continue;
        call_stub_near[i].ways = NULL;
        call_stub_near[i].counter = 0;
        call_stub_list[i].called = call_stub_list[i].target;
        call_stub_lead(&call_stub_list[i]);
    }
}

bool call_stubs_have(uint64_t address)
{
    return address - (uint64_t)call_stub_gates < (uint64_t)CALL_STUBS * CALL_STUB_SIZE;
}

bool call_stubs_set_level(uint64_t function, enum level level, uint32_t number)
{
    bool any = false;
    for (uint32_t i = 0; i < call_stub_count; i++) {
        struct call_stub *stub = &call_stub_list[i];
        if (stub->function != function || stub->unloaded)
            continue;
        any = true;
        call_stub_set_level(stub, level, number);
    }
    return any;
}

void call_stubs_watch(uint64_t function, bool watched)
{
    for (uint32_t i = 0; i < call_stub_count; i++)
        if (call_stub_list[i].function == function)
            __atomic_store_n(&call_stub_list[i].watched, watched, __ATOMIC_RELAXED);
}

void call_stubs_end(void)
{
    __atomic_store_n(&call_stubs_ended, true, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < call_stub_count; i++)
        call_stub_lead(&call_stub_list[i]);
}

void call_stubs_give_back(call_stub_is_unloaded *is_unloaded)
{
    for (uint32_t i = 0; i < call_stub_count; i++)
        call_stub_list[i].unloaded = is_unloaded(call_stub_list[i].target);
}
