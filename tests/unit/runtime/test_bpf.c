/* The interpreter of seccomp filters: the effect of each instruction. Malformed programs end without an answer. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <linux/audit.h>
#include <stddef.h>
#include <string.h>

#include "bpf.h"

TestSuite(unit_bpf);

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define RUN(...)                                                                                                       \
    bpf_run((const struct sock_filter[]){ __VA_ARGS__ }, COUNT(((const struct sock_filter[]){ __VA_ARGS__ })), &call)
#define RETURN_A BPF_STMT(BPF_RET | BPF_A, 0)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define LOAD(value) BPF_STMT(BPF_LD | BPF_IMM, value)
#define LOAD_X(value) BPF_STMT(BPF_LDX | BPF_IMM, value)
#define REFUSED SECCOMP_RET_KILL_PROCESS

static const struct seccomp_data call = {
    .nr = 0x01020304,
    .arch = AUDIT_ARCH_X86_64,
    .instruction_pointer = 0x1112131415161718,
    .args = { 0x2122232425262728, 0x3132333435363738, 0x4142434445464748, 0x5152535455565758, 0x6162636465666768,
              0x7172737475767778 },
};

/* ---- loads and stores ---- */

Test(unit_bpf, loads_every_word_of_the_call)
{
    for (uint32_t at = 0; at < sizeof call; at += 4) {
        uint32_t word;
        memcpy(&word, (const char *)&call + at, sizeof word);
        cr_assert(eq(u32, RUN(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at), RETURN_A), word));
    }
    cr_assert(
        eq(u32, RUN(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), RETURN_A), 0x01020304));
    cr_assert(eq(u32, RUN(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]) + 4), RETURN_A),
                 0x71727374));
}

Test(unit_bpf, loads_outside_the_call_are_refused)
{
    const uint32_t outside[] = { sizeof call, sizeof call - 1, sizeof call + 4, 1, 2, 3, 0x80000000, 0xfffffffc };
    for (size_t i = 0; i < COUNT(outside); i++)
        cr_assert(eq(u32, RUN(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, outside[i]), RETURN_A), REFUSED));
}

Test(unit_bpf, loads_constants_and_the_length)
{
    cr_assert(eq(u32, RUN(LOAD(0xdeadbeef), RETURN_A), 0xdeadbeef));
    cr_assert(eq(u32, RUN(BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), RETURN_A), 64));
    cr_assert(eq(u32, RUN(LOAD_X(0xfeedface), BPF_STMT(BPF_MISC | BPF_TXA, 0), RETURN_A), 0xfeedface));
    cr_assert(eq(u32, RUN(BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_MISC | BPF_TXA, 0), RETURN_A), 64));
}

Test(unit_bpf, registers_and_memory_begin_as_zero)
{
    cr_assert(eq(u32, RUN(RETURN_A), 0));
    cr_assert(eq(u32, RUN(LOAD(7), BPF_STMT(BPF_MISC | BPF_TXA, 0), RETURN_A), 0));
    cr_assert(eq(u32, RUN(LOAD(7), BPF_STMT(BPF_LD | BPF_MEM, 15), RETURN_A), 0));
}

Test(unit_bpf, tax_and_txa_copy_one_way)
{
    cr_assert(eq(u32, RUN(LOAD(5), BPF_STMT(BPF_MISC | BPF_TAX, 0), LOAD(9), RETURN_A), 9));
    cr_assert(
        eq(u32, RUN(LOAD(5), BPF_STMT(BPF_MISC | BPF_TAX, 0), LOAD(9), BPF_STMT(BPF_MISC | BPF_TXA, 0), RETURN_A), 5));
}

Test(unit_bpf, every_word_of_memory_is_its_own)
{
    for (uint32_t at = 0; at < BPF_MEMWORDS; at++) {
        const uint32_t other = (at + 1) % BPF_MEMWORDS;
        cr_assert(eq(u32,
                     RUN(LOAD(100 + at), BPF_STMT(BPF_ST, at), LOAD_X(200), BPF_STMT(BPF_STX, other),
                         BPF_STMT(BPF_LD | BPF_MEM, at), RETURN_A),
                     100 + at));
        cr_assert(eq(u32,
                     RUN(LOAD(100 + at), BPF_STMT(BPF_ST, at), LOAD_X(200), BPF_STMT(BPF_STX, other),
                         BPF_STMT(BPF_LDX | BPF_MEM, other), BPF_STMT(BPF_MISC | BPF_TXA, 0), RETURN_A),
                     200));
    }
}

Test(unit_bpf, memory_that_does_not_exist_is_refused)
{
    const uint16_t codes[] = { BPF_LD | BPF_MEM, BPF_LDX | BPF_MEM, BPF_ST, BPF_STX };
    for (size_t i = 0; i < COUNT(codes); i++) {
        cr_assert(eq(u32, RUN(BPF_STMT(codes[i], BPF_MEMWORDS), RETURN(1)), REFUSED));
        cr_assert(eq(u32, RUN(BPF_STMT(codes[i], 0xffffffff), RETURN(1)), REFUSED));
        cr_assert(eq(u32, RUN(BPF_STMT(codes[i], BPF_MEMWORDS - 1), RETURN(1)), 1));
    }
}

/* ---- arithmetic ---- */

static const struct operation {
    uint32_t code, a, b, result;
} operations[] = {
    { BPF_ADD, 2, 3, 5 },
    { BPF_ADD, 0xffffffff, 2, 1 },
    { BPF_SUB, 5, 3, 2 },
    { BPF_SUB, 3, 5, 0xfffffffe },
    { BPF_MUL, 7, 6, 42 },
    { BPF_MUL, 0x10001, 0x10001, 0x20001 },
    { BPF_DIV, 43, 6, 7 },
    { BPF_DIV, 0xffffffff, 2, 0x7fffffff },
    { BPF_DIV, 3, 0xffffffff, 0 },
    { BPF_AND, 0xff00ff00, 0x0ff00ff0, 0x0f000f00 },
    { BPF_OR, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0 },
    { BPF_XOR, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0 },
    { BPF_LSH, 0x80000001, 1, 2 },
    { BPF_LSH, 1, 31, 0x80000000 },
    { BPF_LSH, 7, 0, 7 },
    { BPF_RSH, 0x80000001, 1, 0x40000000 },
    { BPF_RSH, 0x80000000, 31, 1 },
    { BPF_RSH, 7, 0, 7 },
};

Test(unit_bpf, arithmetic_with_a_constant_and_with_x)
{
    for (size_t i = 0; i < COUNT(operations); i++) {
        const struct operation *o = &operations[i];
        cr_assert(eq(u32, RUN(LOAD(o->a), BPF_STMT(BPF_ALU | o->code | BPF_K, o->b), RETURN_A), o->result),
                  "operation %#x with a constant, row %zu", o->code, i);
        cr_assert(eq(u32, RUN(LOAD(o->a), LOAD_X(o->b), BPF_STMT(BPF_ALU | o->code | BPF_X, 0), RETURN_A), o->result),
                  "operation %#x with x, row %zu", o->code, i);
    }
}

Test(unit_bpf, negation)
{
    cr_assert(eq(u32, RUN(LOAD(1), BPF_STMT(BPF_ALU | BPF_NEG, 0), RETURN_A), 0xffffffff));
    cr_assert(eq(u32, RUN(LOAD(0), BPF_STMT(BPF_ALU | BPF_NEG, 0), RETURN_A), 0));
    cr_assert(eq(u32, RUN(LOAD(0x80000000), BPF_STMT(BPF_ALU | BPF_NEG, 0), RETURN_A), 0x80000000));
}

Test(unit_bpf, shifts_take_five_bits_of_x)
{
    cr_assert(eq(u32, RUN(LOAD(3), LOAD_X(33), BPF_STMT(BPF_ALU | BPF_LSH | BPF_X, 0), RETURN_A), 6));
    cr_assert(eq(u32, RUN(LOAD(6), LOAD_X(33), BPF_STMT(BPF_ALU | BPF_RSH | BPF_X, 0), RETURN_A), 3));
    cr_assert(eq(u32, RUN(LOAD(6), LOAD_X(0xffffffe0), BPF_STMT(BPF_ALU | BPF_RSH | BPF_X, 0), RETURN_A), 6));
}

Test(unit_bpf, a_division_by_zero_ends_the_program_with_zero)
{
    cr_assert(eq(u32, RUN(LOAD(6), BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), RETURN(SECCOMP_RET_ALLOW)),
                 SECCOMP_RET_KILL_THREAD));
    cr_assert(eq(u32, RUN(LOAD(6), BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RETURN(SECCOMP_RET_ALLOW)),
                 SECCOMP_RET_KILL_THREAD));
}

/* ---- jumps and returns ---- */

static const struct comparison {
    uint32_t code, a, b;
    bool holds;
} comparisons[] = {
    { BPF_JEQ, 5, 5, true },           { BPF_JEQ, 5, 6, false },         { BPF_JGT, 6, 5, true },
    { BPF_JGT, 5, 5, false },          { BPF_JGT, 0x80000000, 1, true }, /* unsigned */
    { BPF_JGT, 1, 0x80000000, false }, { BPF_JGE, 5, 5, true },          { BPF_JGE, 4, 5, false },
    { BPF_JGE, 0xffffffff, 0, true },  { BPF_JSET, 6, 2, true },         { BPF_JSET, 6, 9, false },
    { BPF_JSET, 6, 0, false },
};

Test(unit_bpf, conditional_jumps_both_ways)
{
    for (size_t i = 0; i < COUNT(comparisons); i++) {
        const struct comparison *c = &comparisons[i];
        const uint32_t expected = c->holds ? 13 : 12;
        cr_assert(
            eq(u32,
               RUN(LOAD(c->a), BPF_JUMP(BPF_JMP | c->code | BPF_K, c->b, 2, 1), RETURN(11), RETURN(12), RETURN(13)),
               expected),
            "comparison %#x with a constant, row %zu", c->code, i);
        cr_assert(eq(u32,
                     RUN(LOAD(c->a), LOAD_X(c->b), BPF_JUMP(BPF_JMP | c->code | BPF_X, 0, 2, 1), RETURN(11), RETURN(12),
                         RETURN(13)),
                     expected),
                  "comparison %#x with x, row %zu", c->code, i);
    }
}

Test(unit_bpf, jumps_over_nothing_and_over_much)
{
    cr_assert(eq(u32, RUN(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), RETURN(1), RETURN(2)), 1));
    cr_assert(eq(u32, RUN(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 1, 0), RETURN(1), RETURN(2)), 1));
    cr_assert(eq(u32, RUN(BPF_STMT(BPF_JMP | BPF_JA, 0), RETURN(1)), 1));
    struct sock_filter code[BPF_MAXINSNS];
    for (size_t i = 0; i < COUNT(code); i++)
        code[i] = (struct sock_filter)RETURN((uint32_t)i);
    code[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 255, 0);
    cr_assert(eq(u32, bpf_run(code, COUNT(code), &call), 256));
    code[0] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, BPF_MAXINSNS - 2);
    cr_assert(eq(u32, bpf_run(code, COUNT(code), &call), BPF_MAXINSNS - 1));
}

Test(unit_bpf, returns_a_constant_or_a)
{
    cr_assert(eq(u32, RUN(LOAD(1), RETURN(SECCOMP_RET_ALLOW), RETURN_A), SECCOMP_RET_ALLOW));
    cr_assert(eq(u32, RUN(LOAD(SECCOMP_RET_ERRNO | 38), RETURN_A, RETURN(1)), SECCOMP_RET_ERRNO | 38));
}

/* ---- malformed programs ---- */

Test(unit_bpf, a_program_without_an_end_is_refused)
{
    cr_assert(eq(u32, bpf_run(NULL, 0, &call), REFUSED));
    cr_assert(eq(u32, RUN(LOAD(1)), REFUSED));
    cr_assert(eq(u32, RUN(LOAD(1), BPF_STMT(BPF_JMP | BPF_JA, 0)), REFUSED));
}

Test(unit_bpf, jumps_out_of_the_program_are_refused)
{
    const uint32_t distances[] = {
        1, 2, 100, 0x7fffffff, 0xfffffffd, 0xfffffffe, 0xffffffff
    }; /* the last ones jump backwards */
    for (size_t i = 0; i < COUNT(distances); i++)
        cr_assert(eq(u32, RUN(LOAD(0), BPF_STMT(BPF_JMP | BPF_JA, distances[i]), RETURN(1)), REFUSED));
    cr_assert(eq(u32, RUN(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), RETURN(1)), REFUSED));
    cr_assert(eq(u32, RUN(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 255, 0), RETURN(1)), REFUSED));
    cr_assert(eq(u32, RUN(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1), RETURN(1)), REFUSED));
}

Test(unit_bpf, a_program_that_is_too_long_is_refused)
{
    static struct sock_filter code[BPF_MAXINSNS + 1];
    for (size_t i = 0; i < COUNT(code); i++)
        code[i] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    cr_assert(eq(u32, bpf_run(code, BPF_MAXINSNS, &call), SECCOMP_RET_ALLOW));
    cr_assert(eq(u32, bpf_run(code, BPF_MAXINSNS + 1, &call), REFUSED));
}

Test(unit_bpf, instructions_that_seccomp_does_not_have_are_refused)
{
    const uint16_t unknown[] = {
        BPF_LD | BPF_H | BPF_ABS,
        BPF_LD | BPF_B | BPF_ABS,
        BPF_LD | BPF_W | BPF_IND,
        BPF_LDX | BPF_B | BPF_MSH,
        BPF_LDX | BPF_W | BPF_ABS,
        BPF_ST | BPF_X,
        BPF_ALU | BPF_MOD | BPF_K,
        BPF_ALU | BPF_MOD | BPF_X,
        BPF_ALU | BPF_NEG | BPF_X,
        BPF_ALU | 0xb0,
        BPF_JMP | BPF_JA | BPF_X,
        BPF_JMP | 0x50,
        BPF_RET | BPF_X,
        BPF_MISC | 0x40,
        0x100 | BPF_LD,
        0xffff,
    };
    for (size_t i = 0; i < COUNT(unknown); i++) {
        cr_assert(eq(u32, RUN(BPF_STMT(unknown[i], 0), RETURN(SECCOMP_RET_ALLOW)), REFUSED), "code %#x", unknown[i]);
        /* An invalid instruction that is skipped does no harm. */
        cr_assert(eq(u32, RUN(BPF_STMT(BPF_JMP | BPF_JA, 1), BPF_STMT(unknown[i], 0), RETURN(SECCOMP_RET_ALLOW)),
                     SECCOMP_RET_ALLOW));
    }
}
