/* The decoder of x86-64 instructions that move the stack pointer, and of those that spill registers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "levels/x86_stack.h"

TestSuite(unit_x86_stack);

enum { RCX = 1, RSP = 4, RBP = 5, RDI = 7, R9 = 9, R12 = 12 };

static bool stack_test_decode(const uint8_t *code, struct x86_stack_insn *made)
{
    struct x86_insn insn;
    cr_assert(x86_decode(code, X86_MAX_LENGTH, 0x1000, &insn), "%02x %02x %02x", code[0], code[1], code[2]);
    const bool known = x86_stack_decode(code, &insn, made);
    cr_assert(not(known && !x86_stack_may_be(code) && !(insn.writes >> RSP & 1)), "%02x %02x", code[0], code[1]);
    return known;
}

static const struct {
    uint8_t code[X86_MAX_LENGTH];
    struct x86_stack_insn is;
} stack_tests[] = {
    { { 0x55 }, { STACK_MOVES, 0, 0, 0, -8 } },                                     /* push %rbp */
    { { 0x41, 0x54 }, { STACK_MOVES, 0, 0, 0, -8 } },                               /* push %r12 */
    { { 0x6a, 1 }, { STACK_MOVES, 0, 0, 0, -8 } },                                  /* push $1 */
    { { 0x68, 1, 0, 0, 0 }, { STACK_MOVES, 0, 0, 0, -8 } },                         /* push $1 */
    { { 0xff, 0x73, 8 }, { STACK_MOVES, 0, 0, 0, -8 } },                            /* push 8(%rbx) */
    { { 0x5d }, { STACK_MOVES, 0, 0, 0, 8 } },                                      /* pop %rbp */
    { { 0x41, 0x5c }, { STACK_MOVES, 0, 0, 0, 8 } },                                /* pop %r12 */
    { { 0x5c }, { STACK_LEAVES, 0, 0, 0, 0 } },                                     /* pop %rsp */
    { { 0x66, 0x50 }, { STACK_LEAVES, 0, 0, 0, 0 } },                               /* push %ax */
    { { 0xc9 }, { STACK_LEAVES, 0, 0, 0, 0 } },                                     /* leave */
    { { 0x48, 0x83, 0xec, 0x28 }, { STACK_MOVES, 0, 0, 0, -0x28 } },                /* sub $0x28, %rsp */
    { { 0x48, 0x83, 0xec, 0x80 }, { STACK_MOVES, 0, 0, 0, 0x80 } },                 /* sub $-0x80, %rsp */
    { { 0x48, 0x81, 0xc4, 0, 1, 0, 0 }, { STACK_MOVES, 0, 0, 0, 0x100 } },          /* add $0x100, %rsp */
    { { 0x48, 0x83, 0xe4, 0xe0 }, { STACK_LEAVES, 0, 0, 0, 0 } },                   /* and $-32, %rsp */
    { { 0x48, 0x29, 0xc4 }, { STACK_LEAVES, 0, 0, 0, 0 } },                         /* sub %rax, %rsp */
    { { 0x48, 0x8d, 0x64, 0x24, 8 }, { STACK_MOVES, RSP, RSP, 8, 8 } },             /* lea 8(%rsp), %rsp */
    { { 0x48, 0x8d, 0x65, 0xd8 }, { STACK_LEAVES, RSP, RBP, -0x28, 0 } },           /* lea -0x28(%rbp), %rsp */
    { { 0x48, 0x8b, 0x64, 0x24, 8 }, { STACK_LEAVES, RSP, RSP, 8, 0 } },            /* mov 8(%rsp), %rsp */
    { { 0x48, 0x89, 0x0c, 0x24 }, { STACK_SPILL, RCX, RSP, 0, 0 } },                /* mov %rcx, (%rsp) */
    { { 0x4c, 0x89, 0x64, 0x24, 8 }, { STACK_SPILL, R12, RSP, 8, 0 } },             /* mov %r12, 8(%rsp) */
    { { 0x48, 0x8b, 0xbc, 0x24, 0, 1, 0, 0 }, { STACK_FILL, RDI, RSP, 0x100, 0 } }, /* mov 0x100(%rsp), %rdi */
    { { 0x4c, 0x8b, 0x4d, 0xf8 }, { STACK_FILL, R9, RBP, -8, 0 } },                 /* mov -8(%rbp), %r9 */
    { { 0x48, 0xc7, 0x44, 0x24, 8, 0xfe, 0xff, 0xff, 0xff }, { STACK_STORE, 0, RSP, 8, -2 } }, /* movq $-2, 8(%rsp) */
};

Test(unit_x86_stack, what_happens_to_the_stack)
{
    for (size_t i = 0; i < sizeof stack_tests / sizeof *stack_tests; i++) {
        const struct x86_stack_insn *is = &stack_tests[i].is;
        struct x86_stack_insn made;
        cr_assert(stack_test_decode(stack_tests[i].code, &made), "%zu", i);
        cr_assert(eq(int, made.kind, is->kind), "%zu", i);
        if (is->kind == STACK_MOVES || is->kind == STACK_STORE)
            cr_assert(eq(i64, made.value, is->value), "%zu", i);
        if (is->kind < STACK_SPILL)
            continue;
        cr_assert(eq(int, made.base, is->base), "%zu", i);
        cr_assert(eq(int, made.displacement, is->displacement), "%zu", i);
        if (is->kind != STACK_STORE)
            cr_assert(eq(int, made.reg, is->reg), "%zu", i);
    }
}

/* Other memory, other registers, other sizes. */
Test(unit_x86_stack, what_does_not)
{
    static const uint8_t others[][X86_MAX_LENGTH] = {
        { 0x48, 0x89, 0x4b, 8 },          /* mov %rcx, 8(%rbx) */
        { 0x49, 0x89, 0x4c, 0x24, 8 },    /* mov %rcx, 8(%r12) */
        { 0x49, 0x8b, 0x4d, 8 },          /* mov 8(%r13), %rcx */
        { 0x48, 0x89, 0x4c, 0x04, 8 },    /* mov %rcx, 8(%rsp,%rax) */
        { 0x89, 0x4c, 0x24, 8 },          /* mov %ecx, 8(%rsp) */
        { 0x48, 0x8b, 0x0d, 8, 0, 0, 0 }, /* mov 8(%rip), %rcx */
        { 0x48, 0x89, 0xc8 },             /* mov %rcx, %rax */
        { 0x48, 0x89, 0xe5 },             /* mov %rsp, %rbp: a copy */
        { 0x48, 0x8d, 0x7c, 0x24, 8 },    /* lea 8(%rsp), %rdi */
        { 0x48, 0x83, 0xfc, 8 },          /* cmp $8, %rsp */
        { 0x49, 0x83, 0xec, 8 },          /* sub $8, %r12 */
        { 0xff, 0xd0 },                   /* call *%rax */
        { 0xff, 0xc1 },                   /* inc %ecx */
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct x86_stack_insn made;
        cr_assert(not(stack_test_decode(others[i], &made)), "%zu", i);
    }
}
