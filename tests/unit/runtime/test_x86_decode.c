/* The decoder of x86-64 instructions that finds the calls of the probes: lengths, targets, registers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "levels/x86_decode.h"

TestSuite(unit_x86_decode);

#define BYTES(...) ((const uint8_t[X86_MAX_LENGTH]){ __VA_ARGS__ })

enum { AT = 0x1000, RAX = 1 << 0, RCX = 1 << 1, RDX = 1 << 2, RBX = 1 << 3, RSP = 1 << 4, RBP = 1 << 5, R12 = 1 << 12 };

static struct x86_insn x86_test_decode(const uint8_t *code)
{
    struct x86_insn insn;
    cr_assert(x86_decode(code, X86_MAX_LENGTH, AT, &insn), "%02x %02x %02x %02x", code[0], code[1], code[2], code[3]);
    return insn;
}

static void decode_check(const uint8_t *code, enum x86_kind kind, int length, uint64_t value)
{
    const struct x86_insn insn = x86_test_decode(code);
    cr_assert(eq(int, insn.kind, kind), "%02x %02x %02x", code[0], code[1], code[2]);
    cr_assert(eq(int, insn.length, length), "%02x %02x %02x", code[0], code[1], code[2]);
    cr_assert(eq(u64, insn.value, value), "%02x %02x %02x", code[0], code[1], code[2]);
}

Test(unit_x86_decode, calls_and_jumps)
{
    decode_check(BYTES(0xe8, 0x10, 0, 0, 0), X86_CALL, 5, AT + 5 + 16);
    decode_check(BYTES(0x67, 0xe8, 0xfa, 0xff, 0xff, 0xff), X86_CALL, 6, AT);
    decode_check(BYTES(0xe9, 0xfb, 0xff, 0xff, 0xff), X86_JUMP, 5, AT);
    decode_check(BYTES(0xeb, 0xfe), X86_JUMP, 2, AT);
    decode_check(BYTES(0x74, 0x02), X86_BRANCH, 2, AT + 4);
    decode_check(BYTES(0x0f, 0x84, 0, 1, 0, 0), X86_BRANCH, 6, AT + 6 + 256);
    decode_check(BYTES(0xff, 0x15, 0x20, 0, 0, 0), X86_CALL_SLOT, 6, AT + 6 + 32);
    decode_check(BYTES(0xff, 0x25, 0x20, 0, 0, 0), X86_JUMP_SLOT, 6, AT + 6 + 32);
    decode_check(BYTES(0xf2, 0xff, 0x25, 0x20, 0, 0, 0), X86_JUMP_SLOT, 7, AT + 7 + 32);
    decode_check(BYTES(0xff, 0xd3), X86_CALL_ANY, 2, 0);
    decode_check(BYTES(0x3e, 0xff, 0xe0), X86_JUMP_ANY, 3, 0);
    decode_check(BYTES(0x64, 0xff, 0x15, 0x20, 0, 0, 0), X86_CALL_ANY, 7, 0);
    decode_check(BYTES(0xc3), X86_END, 1, 0);
    decode_check(BYTES(0x0f, 0x0b), X86_END, 2, 0);
}

Test(unit_x86_decode, constants)
{
    struct x86_insn insn = x86_test_decode(BYTES(0x4c, 0x8d, 0x25, 0xf9, 0xff, 0xff, 0xff)); /* lea -7(%rip),%r12 */
    cr_assert(insn.kind == X86_CONSTANT && insn.to == 12 && insn.value == AT && insn.writes == R12);
    insn = x86_test_decode(BYTES(0xbf, 0x40, 0x11, 0x40, 0)); /* mov $0x401140,%edi */
    cr_assert(insn.kind == X86_CONSTANT && insn.to == X86_RDI && insn.value == 0x401140);
    insn = x86_test_decode(BYTES(0x48, 0xbf, 1, 2, 3, 4, 5, 6, 7, 8));
    cr_assert(insn.kind == X86_CONSTANT && insn.length == 10 && insn.value == 0x0807060504030201);
    insn = x86_test_decode(BYTES(0x48, 0xc7, 0xc7, 0xff, 0xff, 0xff, 0xff));
    cr_assert(insn.kind == X86_CONSTANT && insn.to == X86_RDI && insn.value == UINT64_MAX);
    insn = x86_test_decode(BYTES(0x48, 0x8b, 0x1d, 0x10, 0, 0, 0)); /* mov 16(%rip),%rbx */
    cr_assert(insn.kind == X86_LOAD && insn.to == 3 && insn.value == AT + 7 + 16);
    insn = x86_test_decode(BYTES(0x64, 0x48, 0x8b, 0x1d, 0x10, 0, 0, 0)); /* of thread-local memory */
    cr_assert(insn.kind == X86_OTHER && insn.writes == RBX);
    insn = x86_test_decode(BYTES(0x4c, 0x89, 0xe7)); /* mov %r12,%rdi */
    cr_assert(insn.kind == X86_COPY && insn.to == X86_RDI && insn.from == 12);
    insn = x86_test_decode(BYTES(0x48, 0x8b, 0xfb)); /* mov %rbx,%rdi, the other way */
    cr_assert(insn.kind == X86_COPY && insn.to == X86_RDI && insn.from == 3);
    insn = x86_test_decode(BYTES(0x89, 0xdf)); /* mov %ebx,%edi: the upper half is lost */
    cr_assert(insn.kind == X86_OTHER && insn.writes == 1 << X86_RDI);
}

static void decode_check_writes(const uint8_t *code, int length, unsigned registers)
{
    const struct x86_insn insn = x86_test_decode(code);
    cr_assert(eq(int, insn.length, length), "%02x %02x %02x", code[0], code[1], code[2]);
    cr_assert(eq(uint, insn.writes & registers, registers), "%02x %02x %02x", code[0], code[1], code[2]);
}

Test(unit_x86_decode, registers_that_are_written)
{
    decode_check_writes(BYTES(0x5b), 1, RBX);                            /* pop %rbx */
    decode_check_writes(BYTES(0x41, 0x5c), 2, R12);                      /* pop %r12 */
    decode_check_writes(BYTES(0x48, 0x01, 0xc3), 3, RBX);                /* add %rax,%rbx */
    decode_check_writes(BYTES(0x48, 0x03, 0x18), 3, RBX);                /* add (%rax),%rbx */
    decode_check_writes(BYTES(0x83, 0xc3, 1), 3, RBX);                   /* add $1,%ebx */
    decode_check_writes(BYTES(0xb7, 1), 2, RBX);                         /* mov $1,%bh */
    decode_check_writes(BYTES(0x88, 0xc7), 2, RBX);                      /* mov %al,%bh */
    decode_check_writes(BYTES(0x87, 0xd3), 2, RBX | RDX);                /* xchg %edx,%ebx */
    decode_check_writes(BYTES(0x93), 1, RBX | RAX);                      /* xchg %eax,%ebx */
    decode_check_writes(BYTES(0x0f, 0xa2), 2, RAX | RBX | RCX | RDX);    /* cpuid */
    decode_check_writes(BYTES(0x0f, 0x44, 0xd8), 3, RBX);                /* cmove %eax,%ebx */
    decode_check_writes(BYTES(0x0f, 0x94, 0xc3), 3, RBX);                /* sete %bl */
    decode_check_writes(BYTES(0x0f, 0xb1, 0x0b), 3, RAX);                /* cmpxchg %ecx,(%rbx) */
    decode_check_writes(BYTES(0xf0, 0x0f, 0xc1, 0x18), 4, RBX);          /* lock xadd %ebx,(%rax) */
    decode_check_writes(BYTES(0x0f, 0xcb), 2, RBX);                      /* bswap %ebx */
    decode_check_writes(BYTES(0xf2, 0x0f, 0x2c, 0xd8), 4, RBX);          /* cvttsd2si %xmm0,%ebx */
    decode_check_writes(BYTES(0x66, 0x48, 0x0f, 0x7e, 0xc3), 5, RBX);    /* movq %xmm0,%rbx */
    decode_check_writes(BYTES(0xf7, 0xe1), 2, RAX | RDX);                /* mul %ecx */
    decode_check_writes(BYTES(0xc4, 0xe2, 0x60, 0xf3, 0xc8), 5, RBX);    /* blsr %eax,%ebx */
    decode_check_writes(BYTES(0xc4, 0xe3, 0x7b, 0xf0, 0xd8, 1), 6, RBX); /* rorx $1,%eax,%ebx */
    decode_check_writes(BYTES(0xc9), 1, RBP);                            /* leave */
}

Test(unit_x86_decode, memory_is_not_a_register)
{
    cr_assert(eq(uint, x86_test_decode(BYTES(0x48, 0x89, 0x03)).writes, 0));       /* mov %rax,(%rbx) */
    cr_assert(eq(uint, x86_test_decode(BYTES(0x48, 0x39, 0xc3)).writes, 0));       /* cmp %rax,%rbx */
    cr_assert(eq(uint, x86_test_decode(BYTES(0x48, 0x85, 0xdb)).writes, 0));       /* test %rbx,%rbx */
    cr_assert(eq(uint, x86_test_decode(BYTES(0x0f, 0x28, 0xd8)).writes, 0));       /* movaps %xmm0,%xmm3 */
    cr_assert(eq(uint, x86_test_decode(BYTES(0xf3, 0x0f, 0x1e, 0xfa)).writes, 0)); /* endbr64 */
}

Test(unit_x86_decode, lengths)
{
    static const struct {
        int length;
        uint8_t code[X86_MAX_LENGTH];
    } all[] = {
        { 9, { 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } }, /* nopw 0(%rax,%rax) */
        { 10, { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } },
        { 8, { 0x48, 0x8b, 0x84, 0x24, 0, 1, 0, 0 } }, /* mov 256(%rsp),%rax */
        { 5, { 0x48, 0x8b, 0x44, 0x24, 8 } },
        { 8, { 0x48, 0x8b, 0x04, 0xc5, 0, 0, 0, 0 } },        /* mov 0(,%rax,8),%rax */
        { 10, { 0x66, 0xc7, 0x84, 0x24, 0, 0, 0, 0, 1, 0 } }, /* movw $1,0(%rsp) */
        { 5, { 0x66, 0x81, 0x38, 0x34, 0x12 } },              /* cmpw $0x1234,(%rax) */
        { 12, { 0x48, 0xc7, 0x84, 0x24, 0, 0, 0, 0, 1, 0, 0, 0 } },
        { 6, { 0xc5, 0xfd, 0x6f, 0x44, 0x24, 8 } },    /* vmovdqa 8(%rsp),%ymm0 */
        { 6, { 0x62, 0xf1, 0xfd, 0x48, 0x6f, 0xc0 } }, /* vmovdqa64 %zmm0,%zmm0 */
        { 3, { 0xc5, 0xf8, 0x77 } },                   /* vzeroupper */
        { 6, { 0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8 } },    /* palignr */
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cr_assert(eq(int, x86_test_decode(all[i].code).length, all[i].length), "%zu", i);
}

Test(unit_x86_decode, what_is_not_there)
{
    struct x86_insn insn;
    const uint8_t call[] = { 0xe8, 1, 2, 3 };
    cr_assert(not(x86_decode(call, sizeof call, AT, &insn)), "cut");
    cr_assert(not(x86_decode(call, 0, AT, &insn)));
    cr_assert(not(x86_decode(BYTES(0x06), X86_MAX_LENGTH, AT, &insn)), "not in 64-bit mode");
    cr_assert(
        not(x86_decode(BYTES(0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66),
                       X86_MAX_LENGTH, AT, &insn)),
        "only prefixes");
}

/* Whatever the bytes are, nothing behind them is read. */
Test(unit_x86_decode, random_bytes)
{
    uint64_t random = 1;
    for (int i = 0; i < 1000000; i++) {
        uint8_t code[X86_MAX_LENGTH];
        for (int j = 0; j < X86_MAX_LENGTH; j++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            code[j] = (uint8_t)(random >> 56);
        }
        const size_t room = random >> 32 & 15;
        struct x86_insn insn;
        if (x86_decode(code, room, AT, &insn))
            cr_assert(insn.length > 0 && insn.length <= room);
    }
}

/* Random bytes, half of them behind prefixes. */
Test(unit_x86_decode, tables_say_the_same)
{
    static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3, 0x48, 0x4c, 0x0f, 0x41, 0x40 };
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 1000000; i++) {
        uint8_t code[2 * sizeof random];
        for (size_t at = 0; at < sizeof code; at += sizeof random) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            memcpy(code + at, &random, sizeof random);
        }
        for (int prefix = 0; prefix < i % 3; prefix++)
            code[prefix] = prefixes[code[prefix] % sizeof prefixes];
        struct x86_insn quick, slow;
        const bool known = x86_decode_slowly(code, X86_MAX_LENGTH, AT, &slow);
        cr_assert(eq(int, x86_decode(code, X86_MAX_LENGTH, AT, &quick), known), "%02x %02x %02x", code[0], code[1],
                  code[2]);
        const bool same = quick.kind == slow.kind && quick.length == slow.length && quick.to == slow.to &&
                          quick.from == slow.from && quick.writes == slow.writes && quick.value == slow.value;
        cr_assert(same || !known, "%02x %02x %02x %02x", code[0], code[1], code[2], code[3]);
    }
}
