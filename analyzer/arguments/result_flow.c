/* Follows values through the few instructions between the probe at an exit and the function's end. All that is not
 * known makes the registers that it changes unknown. */
#include "arguments/result_flow.h"

#include <string.h>

#include "arguments/operands.h"
#include "levels/x86_decode.h"

enum { MOST_STEPS = 64, WORD = 8 };

/* Registers as the instruction after the call sees them. A program without instructions: unknown. */
struct result_state {
    const struct image *image;
    struct load_program general[X86_REGISTERS], vectors[LOAD_VECTORS];
    struct load_program wide; /* where st0 was loaded from */
    bool has_frame;
    bool stored; /* memory may have changed since the call */
};

static int result_dwarf_register(unsigned number)
{
    static const uint8_t numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };
    return number < sizeof numbers ? numbers[number] : (int)number;
}

/* ---- values ---- */

static void result_forget(struct load_program *program)
{
    program->count = 0;
}

static void result_append(struct load_program *program, enum load_op op, unsigned operand, int64_t number)
{
    if (program->count && !load_add(program, op, operand, number))
        result_forget(program);
}

/* The address of memory of the frame, which no other thread changes between the probe and the load. */
static struct load_program result_place(const struct result_state *s, const struct operands *i)
{
    struct load_program program = { .count = 0 };
    if (s->stored || !i->plain || !(i->rm == OPERAND_RSP || (i->rm == OPERAND_RBP && s->has_frame)))
        return program;
    program = s->general[i->rm];
    if (i->displacement)
        result_append(&program, LOAD_ADD, 0, i->displacement);
    return program;
}

static struct load_program result_memory(const struct result_state *s, const struct operands *i, unsigned size)
{
    struct load_program program = result_place(s, i);
    result_append(&program, LOAD_MEMORY, size, 0);
    return program;
}

/* An operand of `size` bytes in a register or in memory. Bytes of registers can be the second ones without a prefix. */
static struct load_program result_operand(const struct result_state *s, const struct operands *i, unsigned size)
{
    struct load_program program = { .count = 0 };
    if (i->mod != 3)
        return result_memory(s, i, size);
    if (size > 1 || i->rex || i->rm < 4)
        program = s->general[i->rm];
    return program;
}

static void result_set(struct result_state *s, unsigned to, struct load_program program, unsigned bits, bool is_signed)
{
    if (bits < 64)
        result_append(&program, is_signed ? LOAD_SIGNED : LOAD_UNSIGNED, bits, 0);
    s->general[to] = program;
}

static void result_pop(struct result_state *s, unsigned to)
{
    struct load_program program = s->general[OPERAND_RSP];
    result_append(&program, LOAD_MEMORY, WORD, 0);
    if (s->stored)
        result_forget(&program);
    result_append(&s->general[OPERAND_RSP], LOAD_ADD, 0, WORD);
    s->general[to] = program;
}

/* What two values make. */
static struct load_program result_combine(const struct load_program *left, const struct load_program *right,
                                          enum load_op op)
{
    struct load_program program = *left;
    const bool is_number = right->count == 1 && right->loads[0].op == LOAD_NUMBER;
    const int64_t number = right->loads[0].number;
    if (is_number && (op == LOAD_SUM || op == LOAD_DIFFERENCE)) {
        if (number)
            result_append(&program, LOAD_ADD, 0, op == LOAD_SUM ? number : -number);
        return program;
    }
    if (is_number && op == LOAD_LEFT && number == 0)
        return program;
    for (unsigned i = 0; i < right->count; i++)
        result_append(&program, (enum load_op)right->loads[i].op, right->loads[i].operand, right->loads[i].number);
    if (!right->count)
        result_forget(&program);
    result_append(&program, op, 0, 0);
    return program;
}

static struct load_program result_number(int64_t number)
{
    struct load_program program = { .count = 0 };
    load_add(&program, LOAD_NUMBER, 0, number);
    return program;
}

/* What lea computes. */
static struct load_program result_address(const struct result_state *s, const struct operands *i)
{
    struct load_program address = s->general[i->rm];
    if (i->indexed) {
        const struct load_program scale = result_number(i->scale);
        const struct load_program index = result_combine(&s->general[i->index], &scale, LOAD_LEFT);
        address = result_combine(&address, &index, LOAD_SUM);
    }
    if (i->displacement)
        result_append(&address, LOAD_ADD, 0, i->displacement);
    return address;
}

/* ---- instructions ---- */

/* mov, lea, and what extends: with 0f, the operand has one or two bytes. False if it is none of them. */
static bool result_move(struct result_state *s, const struct operands *i)
{
    const unsigned bits = i->wide ? 64 : 32;
    if (i->half && !i->wide)
        return false;
    if (i->two_bytes) {
        const unsigned size = i->opcode & 1 ? 2 : 1;
        if (i->opcode != 0xb6 && i->opcode != 0xb7 && i->opcode != 0xbe && i->opcode != 0xbf)
            return false;
        result_set(s, i->reg, result_operand(s, i, size), 8 * size, i->opcode >= 0xbe);
        if (!i->wide)
            result_append(&s->general[i->reg], LOAD_UNSIGNED, 32, 0);
        return true;
    }
    switch (i->opcode) {
    case 0x89:
        if (i->mod != 3)
            return false;
        result_set(s, i->rm, s->general[i->reg], bits, false);
        return true;
    case 0x8b:
        result_set(s, i->reg, result_operand(s, i, bits / 8), bits, false);
        return true;
    case 0x63:
        if (!i->wide)
            return false;
        result_set(s, i->reg, result_operand(s, i, 4), 32, true);
        return true;
    case 0x8d:
        if (!i->plain && !i->indexed)
            return false;
        result_set(s, i->reg, result_address(s, i), bits, false);
        return true;
    default:
        return false;
    }
}

/* The operation of opcodes 00 to 3f, and of those that have its number in the register's place. LOAD_OPS if it needs
 * flags, or only sets them. */
static enum load_op result_operation(unsigned number)
{
    static const uint8_t ops[] = {
        LOAD_SUM, LOAD_OR, LOAD_OPS, LOAD_OPS, LOAD_AND, LOAD_DIFFERENCE, LOAD_XOR, LOAD_OPS
    };
    return (enum load_op)ops[number & 7];
}

/* How many bytes an immediate operand has, read with its sign. False if they are not there. */
static bool result_immediate(const struct operands *i, size_t size, int64_t *number)
{
    int32_t wide = 0;
    if (!i->immediate || (size_t)(i->end - i->immediate) < size)
        return false;
    memcpy(&wide, i->immediate, size);
    *number = size == 1 ? (int8_t)*i->immediate : wide;
    return true;
}

/* Changes a register by an operation with another value. */
static void result_change(struct result_state *s, unsigned to, struct load_program by, enum load_op op, unsigned bits)
{
    struct load_program program = s->general[to];
    if (op == LOAD_RIGHT && bits < 64)
        result_append(&program, LOAD_UNSIGNED, bits, 0);
    if (op == LOAD_RIGHT_SIGNED && bits < 64)
        result_append(&program, LOAD_SIGNED, bits, 0);
    result_set(s, to, result_combine(&program, &by, op), bits, false);
}

/* Arithmetic with registers, the frame's memory and numbers. False if it is none, or stores. */
static bool result_compute(struct result_state *s, const struct operands *i)
{
    const unsigned bits = i->wide ? 64 : 32;
    const enum load_op op = result_operation(i->opcode >> 3);
    int64_t number;
    if (i->two_bytes || (i->half && !i->wide))
        return false;
    if (i->opcode < 0x40 && (i->opcode & 7) == 1 && op != LOAD_OPS && i->mod == 3) {
        result_change(s, i->rm, s->general[i->reg], op, bits);
        return true;
    }
    if (i->opcode < 0x40 && (i->opcode & 7) == 3 && op != LOAD_OPS) {
        result_change(s, i->reg, result_operand(s, i, bits / 8), op, bits);
        return true;
    }
    if ((i->opcode == 0x81 || i->opcode == 0x83) && i->mod == 3 && result_operation(i->reg) != LOAD_OPS &&
        result_immediate(i, i->opcode == 0x81 ? 4 : 1, &number)) {
        result_change(s, i->rm, result_number(number), result_operation(i->reg), bits);
        return true;
    }
    if ((i->opcode == 0xc1 || i->opcode == 0xd1) && i->mod == 3 && (i->reg & 7) >= 4 && (i->reg & 7) != 6 &&
        (i->opcode == 0xd1 || result_immediate(i, 1, &number))) {
        const unsigned kind = i->reg & 7, by = i->opcode == 0xd1 ? 1 : (unsigned)number & (bits - 1);
        result_change(s, i->rm, result_number(by),
                      kind == 4   ? LOAD_LEFT
                      : kind == 5 ? LOAD_RIGHT
                                  : LOAD_RIGHT_SIGNED,
                      bits);
        return true;
    }
    if (i->opcode == 0xf7 && i->mod == 3 && ((i->reg & 7) == 2 || (i->reg & 7) == 3)) {
        struct load_program program = s->general[i->rm];
        result_append(&program, (i->reg & 7) == 2 ? LOAD_INVERT : LOAD_NEGATE, 0, 0);
        result_set(s, i->rm, program, bits, false);
        return true;
    }
    return false;
}

/* Instructions that only set flags: cmp and test. */
static bool result_only_compares(const struct operands *i)
{
    const bool group = i->opcode == 0x80 || i->opcode == 0x81 || i->opcode == 0x83;
    return !i->two_bytes && ((i->opcode >= 0x38 && i->opcode <= 0x3d) || i->opcode == 0x84 || i->opcode == 0x85 ||
                             i->opcode == 0xa8 || i->opcode == 0xa9 || (group && (i->reg & 7) == 7) ||
                             ((i->opcode == 0xf6 || i->opcode == 0xf7) && (i->reg & 7) < 2));
}

/* The stack, and zero. */
static bool result_adjust(struct result_state *s, const struct operands *i)
{
    if (i->two_bytes)
        return false;
    if ((i->opcode & 0xf8) == 0x58 && !i->half) { /* pop */
        const bool upper = i->rex && i->at[-2] & 1;
        result_pop(s, (unsigned)(i->opcode & 7) | (unsigned)upper << 3);
        return true;
    }
    if ((i->opcode == 0x31 || i->opcode == 0x33) && i->mod == 3 && i->reg == i->rm && !i->half) { /* xor */
        s->general[i->reg] = result_number(0);
        return true;
    }
    if (i->opcode == 0xc9 && !i->half) { /* leave */
        s->general[OPERAND_RSP] = s->general[OPERAND_RBP];
        result_pop(s, OPERAND_RBP);
        return true;
    }
    return false;
}

/* Moves of vector registers, as far as their low eight bytes go. */
static bool result_move_vector(struct result_state *s, const struct operands *i)
{
    if (!i->two_bytes)
        return false;
    const bool whole = i->opcode == 0x28 || (i->opcode == 0x6f && (i->half || i->rep));
    const bool clears = (i->opcode == 0x57 || (i->opcode == 0xef && i->half)) && i->mod == 3 && i->reg == i->rm;
    if (clears) {
        s->vectors[i->reg] = result_number(0);
    } else if (i->opcode == 0x6e && i->half) { /* movq, movd: from a general register or memory */
        s->vectors[i->reg] = result_operand(s, i, i->wide ? 8 : 4);
        if (!i->wide)
            result_append(&s->vectors[i->reg], LOAD_UNSIGNED, 32, 0);
    } else if (whole || (i->opcode == 0x10 && (i->rep || i->repne)) || (i->opcode == 0x7e && i->rep)) {
        const unsigned size = i->opcode == 0x10 && i->rep ? 4 : 8;
        s->vectors[i->reg] = i->mod == 3 ? s->vectors[i->rm] : result_memory(s, i, size);
    } else {
        return false;
    }
    return true;
}

/* fld of ten bytes. */
static bool result_load_wide(struct result_state *s, const struct operands *i)
{
    if (i->two_bytes || i->opcode != 0xdb || i->mod == 3 || (i->reg & 7) != 5)
        return false;
    s->wide = result_place(s, i);
    return true;
}

static bool result_is_nothing(const struct operands *i)
{
    return (!i->two_bytes && i->opcode == 0x90) || (i->two_bytes && (i->opcode == 0x1f || i->opcode == 0x1e));
}

/* An instruction of another kind. It may store. */
static void result_lose(struct result_state *s, const struct x86_insn *insn)
{
    s->stored = true;
    for (unsigned n = 0; n < X86_REGISTERS; n++)
        if (insn->writes & 1u << n)
            result_forget(&s->general[n]);
    for (unsigned n = 0; n < LOAD_VECTORS; n++)
        result_forget(&s->vectors[n]);
    result_forget(&s->wide);
}

static void result_step(struct result_state *s, const uint8_t *code, const struct x86_insn *insn)
{
    struct operands i;
    if (insn->kind == X86_CONSTANT) { /* lea makes an address as in the file */
        const bool address = insn->length > 1 && code[1] == 0x8d;
        result_forget(&s->general[insn->to]);
        load_add(&s->general[insn->to], address ? LOAD_MODULE : LOAD_NUMBER, 0, (int64_t)insn->value);
        return;
    }
    if (!operands_parse(&i, code, insn->length) ||
        !(result_is_nothing(&i) || result_only_compares(&i) || result_move(s, &i) || result_adjust(s, &i) ||
          result_compute(s, &i) || result_move_vector(s, &i) || result_load_wide(s, &i)))
        result_lose(s, insn);
}

static struct result_state result_begin(const struct image *image, bool has_frame)
{
    struct result_state s = { .image = image, .has_frame = has_frame };
    for (unsigned n = 0; n < X86_REGISTERS; n++)
        if (!(X86_CALLER_SAVED & 1u << n))
            load_add(&s.general[n], LOAD_REGISTER, (unsigned)result_dwarf_register(n), 0);
    return s;
}

bool result_find_x86(const struct image *image, const struct hook_call *call, struct result_register wanted,
                     bool has_frame, struct load_program *program)
{
    struct result_state s = result_begin(image, has_frame);
    uint64_t at = call->next;
    for (int steps = 0; steps < MOST_STEPS && !call->jump; steps++) {
        uint8_t code[X86_MAX_LENGTH];
        size_t room = sizeof code;
        struct x86_insn insn;
        while (room && !image_read(image, at, code, room))
            room--;
        if (!room || !x86_decode(code, room, at, &insn) || !insn.length)
            return false;
        if (insn.kind == X86_END) {
            *program = wanted.wide     ? s.wide
                       : wanted.vector ? s.vectors[wanted.number]
                                       : s.general[wanted.number ? OPERAND_RDX : OPERAND_RAX];
            return (code[0] == 0xc3 || code[0] == 0xc2 || (room > 1 && code[0] == 0xf3 && code[1] == 0xc3)) &&
                   load_check(program);
        }
        if (insn.kind == X86_CALL || insn.kind == X86_CALL_SLOT || insn.kind == X86_CALL_ANY ||
            insn.kind == X86_BRANCH || insn.kind == X86_JUMP_SLOT || insn.kind == X86_JUMP_ANY)
            return false;
        at = insn.kind == X86_JUMP ? insn.value : at + insn.length;
        if (insn.kind != X86_JUMP)
            result_step(&s, code, &insn);
    }
    return false;
}
