/* Parameters that clang stores at their places only behind the probe's call, in hand-written code. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "arguments/spilled.h"

TestSuite(unit_spilled);

enum { BEGIN = 0x1000, CALL_BYTES = 5, NONE = 0, RDI = 7, RSI = 6, IN_REGISTER = 1000 };

#define PROLOGUE 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40 /* push rbp; mov rbp, rsp; sub rsp, 64 */
#define SPILL_NUMBER 0x89, 0x7d, 0xe8                           /* mov [rbp - 24], edi */
#define SPILL_ADDRESS 0x48, 0x89, 0x75, 0xe0                    /* mov [rbp - 32], rsi */
#define LOAD_NUMBER_AGAIN 0x8b, 0x7d, 0xe8                      /* mov edi, [rbp - 24] */
#define LOAD_ADDRESS_AGAIN 0x48, 0x8b, 0x75, 0xe0               /* mov rsi, [rbp - 32] */
#define STORE_NUMBER 0x89, 0x7d, 0xfc                           /* mov [rbp - 4], edi */
#define STORE_ADDRESS 0x48, 0x89, 0x75, 0xf0                    /* mov [rbp - 16], rsi */
#define RETURN 0xc3

static const struct spilled_parameter number = { .number = RDI, .size = 4, .home = { false, -4 } };
static const struct spilled_parameter address = { .number = RSI, .size = 8, .home = { false, -16 } };

struct code {
    const uint8_t *bytes;
    size_t size;
};
#define CODE(...) ((struct code){ (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) })

/* The offset of the word that has the parameter; NONE if there is none. */
static int64_t spilled_in(struct code before, struct code after, const struct spilled_parameter *parameter)
{
    static const uint8_t call[CALL_BYTES] = { 0xe8 };
    uint8_t bytes[256];
    memcpy(bytes, before.bytes, before.size);
    memcpy(bytes + before.size, call, sizeof call);
    memcpy(bytes + before.size + sizeof call, after.bytes, after.size);
    struct image_segment segment = { BEGIN, before.size + sizeof call + after.size, bytes, true };
    const struct image image = { .segments = &segment, .segment_count = 1 };
    const struct hook_call probe = {
        .function = BEGIN, .begin = BEGIN, .at = BEGIN + before.size, .next = BEGIN + before.size + sizeof call
    };
    struct spilled_place found;
    if (!spilled_find_x86(&image, &probe, parameter, &found))
        return NONE;
    if (found.in_register)
        return IN_REGISTER + found.number;
    cr_assert(eq(int, found.word.by_stack, parameter->home.by_stack));
    return found.word.offset;
}

#define USUAL_BEFORE CODE(PROLOGUE, SPILL_NUMBER, SPILL_ADDRESS)
#define USUAL_AFTER CODE(LOAD_NUMBER_AGAIN, LOAD_ADDRESS_AGAIN, STORE_NUMBER, STORE_ADDRESS, RETURN)

Test(unit_spilled, words_that_are_copied_later)
{
    cr_expect(eq(i64, spilled_in(USUAL_BEFORE, USUAL_AFTER, &number), -24));
    cr_expect(eq(i64, spilled_in(USUAL_BEFORE, USUAL_AFTER, &address), -32));
}

/* The stack pointer is 64 below the frame's register: mov [rsp + 60] is mov [rbp - 4]. */
Test(unit_spilled, words_by_the_stack_pointer)
{
    const struct spilled_parameter by_stack = { .number = RDI, .size = 4, .home = { true, 60 } };
    cr_expect(eq(i64, spilled_in(USUAL_BEFORE, USUAL_AFTER, &by_stack), 40));
    const struct code without_frame = CODE(0x48, 0x83, 0xec, 0x40, 0x89, 0x7c, 0x24, 0x10);
    const struct code after = CODE(0x8b, 0x44, 0x24, 0x10, 0x89, 0x44, 0x24, 0x3c, RETURN);
    cr_expect(eq(i64, spilled_in(without_frame, after, &by_stack), 16));
}

/* Behind the call, the value goes through another word: mov edi, [rbp - 24]; mov [rbp - 48], edi; mov eax, [rbp - 48];
 * mov [rbp - 4], eax. */
Test(unit_spilled, words_that_are_copied_twice)
{
    const struct code twice = CODE(LOAD_NUMBER_AGAIN, 0x89, 0x7d, 0xd0, 0x8b, 0x45, 0xd0, 0x89, 0x45, 0xfc, RETURN);
    cr_expect(eq(i64, spilled_in(USUAL_BEFORE, twice, &number), -24));
}

/* mov al, dl; mov [rbp - 24], al. Truths are cut to a bit: and al, 1. */
Test(unit_spilled, single_bytes)
{
    const struct spilled_parameter byte = { .number = 2, .size = 1, .home = { false, -4 } };
    const struct spilled_parameter truth = { .number = 2, .size = 1, .home = { false, -4 }, .is_bool = true };
    const struct code before = CODE(PROLOGUE, 0x88, 0xd0, 0x88, 0x45, 0xe8),
                      after = CODE(0x8a, 0x45, 0xe8, 0x88, 0x45, 0xfc, RETURN),
                      cut = CODE(0x8a, 0x45, 0xe8, 0x24, 0x01, 0x88, 0x45, 0xfc, RETURN);
    cr_expect(eq(i64, spilled_in(before, after, &byte), -24));
    cr_expect(eq(i64, spilled_in(before, cut, &truth), -24));
    cr_expect(eq(i64, spilled_in(before, cut, &byte), NONE));
}

/* movsd [rbp - 24], xmm0, and back. */
Test(unit_spilled, vectors)
{
    const struct spilled_parameter real = { .number = 0, .vector = true, .size = 8, .home = { false, -8 } };
    const struct spilled_parameter other = { .number = 1, .vector = true, .size = 8, .home = { false, -8 } };
    const struct code before = CODE(PROLOGUE, 0xf2, 0x0f, 0x11, 0x45, 0xe8),
                      after = CODE(0xf2, 0x0f, 0x10, 0x45, 0xe8, 0xf2, 0x0f, 0x11, 0x45, 0xf8, RETURN);
    cr_expect(eq(i64, spilled_in(before, after, &real), -24));
    cr_expect(eq(i64, spilled_in(before, after, &other), NONE));
}

/* Another register's word, as where the compiler has left out a parameter; another size; another place. */
Test(unit_spilled, another_parameter)
{
    const struct spilled_parameter wrong[] = {
        { .number = RSI, .size = 4, .home = { false, -4 } },   { .number = RDI, .size = 8, .home = { false, -4 } },
        { .number = RDI, .size = 2, .home = { false, -4 } },   { .number = RDI, .size = 4, .home = { false, -8 } },
        { .number = RDI, .size = 4, .home = { false, -6 } },   { .number = RDI, .size = 0, .home = { false, -4 } },
        { .number = RSI, .size = 16, .home = { false, -16 } },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect(eq(i64, spilled_in(USUAL_BEFORE, USUAL_AFTER, &wrong[i]), NONE), "%zu", i);
}

#define BEFORE(...) spilled_in(CODE(PROLOGUE, __VA_ARGS__), USUAL_AFTER, &number)
#define AFTER(...) spilled_in(USUAL_BEFORE, CODE(__VA_ARGS__, LOAD_NUMBER_AGAIN, STORE_NUMBER, RETURN), &number)

Test(unit_spilled, words_that_are_changed)
{
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x31, 0xff), -24));                 /* xor edi, edi */
    cr_expect(eq(i64, BEFORE(0x31, 0xff, SPILL_NUMBER), NONE));                /* the same first */
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0xc6, 0x45, 0xea, 0x01), NONE));    /* mov byte [rbp-22], 1 */
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x48, 0x89, 0x75, 0xe4), NONE));    /* mov [rbp-28], rsi */
    cr_expect(eq(i64, AFTER(0x90), -24));                                      /* nop */
    cr_expect(eq(i64, AFTER(0xc7, 0x45, 0xe8, 0x05, 0x00, 0x00, 0x00), NONE)); /* mov dword [rbp-24], 5 */
    cr_expect(eq(i64, AFTER(0xc7, 0x45, 0xfc, 0x05, 0x00, 0x00, 0x00), NONE)); /* mov dword [rbp-4], 5 */
    cr_expect(eq(i64, AFTER(0xc6, 0x45, 0xff, 0x05), NONE));                   /* mov byte [rbp-1], 5 */
}

/* mov r15, rsi, and behind the call mov [rbp - 16], r15. r10 is lost, and so is r15 if the code changes it. rbp can be
 * such a register, too: push rbp; mov rbp, rsi; and behind the call mov [rsp], rbp. */
Test(unit_spilled, registers_that_calls_preserve)
{
    const struct code kept = CODE(PROLOGUE, 0x49, 0x89, 0xf7), lost = CODE(PROLOGUE, 0x49, 0x89, 0xf2);
    const struct code store = CODE(0x4c, 0x89, 0x7d, 0xf0, RETURN);
    const struct code changed = CODE(0x49, 0x89, 0xc7, 0x4c, 0x89, 0x7d, 0xf0, RETURN);
    const struct spilled_parameter by_stack = { .number = RSI, .size = 8, .home = { true, 0 } };
    cr_expect(eq(i64, spilled_in(kept, store, &address), IN_REGISTER + 15));
    cr_expect(eq(i64, spilled_in(kept, changed, &address), NONE));
    cr_expect(eq(i64, spilled_in(lost, CODE(0x4c, 0x89, 0x55, 0xf0, RETURN), &address), NONE));
    cr_expect(eq(i64, spilled_in(CODE(0x55, 0x48, 0x89, 0xf5), CODE(0x48, 0x89, 0x2c, 0x24, RETURN), &by_stack),
                 IN_REGISTER + 6));
}

/* test al, al; je +4; movaps [rbp - 64], xmm0. The branch leaves out that store alone. */
Test(unit_spilled, vector_registers_that_may_be_stored)
{
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x84, 0xc0, 0x74, 0x04, 0x0f, 0x29, 0x45, 0xc0), -24));
    cr_expect(eq(i64, BEFORE(0x84, 0xc0, 0x74, 0x04, 0x0f, 0x29, 0x45, 0xc0, SPILL_NUMBER), -24));
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x84, 0xc0, 0x74, 0x04, 0x0f, 0x29, 0x45, 0xe0), NONE)); /* over the word */
    cr_expect(eq(i64, BEFORE(0x84, 0xc0, 0x74, 0x03, SPILL_NUMBER), NONE));
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x84, 0xc0, 0x74, 0x02, 0x0f, 0x29, 0x45, 0xc0), NONE)); /* into it */
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x84, 0xc0, 0x74, 0xf8, 0x0f, 0x29, 0x45, 0xc0), NONE)); /* backwards */
}

/* A branch, a call, a store elsewhere, an addition, and what aligns the stack. */
Test(unit_spilled, code_that_does_something_else)
{
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x74, 0x7f), NONE));
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0xe8, 0x00, 0x00, 0x00, 0x00), NONE));
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x89, 0x38), NONE));
    cr_expect(eq(i64, BEFORE(0x83, 0xc7, 0x01, SPILL_NUMBER), NONE));
    cr_expect(eq(i64, BEFORE(SPILL_NUMBER, 0x48, 0x83, 0xe4, 0xe0), NONE));
    cr_expect(eq(i64, AFTER(0x74, 0x00), NONE));
    cr_expect(eq(i64, AFTER(0xe8, 0x00, 0x00, 0x00, 0x00), NONE));
    cr_expect(eq(i64, AFTER(0x89, 0x38), NONE));
    cr_expect(eq(i64, AFTER(0xc3), NONE));
}

/* ---- parameters that have no place any more ---- */

enum { DWARF_RDX = 1, DWARF_RSI = 4, DWARF_RDI = 5, DWARF_RBX = 3, DWARF_R12 = 12, VECTOR = 2000, BY_STACK = 3000 };

static struct load_program entered_undo; /* of the last place */

/* The register, by its number in DWARF, or the word that has those bytes of a register, as it was at first. */
static int64_t entered_in(struct code before, unsigned number, bool vector, uint64_t size)
{
    uint8_t bytes[256];
    memcpy(bytes, before.bytes, before.size);
    struct image_segment segment = { BEGIN, before.size, bytes, true };
    const struct image image = { .segments = &segment, .segment_count = 1 };
    const struct hook_call probe = {
        .function = BEGIN, .begin = BEGIN, .at = BEGIN + before.size, .next = BEGIN + before.size + CALL_BYTES
    };
    const struct spilled_parameter parameter = { .number = number, .vector = vector, .size = size };
    struct spilled_place found;
    if (!spilled_find_entered_x86(&image, &probe, &parameter, &found))
        return NONE;
    entered_undo = found.undo;
    return found.in_register ? (found.vector ? VECTOR : IN_REGISTER) + found.number : BY_STACK + found.word.offset;
}

#define ENTERED(number, size, ...) entered_in(CODE(__VA_ARGS__), number, false, size)

/* movsx ebx, dil; movzx r12d, si; and movsxd rbx, edi: the bytes of the parameter are there. */
Test(unit_spilled, registers_that_extend_a_parameter)
{
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 1, 0x40, 0x0f, 0xbe, 0xdf, 0x31, 0xff), IN_REGISTER + DWARF_RBX));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 2, 0x40, 0x0f, 0xbe, 0xdf, 0x31, 0xff), NONE));
    cr_expect(eq(i64, ENTERED(DWARF_RSI, 2, 0x44, 0x0f, 0xb7, 0xe6, 0x31, 0xf6), IN_REGISTER + DWARF_R12));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 4, 0x48, 0x63, 0xdf, 0x31, 0xff), IN_REGISTER + DWARF_RBX));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 8, 0x48, 0x63, 0xdf, 0x31, 0xff), NONE));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 1, 0x0f, 0xb6, 0xdf, 0x31, 0xff), NONE)); /* movzx ebx, bh */
}

/* rdx stays; mov rbx, rdi; push rsi; mov [rsp + 8], edi behind that. A register of the frame has no parameter. */
Test(unit_spilled, places_that_nothing_states)
{
    cr_expect(eq(i64, ENTERED(DWARF_RDX, 8, 0x31, 0xff), IN_REGISTER + DWARF_RDX));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 8, 0x48, 0x89, 0xfb, 0x31, 0xff), IN_REGISTER + DWARF_RBX));
    cr_expect(eq(i64, ENTERED(DWARF_RSI, 8, 0x56, 0x48, 0x83, 0xec, 0x10, 0x31, 0xf6), BY_STACK + 16));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 4, 0x48, 0x83, 0xec, 0x10, 0x89, 0x7c, 0x24, 0x08, 0x31, 0xff), BY_STACK + 8));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 8, 0x48, 0x83, 0xec, 0x10, 0x89, 0x7c, 0x24, 0x08, 0x31, 0xff), NONE));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 8, 0x31, 0xff), NONE));
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 8, 0x48, 0x89, 0xfb, 0x83, 0xc3, 0x01, 0x31, 0xff), NONE)); /* add ebx, 1 */
    cr_expect(eq(i64, ENTERED(DWARF_RDI, 8, 0x41, 0x57, 0x41, 0x5f, 0x31, 0xff), NONE));             /* pop */
}

/* movaps xmm2, xmm0; pxor, which ends the search; and the word of a thread: mov rax, fs:40. */
Test(unit_spilled, vectors_and_words_of_threads)
{
    cr_expect(eq(i64, entered_in(CODE(0x0f, 0x28, 0xd0), 0, true, 8), VECTOR + 0));
    cr_expect(eq(i64, entered_in(CODE(0x0f, 0x28, 0xd0, 0x0f, 0x28, 0xc1), 0, true, 8), VECTOR + 2));
    cr_expect(eq(i64, entered_in(CODE(0x66, 0x0f, 0xef, 0xc0), 0, true, 8), NONE));
    cr_expect(eq(i64,
                 ENTERED(DWARF_RDX, 8, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00, 0x48, 0x89, 0x44, 0x24,
                         0xf8, 0x31, 0xc0),
                 IN_REGISTER + DWARF_RDX));
}

/* ---- numbers that the code changes ---- */

/* What mov ebx, edi or mov rbx, rdi and the code make of the number. It is taken back, with rbp as `other`. */
static void expect_undone(struct code code, uint64_t size, uint64_t changed, uint64_t other, uint64_t number)
{
    struct load_program p = { .count = 0 };
    const struct load_state state = { .general = { [DWARF_RBX] = changed, [6] = other } };
    struct load_result result = { .text = NULL };
    cr_assert(eq(i64, entered_in(code, DWARF_RDI, false, size), IN_REGISTER + DWARF_RBX));
    cr_assert(load_add(&p, LOAD_REGISTER, DWARF_RBX, 0));
    for (unsigned i = 0; i < entered_undo.count; i++)
        cr_assert(load_add(&p, (enum load_op)entered_undo.loads[i].op, entered_undo.loads[i].operand,
                           entered_undo.loads[i].number));
    cr_assert(load_add(&p, LOAD_UNSIGNED, 8 * (unsigned)size, 0));
    cr_assert(load_check(&p) && load_run(&p, &state, &result));
    cr_expect(eq(u64, result.word, number));
}

#define MOV_EBX 0x89, 0xfb       /* mov ebx, edi */
#define MOV_RBX 0x48, 0x89, 0xfb /* mov rbx, rdi */
#define GONE 0x31, 0xff          /* xor edi, edi */
#define UNDONE(size, changed, other, number, ...) expect_undone(CODE(__VA_ARGS__, GONE), size, changed, other, number)

Test(unit_spilled, changes_that_are_taken_back)
{
    const uint64_t n = 0x123456789abcdef0, low = 0x9abcdef0;
    UNDONE(4, 0xf0debc9a, 0, low, MOV_EBX, 0x0f, 0xcb);                               /* bswap ebx */
    UNDONE(8, __builtin_bswap64(n), 0, n, MOV_RBX, 0x48, 0x0f, 0xcb);                 /* bswap rbx */
    UNDONE(2, 0xf0de, 0, 0xdef0, MOV_EBX, 0x66, 0xc1, 0xc3, 0x08);                    /* rol bx, 8 */
    UNDONE(4, (low - 1) & UINT32_MAX, 0, low, MOV_EBX, 0x83, 0xeb, 0x01);             /* sub ebx, 1 */
    UNDONE(8, n + 0x1000, 0, n, MOV_RBX, 0x48, 0x81, 0xc3, 0x00, 0x10, 0x00, 0x00);   /* add rbx, 4096 */
    UNDONE(8, n ^ 0x55, 0, n, MOV_RBX, 0x48, 0x83, 0xf3, 0x55);                       /* xor rbx, 0x55 */
    UNDONE(8, -n, 0, n, MOV_RBX, 0x48, 0xf7, 0xdb);                                   /* neg rbx */
    UNDONE(8, ~n, 0, n, MOV_RBX, 0x48, 0xf7, 0xd3);                                   /* not rbx */
    UNDONE(4, low * 0x9e3779b1, 0, low, MOV_EBX, 0x69, 0xdb, 0xb1, 0x79, 0x37, 0x9e); /* imul */
    UNDONE(4, low << 5, 0, low, 0x48, 0x63, 0xdf, 0x48, 0xc1, 0xe3, 0x05);            /* movsxd, shl rbx, 5 */
    UNDONE(8, n + 14, 0, n, 0x48, 0x8d, 0x5f, 0x0e);                                  /* lea rbx, [rdi + 14] */
    UNDONE(8, n - 77, 77, n, MOV_RBX, 0x48, 0x29, 0xeb);                              /* sub rbx, rbp */
    UNDONE(8, n + 77, 77, n, MOV_RBX, 0x48, 0x03, 0xdd);                              /* add rbx, rbp */
    UNDONE(8, n ^ 77, 77, n, MOV_RBX, 0x48, 0x31, 0xeb);                              /* xor rbx, rbp */
    UNDONE(4, ((low << 4) + 3) & UINT64_MAX, 0, low, MOV_EBX, 0x48, 0xc1, 0xe3, 0x04, 0x48, 0x83, 0xc3, 0x03);
    UNDONE(4, __builtin_bswap32((uint32_t)low + 1), 0, low, MOV_EBX, 0x83, 0xc3, 0x01, 0x0f, 0xcb);
}

/* Bits are lost, or the other register is another one by then. */
Test(unit_spilled, changes_that_cannot_be_taken_back)
{
#define LOST(size, ...) cr_expect(eq(i64, ENTERED(DWARF_RDI, size, __VA_ARGS__, GONE), NONE))
    LOST(4, MOV_EBX, 0xc1, 0xe3, 0x01);                               /* shl ebx, 1 */
    LOST(4, MOV_EBX, 0xc1, 0xeb, 0x01);                               /* shr ebx, 1 */
    LOST(4, MOV_EBX, 0x83, 0xe3, 0x03);                               /* and ebx, 3 */
    LOST(8, MOV_RBX, 0x0f, 0xcb);                                     /* bswap ebx */
    LOST(4, MOV_EBX, 0x48, 0x0f, 0xcb);                               /* bswap rbx: upper bytes are zero */
    LOST(4, MOV_EBX, 0x0f, 0xcb, 0x0f, 0xb7, 0xdb);                   /* bswap ebx; movzx ebx, bx */
    LOST(4, MOV_EBX, 0x69, 0xdb, 0xe8, 0x03, 0x00, 0x00);             /* imul ebx, 1000 */
    LOST(4, MOV_EBX, 0x01, 0xdb);                                     /* add ebx, ebx */
    LOST(8, MOV_RBX, 0x48, 0x29, 0xeb, 0xbd, 0x00, 0x00, 0x00, 0x00); /* sub rbx, rbp; mov ebp, 0 */
    LOST(8, MOV_RBX, 0x48, 0x83, 0xc3, 0x01, 0x48, 0x83, 0xf3, 0x01, 0x48, 0xf7, 0xdb, 0x48, 0xf7, 0xd3, 0x48, 0x83,
         0xc3, 0x01);                                                       /* too many */
    LOST(8, MOV_RBX, 0x48, 0x83, 0xc4, 0x08, 0x48, 0x8d, 0x5c, 0x24, 0x08); /* lea rbx, [rsp + 8] */
#undef LOST
}

/* Arithmetic with other registers ends no search, and a store into the frame is one: add [rsp + 8], edi. */
Test(unit_spilled, arithmetic_beside_a_parameter)
{
    cr_expect(eq(i64, ENTERED(DWARF_RDX, 8, 0xc1, 0xeb, 0x03, 0x0f, 0x44, 0xc3, GONE), IN_REGISTER + DWARF_RDX));
    cr_expect(eq(i64, ENTERED(DWARF_RDX, 8, 0x83, 0xe2, 0x01), NONE)); /* and edx, 1 */
    cr_expect(eq(i64, ENTERED(DWARF_RDX, 8, 0x01, 0x7c, 0x24, 0x08), NONE));
    cr_expect(eq(i64, entered_in(CODE(0x66, 0x48, 0x0f, 0x7e, 0xc3, 0x0f, 0x28, 0xc1), 0, true, 8),
                 IN_REGISTER + DWARF_RBX)); /* movq rbx, xmm0; movaps xmm0, xmm1 */
    cr_expect(eq(i64, entered_in(CODE(0x66, 0x48, 0x0f, 0x6e, 0xd7, 0x66, 0x0f, 0x6c, 0xd1, GONE), DWARF_RDI, false, 8),
                 VECTOR + 2)); /* movq xmm2, rdi; punpcklqdq xmm2, xmm1 */
}
