/* Follows values on aarch64 through the few instructions between the probe at an exit and the function's end. All that
 * is not known makes the registers that it changes unknown. */
#include <string.h>

#include "arguments/result_flow.h"
#include "symbols/aarch64_operands.h"
#include "symbols/code_machine.h"

enum { MOST_STEPS = 64, REGISTERS = 32, KEPT_VECTORS = 8, KEPT_VECTORS_END = 16, WIDE = 16 };
#define OP_RET 0xd65f03c0u

/* Registers as the instruction after the call sees them. A program without instructions: unknown. */
struct flow_state {
    struct load_program general[REGISTERS], vectors[REGISTERS];
    struct load_program wide; /* where all of v0 was loaded from */
    bool has_frame;
    bool stored; /* memory may have changed since the call */
};

/* ---- values ---- */

static void flow_append(struct load_program *program, enum load_op op, unsigned operand, int64_t number)
{
    if (program->count && !load_add(program, op, operand, number))
        program->count = 0;
}

static struct load_program flow_number(int64_t number)
{
    struct load_program program = { .count = 0 };
    load_add(&program, LOAD_NUMBER, 0, number);
    return program;
}

/* What a register holds as an operand: number 31 is zero. */
static struct load_program flow_register(const struct flow_state *s, unsigned number)
{
    return number == AARCH64_ZERO ? flow_number(0) : s->general[number];
}

static void flow_set(struct flow_state *s, unsigned to, struct load_program program, unsigned bits)
{
    if (bits < 64)
        flow_append(&program, LOAD_UNSIGNED, bits, 0);
    if (to != AARCH64_ZERO)
        s->general[to] = program;
}

static struct load_program flow_combine(const struct load_program *left, const struct load_program *right,
                                        enum load_op op)
{
    struct load_program program = *left;
    for (unsigned i = 0; i < right->count; i++)
        flow_append(&program, (enum load_op)right->loads[i].op, right->loads[i].operand, right->loads[i].number);
    if (!right->count)
        program.count = 0;
    flow_append(&program, op, 0, 0);
    return program;
}

static struct load_program flow_shift(const struct load_program *value, unsigned kind, unsigned by, unsigned bits)
{
    static const uint8_t ops[] = { LOAD_LEFT, LOAD_RIGHT, LOAD_RIGHT_SIGNED };
    struct load_program program = *value;
    if (!by)
        return program;
    if (kind && bits < 64)
        flow_append(&program, kind == 2 ? LOAD_SIGNED : LOAD_UNSIGNED, bits, 0);
    flow_append(&program, LOAD_NUMBER, 0, by);
    flow_append(&program, (enum load_op)ops[kind], 0, 0);
    return program;
}

/* ---- memory ---- */

/* The address of memory of the frame, which no other thread changes between the probe and the load. */
static struct load_program flow_place(const struct flow_state *s, const struct aarch64_memory *m, unsigned index)
{
    struct load_program program = { .count = 0 };
    if (s->stored || !(m->base == AARCH64_STACK || (m->base == AARCH64_FRAME && s->has_frame)))
        return program;
    program = s->general[m->base];
    const int64_t offset = m->offset + (int64_t)(index * m->size);
    if (offset)
        flow_append(&program, LOAD_ADD, 0, offset);
    return program;
}

static struct load_program flow_memory(const struct flow_state *s, const struct aarch64_memory *m, unsigned index)
{
    struct load_program program = { .count = 0 };
    if (m->size > sizeof(uint64_t))
        return program;
    program = flow_place(s, m, index);
    flow_append(&program, LOAD_MEMORY, m->size, 0);
    if (m->is_signed)
        flow_append(&program, LOAD_SIGNED, 8 * m->size, 0);
    return program;
}

/* Stores, and loads from memory that is not the frame's. */
static bool flow_move_memory(struct flow_state *s, uint32_t word)
{
    struct aarch64_memory m;
    if (!aarch64_memory_parse(&m, word))
        return false;
    const struct load_program first = flow_memory(s, &m, 0), next = flow_memory(s, &m, 1);
    const struct load_program wide = flow_place(s, &m, m.first != 0);
    s->stored |= !m.load;
    if (m.load && m.vector) {
        if (m.first == 0 || (m.count == 2 && m.next == 0))
            s->wide = m.size == WIDE ? wide : (struct load_program){ .count = 0 };
        s->vectors[m.first] = first;
        if (m.count == 2)
            s->vectors[m.next] = next;
    } else if (m.load) {
        flow_set(s, m.first, first, m.bits);
        if (m.count == 2)
            flow_set(s, m.next, next, m.bits);
    }
    if (m.moves)
        flow_append(&s->general[m.base], LOAD_ADD, 0, m.moves);
    return true;
}

/* ---- instructions ---- */

/* add and sub of numbers. What only compares changes nothing else. */
static bool flow_add_number(struct flow_state *s, uint32_t word)
{
    struct aarch64_addition a;
    const unsigned bits = word >> 31 ? 64 : 32;
    const bool flags = aarch64_bits(word, 29, 1);
    if ((word & 0x1f800000) != 0x11000000)
        return false;
    aarch64_addition_parse(&a, word);
    if (flags && a.to == AARCH64_ZERO)
        return true;
    struct load_program program = s->general[a.from]; /* 31 is the stack pointer */
    if (a.number)
        flow_append(&program, LOAD_ADD, 0, a.number);
    if (bits < 64)
        flow_append(&program, LOAD_UNSIGNED, bits, 0);
    s->general[a.to] = program;
    return true;
}

/* add, sub, and, orr and eor of registers, one of them shifted; with orr, also what only moves. */
static bool flow_compute(struct flow_state *s, uint32_t word)
{
    static const uint8_t logical[] = { LOAD_AND, LOAD_OR, LOAD_XOR, LOAD_AND };
    const unsigned bits = word >> 31 ? 64 : 32, kind = aarch64_bits(word, 29, 2), to = aarch64_bits(word, 0, 5);
    const unsigned from = aarch64_bits(word, 5, 5), shift = aarch64_bits(word, 22, 2);
    const bool adds = (word & 0x1f200000) == 0x0b000000, is_logical = (word & 0x1f000000) == 0x0a000000;
    if ((!adds && !is_logical) || shift == 3)
        return false;
    const bool flags = adds ? kind & 1 : kind == 3;
    if (flags && to == AARCH64_ZERO)
        return true;
    const struct load_program left = flow_register(s, from), plain = flow_register(s, aarch64_bits(word, 16, 5));
    struct load_program right = flow_shift(&plain, shift, aarch64_bits(word, 10, 6), bits);
    enum load_op op = (enum load_op)logical[kind];
    if (adds)
        op = kind & 2 ? LOAD_DIFFERENCE : LOAD_SUM;
    else if (aarch64_bits(word, 21, 1))
        flow_append(&right, LOAD_INVERT, 0, 0);
    const bool moves = is_logical && kind == 1 && from == AARCH64_ZERO;
    flow_set(s, to, moves ? right : flow_combine(&left, &right, op), bits);
    return true;
}

/* add and sub of a register that is extended first. */
static bool flow_add_extended(struct flow_state *s, uint32_t word)
{
    const unsigned bits = word >> 31 ? 64 : 32, kind = aarch64_bits(word, 13, 3), to = aarch64_bits(word, 0, 5);
    if ((word & 0x1fe00000) != 0x0b200000 || aarch64_bits(word, 29, 1))
        return false;
    struct load_program right = flow_register(s, aarch64_bits(word, 16, 5));
    flow_append(&right, kind & 4 ? LOAD_SIGNED : LOAD_UNSIGNED, 8u << (kind & 3), 0);
    right = flow_shift(&right, 0, aarch64_bits(word, 10, 3), bits);
    struct load_program program = flow_combine(&s->general[aarch64_bits(word, 5, 5)], &right,
                                               aarch64_bits(word, 30, 1) ? LOAD_DIFFERENCE : LOAD_SUM);
    if (bits < 64)
        flow_append(&program, LOAD_UNSIGNED, bits, 0);
    s->general[to] = program;
    return true;
}

/* madd and msub. */
static bool flow_multiply(struct flow_state *s, uint32_t word)
{
    const unsigned bits = word >> 31 ? 64 : 32;
    if ((word & 0x7fe00000) != 0x1b000000)
        return false;
    const struct load_program left = flow_register(s, aarch64_bits(word, 5, 5));
    const struct load_program right = flow_register(s, aarch64_bits(word, 16, 5));
    const struct load_program product = flow_combine(&left, &right, LOAD_PRODUCT);
    const struct load_program more = flow_register(s, aarch64_bits(word, 10, 5));
    flow_set(s, aarch64_bits(word, 0, 5),
             flow_combine(&more, &product, aarch64_bits(word, 15, 1) ? LOAD_DIFFERENCE : LOAD_SUM), bits);
    return true;
}

/* movz, movn and movk. */
static bool flow_move_number(struct flow_state *s, uint32_t word)
{
    const unsigned kind = aarch64_bits(word, 29, 2), by = 16 * aarch64_bits(word, 21, 2), to = aarch64_bits(word, 0, 5);
    const uint64_t number = (uint64_t)aarch64_bits(word, 5, 16) << by;
    const struct load_program *before = &s->general[to];
    if ((word & 0x1f800000) != 0x12800000 || kind == 1)
        return false;
    if (kind != 3) {
        flow_set(s, to, flow_number((int64_t)(kind ? number : ~number)), word >> 31 ? 64 : 32);
        return true;
    }
    if (before->count != 1 || before->loads[0].op != LOAD_NUMBER)
        return false;
    const uint64_t rest = (uint64_t)before->loads[0].number & ~(UINT64_C(0xffff) << by);
    flow_set(s, to, flow_number((int64_t)(rest | number)), word >> 31 ? 64 : 32);
    return true;
}

/* Extensions, and shifts by a number. Other moves of bits are not followed. */
static bool flow_move_bits(struct flow_state *s, uint32_t word)
{
    const unsigned bits = word >> 31 ? 64 : 32, to = aarch64_bits(word, 0, 5), kind = aarch64_bits(word, 29, 2);
    const unsigned first = aarch64_bits(word, 16, 6), last = aarch64_bits(word, 10, 6);
    if ((word & 0x1f800000) != 0x13000000 || kind & 1)
        return false;
    struct load_program program = flow_register(s, aarch64_bits(word, 5, 5));
    if (last == bits - 1)
        program = flow_shift(&program, kind ? 1 : 2, first, bits);
    else if (kind && last + 1 == first)
        program = flow_shift(&program, 0, bits - first, bits);
    else if (!first)
        flow_append(&program, kind ? LOAD_UNSIGNED : LOAD_SIGNED, last + 1, 0);
    else
        return false;
    flow_set(s, to, program, bits);
    return true;
}

/* fmov between vector registers, to them and from them; and zero. The low eight bytes count. */
static bool flow_move_vector(struct flow_state *s, uint32_t word)
{
    const unsigned to = aarch64_bits(word, 0, 5), from = aarch64_bits(word, 5, 5);
    if ((word & 0xffbffc00) == 0x1e204000) { /* of one width */
        s->vectors[to] = s->vectors[from];
        if (!aarch64_bits(word, 22, 1))
            flow_append(&s->vectors[to], LOAD_UNSIGNED, 32, 0);
    } else if ((word & 0xfffffc00) == 0x9e670000 || (word & 0xfffffc00) == 0x1e270000) {
        s->vectors[to] = flow_register(s, from);
        if (!(word >> 31))
            flow_append(&s->vectors[to], LOAD_UNSIGNED, 32, 0);
    } else if ((word & 0xfffffc00) == 0x9e660000 || (word & 0xfffffc00) == 0x1e260000) {
        flow_set(s, to, s->vectors[from], word >> 31 ? 64 : 32);
    } else if ((word & 0xffffffe0) == 0x2f00e400 || (word & 0xffffffe0) == 0x6f00e400 ||
               (word & 0xffffffe0) == 0x4f000400 || (word & 0xffffffe0) == 0x0f000400) { /* movi of zero */
        s->vectors[to] = flow_number(0);
    } else {
        return false;
    }
    if (!to)
        s->wide.count = 0;
    return true;
}

static bool flow_is_nothing(uint32_t word)
{
    return (word & 0xfffff01f) == 0xd503201f; /* nop, and what signs addresses */
}

/* An instruction of another kind. It may store. */
static void flow_lose(struct flow_state *s, const struct code_insn *insn)
{
    s->stored = true;
    for (unsigned n = 0; n < REGISTERS; n++) {
        if (insn->writes >> n & 1)
            s->general[n].count = 0;
        s->vectors[n].count = 0;
    }
    s->wide.count = 0;
}

static void flow_step(struct flow_state *s, uint32_t word, const struct code_insn *insn)
{
    if (insn->kind == CODE_CONSTANT) { /* an address as in the file */
        s->general[insn->to].count = 0;
        load_add(&s->general[insn->to], LOAD_MODULE, 0, (int64_t)insn->value);
    } else if (!(flow_is_nothing(word) || flow_move_memory(s, word) || flow_add_number(s, word) ||
                 flow_compute(s, word) || flow_add_extended(s, word) || flow_multiply(s, word) ||
                 flow_move_number(s, word) || flow_move_bits(s, word) || flow_move_vector(s, word))) {
        flow_lose(s, insn);
    }
}

/* The registers that a call keeps: x19 to x29, the stack pointer, and the low eight bytes of v8 to v15. */
static void flow_begin(struct flow_state *s, bool has_frame)
{
    *s = (struct flow_state){ .has_frame = has_frame };
    for (unsigned n = 0; n < REGISTERS; n++)
        if (!(code_machine_aarch64.caller_saved >> n & 1))
            load_add(&s->general[n], LOAD_REGISTER, n, 0);
    for (unsigned n = KEPT_VECTORS; n < KEPT_VECTORS_END; n++)
        load_add(&s->vectors[n], LOAD_VECTOR, n, 0);
}

bool result_find_aarch64(const struct image *image, const struct hook_call *call, struct result_register wanted,
                         bool has_frame, struct load_program *program)
{
    struct flow_state s;
    uint64_t at = call->next;
    flow_begin(&s, has_frame);
    for (int steps = 0; steps < MOST_STEPS && !call->jump; steps++) {
        uint32_t word;
        struct code_insn insn;
        uint8_t code[sizeof word];
        if (!image_read(image, at, code, sizeof code) || !code_machine_aarch64.decode(code, sizeof code, at, &insn))
            return false;
        memcpy(&word, code, sizeof word);
        if (insn.kind == CODE_END) {
            *program = wanted.wide ? s.wide : wanted.vector ? s.vectors[wanted.number] : s.general[wanted.number];
            return word == OP_RET && load_check(program);
        }
        if (insn.kind == CODE_CALL || insn.kind == CODE_CALL_ANY || insn.kind == CODE_BRANCH ||
            insn.kind == CODE_JUMP_ANY)
            return false;
        at = insn.kind == CODE_JUMP ? insn.value : at + AARCH64_WORD;
        if (insn.kind != CODE_JUMP)
            flow_step(&s, word, &insn);
    }
    return false;
}
