/* Instructions of aarch64, as the assembler has written them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "symbols/code_machine.h"

TestSuite(unit_aarch64_decode, .timeout = 120);

enum { AT = 0x10dd8 };

static struct code_insn decoded(uint32_t word)
{
    struct code_insn insn;
    uint8_t code[sizeof word];
    memcpy(code, &word, sizeof code);
    cr_assert(code_machine_aarch64.decode(code, sizeof code, AT, &insn));
    cr_assert(eq(u8, insn.length, 4));
    return insn;
}

static void expect_target(uint32_t word, enum insn_kind kind, uint64_t target)
{
    const struct code_insn insn = decoded(word);
    cr_expect(eq(int, insn.kind, kind), "%08x", word);
    cr_expect(eq(u64, insn.value, target), "%08x", word);
}

Test(unit_aarch64_decode, jumps)
{
    expect_target(0x97fffe7e, CODE_CALL, AT - 0x608);   /* bl */
    expect_target(0x14000003, CODE_JUMP, AT + 12);      /* b */
    expect_target(0x54003dcc, CODE_BRANCH, AT + 0x7b8); /* b.gt */
    expect_target(0xb4ffffe0, CODE_BRANCH, AT - 4);     /* cbz x0 */
    expect_target(0x3707fff3, CODE_BRANCH, AT - 4);     /* tbnz w19, #0 */
    expect_target(0xd63f0040, CODE_CALL_ANY, 0);        /* blr x2 */
    expect_target(0xd61f0220, CODE_JUMP_ANY, 0);        /* br x17 */
    expect_target(0xd65f03c0, CODE_END, 0);             /* ret */
    expect_target(0xd4207d00, CODE_END, 0);             /* brk #1000 */
    expect_target(0x00000000, CODE_END, 0);
    expect_target(0xd4000001, CODE_OTHER, 0); /* svc #0 */
}

static void expect_value(uint32_t word, enum insn_kind kind, unsigned to, unsigned from, uint64_t value)
{
    const struct code_insn insn = decoded(word);
    cr_expect(eq(int, insn.kind, kind), "%08x", word);
    cr_expect(eq(uint, insn.to, to), "%08x", word);
    cr_expect(eq(uint, insn.from, from), "%08x", word);
    cr_expect(eq(u64, insn.value, value), "%08x", word);
}

Test(unit_aarch64_decode, constants)
{
    expect_value(0x90000100, CODE_CONSTANT, 0, 0, 0x30000); /* adrp x0, +0x20 pages */
    expect_value(0x10ffffe3, CODE_CONSTANT, 3, 0, AT - 4);  /* adr x3 */
    expect_value(0x9101b000, CODE_ADD, 0, 0, 0x6c);         /* add x0, x0, #0x6c */
    expect_value(0x91400421, CODE_ADD, 1, 1, 0x1000);       /* add x1, x1, #1, lsl #12 */
    expect_value(0xf947dc00, CODE_LOAD_AT, 0, 0, 0xfb8);    /* ldr x0, [x0, #4024] */
    expect_value(0x58000050, CODE_LOAD, 16, 0, AT + 8);     /* ldr x16, .+8 */
    expect_value(0xaa1e03f3, CODE_COPY, 19, 30, 0);         /* mov x19, x30 */
}

static void expect_writes(uint32_t word, uint32_t writes)
{
    const struct code_insn insn = decoded(word);
    cr_expect(eq(int, insn.kind, CODE_OTHER), "%08x", word);
    cr_expect(eq(u32, insn.writes, writes), "%08x", word);
}

Test(unit_aarch64_decode, registers_that_change)
{
    expect_writes(0xa9bd7bfd, 0);                           /* stp x29, x30, [sp, #-48]! */
    expect_writes(0xa94153f3, 1u << 19 | 1u << 20);         /* ldp x19, x20, [sp, #16] */
    expect_writes(0xa8c10c22, 1u << 1 | 1u << 2 | 1u << 3); /* ldp x2, x3, [x1], #16 */
    expect_writes(0xb8004401, 1u);                          /* str w1, [x0], #4 */
    expect_writes(0xb9400001, 1u << 1);                     /* ldr w1, [x0] */
    expect_writes(0xb9000001, 0);                           /* str w1, [x0] */
    expect_writes(0xfd400fe8, 0);                           /* ldr d8, [sp, #24] */
    expect_writes(0x1e604008, 0);                           /* fmov d8, d0 */
    expect_writes(0x9e660003, 1u << 3);                     /* fmov x3, d0 */
    expect_writes(0x1e780005, 1u << 5);                     /* fcvtzs w5, d0 */
    expect_writes(0x0b000034, 1u << 20);                    /* add w20, w1, w0 */
    expect_writes(0x6b0c027f, 0);                           /* cmp w19, w12 */
    expect_writes(0x910003fd, 1u << 29);                    /* mov x29, sp */
    expect_writes(0xd53bd042, 1u << 2);                     /* mrs x2, tpidr_el0 */
    expect_writes(0xd503201f, 0);                           /* nop */
}

Test(unit_aarch64_decode, stubs)
{
    static const uint32_t plain[] = { 0xb0000110, 0xf947e211, 0x913f0210, 0xd61f0220 };
    static const uint32_t landing[] = { 0xd503245f, 0xb0000110, 0xf947e211, 0x913f0210, 0xd61f0220 };
    static const uint32_t other[] = { 0xb0000110, 0xf947e211, 0x913f0210, 0xd61f0200 };
    const struct code_machine *m = &code_machine_aarch64;
    cr_expect(eq(u64, m->stub_slot((const uint8_t *)plain, sizeof plain, 0x7e0), 0x21fc0));
    cr_expect(eq(u64, m->stub_slot((const uint8_t *)landing, sizeof landing, 0x7e0), 0x21fc0));
    cr_expect(eq(u64, m->stub_slot((const uint8_t *)other, sizeof other, 0x7e0), 0));
    cr_expect(eq(u64, m->stub_slot((const uint8_t *)plain, sizeof plain - 4, 0x7e0), 0));
}
