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
    cr_expect(insn.kind == CODE_OTHER || insn.kind >= CODE_LOAD_STACK, "%08x", word);
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

static void expect_stack(uint32_t word, enum insn_kind kind, unsigned count, unsigned first, unsigned size,
                         int64_t offset)
{
    const struct code_insn insn = decoded(word);
    cr_expect(eq(int, insn.kind, kind), "%08x", word);
    cr_expect(eq(uint, insn.count, count), "%08x", word);
    cr_expect(eq(uint, insn.first[0], first), "%08x", word);
    cr_expect(eq(uint, insn.size, size), "%08x", word);
    cr_expect(eq(i64, (int64_t)insn.value, offset), "%08x", word);
    cr_expect(not(insn.moves_stack), "%08x", word);
}

Test(unit_aarch64_decode, stack)
{
    expect_stack(0xf94057e0, CODE_LOAD_STACK, 1, 0, 8, 168);  /* ldr x0, [sp, #168] */
    expect_stack(0xf90033e1, CODE_STORE_STACK, 1, 1, 8, 96);  /* str x1, [sp, #96] */
    expect_stack(0xa94703fe, CODE_LOAD_STACK, 2, 30, 8, 112); /* ldp x30, x0, [sp, #112] */
    expect_stack(0xb9002fe0, CODE_STORE_STACK, 1, 0, 4, 44);  /* str w0, [sp, #44] */
    expect_stack(0xfd000fe8, CODE_STORE_STACK, 1, 31, 8, 24); /* str d8, [sp, #24] */
    expect_stack(0xf81f03e2, CODE_STORE_STACK, 1, 2, 8, -16); /* stur x2, [sp, #-16] */
}

Test(unit_aarch64_decode, moves_of_the_stack)
{
    static const uint32_t moving[] = { 0xa9bd7bfd /* stp x29, x30, [sp, #-48]! */,
                                       0xa8c37bfd /* ldp ..., [sp], #48 */,
                                       0xd10083ff /* sub sp, sp, #32 */,
                                       0x910003bf /* mov sp, x29 */,
                                       0xcb2063ff /* sub sp, sp, x0 */,
                                       0x927cec1f /* and sp, x0, #-16 */ };
    static const uint32_t others[] = { 0x6b0c027f /* cmp w19, w12 */, 0x7100003f /* cmp w1, #0 */,
                                       0xf240001f /* tst x0, #1 */,   0xeb2063ff /* cmp sp, x0 */,
                                       0xd65f03c0 /* ret */,          0x910263fb /* add x27, sp, #152 */ };
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        cr_expect(decoded(moving[i]).moves_stack, "%08x", moving[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(not(decoded(others[i]).moves_stack), "%08x", others[i]);
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
