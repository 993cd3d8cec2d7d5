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
 * The frame is a multiple of 64 bytes: what is aligned on the stack stays so. All registers that can hold arguments
 * arrive as they were, and results leave as they were. What records the usual call uses general registers only: it is
 * compiled so (runtime/meson.build). All else keeps the vector registers itself (keep_vectors.h).
 *
 * A compiler may know which registers a function changes that it compiles together with its caller (GCC's -fipa-ra), or
 * give it more registers for results. So the stubs of direct calls keep all registers that a call may change.
 */
#include "levels/call_stubs.h"

#if defined(__x86_64__)

#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "common.h"
#include "keep_vectors.h"
#include "levels/counts.h"
#include "levels/level_check.h"
#include "levels/near_code.h"
#include "main_stack.h"
#include "probes.h"
#include "sys.h"

enum {
    CALL_STUBS = 4096,
    CALL_STUB_SIZE = 16,
    CALL_SAVED = 104,        /* bytes of the frame that hold no arguments */
    CALL_FRAME_POINTER = 16, /* the caller's rbp is S - 16 */
    CALL_ALIGNMENT = 64,
    CALL_LONG_COPY = 256
};

struct call_stub {
    uint64_t target, function;
    uint32_t frame;
    struct call_stack stack;
    uint16_t unloaded;    /* it may get another target */
    uint16_t level;       /* enum level */
    uint64_t page, count; /* counted: offsets of the page in a thread's directory, and of the counter in the page */
    uint32_t number;      /* of the counter */
    uint32_t direct;      /* all registers are kept */
    uint64_t index;       /* of the stub */
};

_Static_assert(sizeof(struct call_stub) == 64, "the stubs' offsets");

__attribute__((used, visibility("hidden"))) struct call_stub call_stub_list[CALL_STUBS];
__attribute__((used, visibility("hidden"))) uint64_t call_stub_ways[CALL_STUBS]; /* where gates lead */
static struct {
    struct near_ways *ways; /* of a stub for direct calls; NULL if there are none */
    uint64_t counter;
} call_stub_near[CALL_STUBS];
static uint32_t call_stub_count;
static bool call_stubs_ended; /* gates lead to functions */

extern const char call_stub_gates[] __attribute__((visibility("hidden")));
extern const char call_stubs[] __attribute__((visibility("hidden")));
extern const char call_stub_counters[] __attribute__((visibility("hidden")));

/* A multiple of 16 bytes. One instruction is faster for many of them. */
static ALWAYS_INLINE void call_stub_copy_words(char *to, const char *from, size_t size)
{
    size_t words = size / sizeof(uint64_t);
    if (UNLIKELY(size >= CALL_LONG_COPY)) {
        __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
        return;
    }
    for (const char *const end = from + size; from != end; from += 16, to += 16)
        __builtin_memcpy(to, from, 16);
}

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
    const uint64_t frame_pointer = *(const uint64_t *)(first - CALL_FRAME_POINTER);
    const uint64_t size = frame_pointer - (first + sizeof(void *));
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

/* Returns whether the call is recorded. A thread without a page for a counter comes here, too, and calls that were on
 * their way when the level changed. */
__attribute__((used)) static bool call_stub_enter(const struct call_stub *stub, uint64_t first)
{
    const uint16_t level = __atomic_load_n(&stub->level, __ATOMIC_ACQUIRE);
    if (stub->stack.bytes)
        call_stub_copy(stub, first);
    if (LIKELY(level == LEVEL_TIMED))
        probe_enter_from(stub->function, first - stub->frame, *(const uint64_t *)first, (uint64_t)call_stubs);
    else if (level == LEVEL_COUNTED && !counts_add(stub->number))
        level_counted_enter((void *)stub->function, (void *)*(const uint64_t *)first);
    return level == LEVEL_TIMED;
}

__attribute__((used)) static void call_stub_exit(const struct call_stub *stub, uint64_t first, bool recorded)
{
    if (LIKELY(recorded))
        probe_exit_at(stub->function, first - stub->frame, false);
}

/* Gates have the description for unwinders that each function begins with.
 *
 * A stub pushes its number and goes on with call_stub_common. The one description for unwinders covers all of them:
 * from byte 9 of a stub on, the stack has a word more.
 *
 * A counting stub may change r11 and the flags, as the linker's stubs may. Where the thread has no page, it goes on as
 * the other stub.
 *
 * call_stub_common: rbp is S - 16. Below it are rbx, rax, the registers of arguments, r10 and r11.
 * The runtime's functions need a stack that is aligned to 16 bytes; code may keep its own at multiples of 8. */
__asm__(".pushsection .text\n"
        ".balign 64\n"
        ".type call_stub_gates, @function\n"
        "call_stub_gates:\n"
        ".cfi_startproc\n"
        ".set call_stub_number, 0\n"
        ".rept 4096\n"
        ".balign 16\n"
        "endbr64\n"
        "jmp *call_stub_ways + 8 * call_stub_number(%rip)\n"
        ".set call_stub_number, call_stub_number + 1\n"
        ".endr\n"
        ".cfi_endproc\n"
        ".size call_stub_gates, . - call_stub_gates\n"
        ".balign 64\n"
        ".type call_stub_counters, @function\n"
        "call_stub_counters:\n"
        ".cfi_startproc\n"
        ".set call_stub_number, 0\n"
        ".rept 4096\n"
        ".balign 16\n"
        "endbr64\n"
        "leaq call_stub_list + 64 * call_stub_number(%rip), %r11\n"
        "jmp call_stub_count_call\n"
        ".set call_stub_number, call_stub_number + 1\n"
        ".endr\n"
        ".cfi_endproc\n"
        ".size call_stub_counters, . - call_stub_counters\n"
        ".type call_stub_count_call, @function\n"
        "call_stub_count_call:\n"
        ".cfi_startproc\n"
        "pushq %rax\n"
        ".cfi_def_cfa_offset 16\n"
        "movq counts_self@gottpoff(%rip), %rax\n"
        "movq %fs:(%rax), %rax\n"
        "addq 32(%r11), %rax\n"
        "movq (%rax), %rax\n"
        "testq %rax, %rax\n"
        "jz 1f\n"
        "addq 40(%r11), %rax\n"
        "incq (%rax)\n"
        "popq %rax\n"
        ".cfi_def_cfa_offset 8\n"
        "jmp *(%r11)\n"
        ".cfi_def_cfa_offset 16\n"
        "1: popq %rax\n"
        ".cfi_def_cfa_offset 8\n"
        "pushq 56(%r11)\n"
        ".cfi_def_cfa_offset 16\n"
        "jmp call_stub_common\n"
        ".cfi_endproc\n"
        ".size call_stub_count_call, . - call_stub_count_call\n"
        ".balign 64\n"
        ".type call_stubs, @function\n"
        "call_stubs:\n"
        ".cfi_startproc\n"
        ".cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24, 0x22\n"
        ".set call_stub_number, 0\n"
        ".rept 4096\n"
        ".balign 16\n"
        "endbr64\n"
        ".byte 0x68\n" /* push */
        ".long call_stub_number\n"
        "jmp call_stub_common\n"
        ".set call_stub_number, call_stub_number + 1\n"
        ".endr\n"
        ".cfi_endproc\n"
        ".size call_stubs, . - call_stubs\n"
        ".type call_stub_common, @function\n"
        "call_stub_common:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa_offset 16\n"
        "pushq %rbp\n"
        ".cfi_def_cfa_offset 24\n"
        ".cfi_offset %rbp, -24\n"
        "movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "leaq -80(%rsp), %rsp\n"
        "movq %rbx, -8(%rbp)\n"
        ".cfi_offset %rbx, -32\n"
        "movq %rax, -16(%rbp)\n"
        "movq %rdi, -24(%rbp)\n"
        "movq %rsi, -32(%rbp)\n"
        "movq %rdx, -40(%rbp)\n"
        "movq %rcx, -48(%rbp)\n"
        "movq %r8, -56(%rbp)\n"
        "movq %r9, -64(%rbp)\n"
        "movq %r10, -72(%rbp)\n"
        "movq %r11, -80(%rbp)\n"
        "movq 8(%rbp), %rbx\n"
        "shlq $6, %rbx\n"
        "leaq call_stub_list(%rip), %rdi\n"
        "addq %rdi, %rbx\n"
        "movl 16(%rbx), %eax\n"
        "negq %rax\n"
        "leaq 24(%rbp,%rax), %rsp\n" /* at once: a signal takes what is below the stack pointer */
        "andq $-16, %rsp\n"
        "movq %rbx, %rdi\n"
        "leaq 16(%rbp), %rsi\n"
        "call call_stub_enter\n"
        "movzbl %al, %eax\n"
        "movq %rax, 8(%rbp)\n" /* in place of the number */
        "movl 16(%rbx), %eax\n"
        "negq %rax\n"
        "leaq 24(%rbp,%rax), %rsp\n" /* at once: a signal takes what is below the stack pointer */
        "movq -80(%rbp), %r11\n"
        "movq -72(%rbp), %r10\n"
        "movq -64(%rbp), %r9\n"
        "movq -56(%rbp), %r8\n"
        "movq -48(%rbp), %rcx\n"
        "movq -40(%rbp), %rdx\n"
        "movq -32(%rbp), %rsi\n"
        "movq -24(%rbp), %rdi\n"
        "movq -16(%rbp), %rax\n"
        "call *(%rbx)\n"
        "movq %rax, -16(%rbp)\n"
        "movq %rdx, -40(%rbp)\n"
        "cmpl $0, 52(%rbx)\n"
        "jne 2f\n"
        "1: movq %rbx, %rdi\n"
        "leaq 16(%rbp), %rsi\n"
        "movq 8(%rbp), %rdx\n"
        "andq $-16, %rsp\n"
        "call call_stub_exit\n"
        "cmpl $0, 52(%rbx)\n"
        "jne 4f\n"
        "3: movq -40(%rbp), %rdx\n"
        "movq -16(%rbp), %rax\n"
        "movq -8(%rbp), %rbx\n"
        ".cfi_restore %rbx\n"
        "leave\n"
        ".cfi_restore %rbp\n"
        ".cfi_def_cfa %rsp, 16\n"
        "leaq 8(%rsp), %rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_def_cfa %rbp, 24\n" /* in direct calls: as between the calls of the runtime */
        ".cfi_offset %rbp, -24\n"
        ".cfi_offset %rbx, -32\n"
        "2: movq %rdi, -24(%rbp)\n"
        "movq %rsi, -32(%rbp)\n"
        "movq %rcx, -48(%rbp)\n"
        "movq %r8, -56(%rbp)\n"
        "movq %r9, -64(%rbp)\n"
        "movq %r10, -72(%rbp)\n"
        "movq %r11, -80(%rbp)\n"
        "jmp 1b\n"
        "4: movq -80(%rbp), %r11\n"
        "movq -72(%rbp), %r10\n"
        "movq -64(%rbp), %r9\n"
        "movq -56(%rbp), %r8\n"
        "movq -48(%rbp), %rcx\n"
        "movq -32(%rbp), %rsi\n"
        "movq -24(%rbp), %rdi\n"
        "jmp 3b\n"
        ".cfi_endproc\n"
        ".size call_stub_common, . - call_stub_common\n"
        ".popsection\n");

bool call_stubs_exist(void)
{
    return true;
}

static uint32_t call_stub_frame(uint32_t stack_bytes)
{
    return (CALL_SAVED + stack_bytes + CALL_ALIGNMENT - 1) & ~(uint32_t)(CALL_ALIGNMENT - 1);
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

static uint64_t call_stub_way(const struct call_stub *stub)
{
    const uint64_t at = stub->index * CALL_STUB_SIZE, counter = call_stub_near[stub->index].counter;
    if (__atomic_load_n(&call_stubs_ended, __ATOMIC_ACQUIRE) || stub->level == LEVEL_OUT)
        return stub->target;
    if (stub->level == LEVEL_COUNTED && !stub->direct)
        return (uint64_t)call_stub_counters + at;
    return stub->level == LEVEL_COUNTED && counter ? counter : (uint64_t)call_stubs + at;
}

static void call_stub_lead(const struct call_stub *stub)
{
    const uint64_t way = call_stub_way(stub);
    struct near_ways *near = call_stub_near[stub->index].ways;
    if (near) {
        near->page = stub->page;
        near->count = stub->count;
        __atomic_store_n(&near->way, way, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&call_stub_ways[stub->index], way, __ATOMIC_RELEASE);
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
        *stub = (struct call_stub){ .target = target,
                                    .function = function,
                                    .frame = call_stub_frame(stack->bytes),
                                    .stack = *stack,
                                    .direct = direct,
                                    .index = i };
        call_stub_set_level(stub, LEVEL_TIMED, 0);
    }
    stub->unloaded = false;
    return (uint64_t)call_stub_gates + (uint64_t)i * CALL_STUB_SIZE;
}

void call_stub_set_near(uint64_t stub, struct near_ways *ways, uint64_t counter)
{
    const uint64_t i = (stub - (uint64_t)call_stub_gates) / CALL_STUB_SIZE;
    ways->stub = (uint64_t)call_stubs + i * CALL_STUB_SIZE;
    call_stub_near[i].ways = ways;
    call_stub_near[i].counter = counter;
    call_stub_lead(&call_stub_list[i]);
}

void call_stubs_leave_near(const char *at, size_t size)
{
    for (uint32_t i = 0; i < call_stub_count; i++) {
        if ((uint64_t)call_stub_near[i].ways - (uint64_t)at >= size)
            continue;
        call_stub_near[i].ways = NULL;
        call_stub_near[i].counter = 0;
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

#else

bool call_stubs_exist(void)
{
    return false;
}

uint64_t call_stub_of(uint64_t target, uint64_t function, const struct call_stack *stack, bool direct)
{
    (void)target, (void)function, (void)stack, (void)direct;
    return 0;
}

void call_stub_set_near(uint64_t stub, struct near_ways *ways, uint64_t counter)
{
    (void)stub, (void)ways, (void)counter;
}

void call_stubs_leave_near(const char *at, size_t size)
{
    (void)at, (void)size;
}

bool call_stubs_have(uint64_t address)
{
    (void)address;
    return false;
}

bool call_stubs_set_level(uint64_t function, enum level level, uint32_t number)
{
    (void)function, (void)level, (void)number;
    return false;
}

void call_stubs_end(void)
{
}

void call_stubs_give_back(call_stub_is_unloaded *is_unloaded)
{
    (void)is_unloaded;
}

#endif
