/* Decodes the usual x86-64 instructions by tables, several times as fast as x86_decode_slowly, with the same results.
 * All others are left to that. */
#ifndef DWELL_LEVELS_X86_QUICK_H
#define DWELL_LEVELS_X86_QUICK_H

#include <string.h>

#include "common.h"
#include "levels/x86_decode.h"

#pragma GCC visibility push(hidden)

/* What an opcode has; zero if it is left to x86_decode_slowly. */
enum {
    QUICK_MODRM = 1 << 0,
    QUICK_BYTE = 1 << 1,
    QUICK_WORD = 1 << 2, /* four bytes; with the prefix 66 usually two */
    QUICK_TO_REG = 1 << 3,
    QUICK_TO_RM = 1 << 4,
    QUICK_TO_OP = 1 << 5, /* the register is a part of the opcode */
    QUICK_TO_RAX = 1 << 6,
    QUICK_HALVES = 1 << 7, /* its registers have one byte */
    QUICK_GROUP = 1 << 8,  /* it changes nothing if it is the eighth of the group */
    QUICK_MOVE = 1 << 9,   /* see x86_quick_move */
    QUICK_STORE = 1 << 10, /* usual with memory and as the first of the group */
    QUICK_JUMP = 1 << 11,  /* see x86_quick_jump */
    QUICK_KNOWN = 1 << 12,
};

extern const uint16_t x86_quick_one_byte[256], x86_quick_two_bytes[256];
extern const uint8_t x86_quick_tails[256]; /* bytes that follow modrm, if there is no index without a base */

struct x86_quick {
    const uint8_t *at; /* behind modrm and its displacement */
    unsigned op, modrm, rex;
    bool second; /* behind 0f */
};

static inline int32_t x86_quick_word(const uint8_t *at)
{
    int32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline unsigned x86_quick_reg(const struct x86_quick *q)
{
    return (q->modrm >> 3 & 7) | (q->rex << 1 & 8);
}

static inline unsigned x86_quick_rm(const struct x86_quick *q)
{
    return (q->modrm & 7) | (q->rex << 3 & 8);
}

static inline unsigned x86_quick_in_op(const struct x86_quick *q)
{
    return (q->op & 7) | (q->rex << 3 & 8);
}

/* Calls, jumps, and other instructions whose operand is behind the opcode. */
static inline bool x86_quick_jump(const struct x86_quick *q, struct x86_insn *insn, uint64_t next)
{
    const bool is_short = !q->second && q->op < 0xe0;
    insn->value = next + (uint64_t)(int64_t)(q->op == 0xeb || is_short ? (int8_t)*q->at : x86_quick_word(q->at));
    if (q->op == 0xe8 && !q->second)
        insn->kind = X86_CALL;
    else
        insn->kind = q->op >= 0xe0 && !q->second ? X86_JUMP : X86_BRANCH;
    if (q->second || q->op < 0x80 || q->op >= 0xe0)
        return true;
    insn->kind = q->op == 0xc3 ? X86_END : X86_CONSTANT;
    insn->value = q->op == 0xc3 ? 0 : (uint32_t)x86_quick_word(q->at);
    insn->to = q->op == 0xc3 ? 0 : (uint8_t)x86_quick_in_op(q);
    return q->op == 0xc3 || !(q->rex & 8);
}

/* mov and lea of 64 bits, between registers or of an address that is relative to the instruction's end. */
static inline void x86_quick_move(const struct x86_quick *q, struct x86_insn *insn, uint64_t next)
{
    const bool to_rm = q->op == 0x89;
    if (q->modrm >= 0xc0 && q->op != 0x8d) {
        insn->kind = X86_COPY;
        insn->to = (uint8_t)(to_rm ? x86_quick_rm(q) : x86_quick_reg(q));
        insn->from = (uint8_t)(to_rm ? x86_quick_reg(q) : x86_quick_rm(q));
    } else if (q->modrm < 0xc0 && !to_rm) {
        insn->kind = q->op == 0x8d ? X86_CONSTANT : X86_LOAD;
        insn->to = (uint8_t)x86_quick_reg(q);
        insn->value = next + (uint64_t)(int64_t)x86_quick_word(q->at - 4);
    }
}

/* Whether there is a bit of `flag` in `has`: one or zero. */
#define QUICK_HAS(has, flag) (((has) & (flag)) / (flag))

static inline unsigned x86_quick_writes(const struct x86_quick *q, unsigned has)
{
    const unsigned rm =
        QUICK_HAS(has, QUICK_TO_RM) & (q->modrm >= 0xc0) & ~(QUICK_HAS(has, QUICK_GROUP) & ((q->modrm & 0x38) == 0x38));
    unsigned writes = QUICK_HAS(has, QUICK_TO_REG) << x86_quick_reg(q) | rm << x86_quick_rm(q);
    writes |= QUICK_HAS(has, QUICK_TO_OP) << x86_quick_in_op(q) | QUICK_HAS(has, QUICK_TO_RAX);
    /* Codes 4 to 7 may be the second bytes of the first four registers. */
    return has & QUICK_HALVES && !q->rex ? writes | (writes & 0xf0) >> 4 : writes;
}

/* Decodes an instruction of X86_MAX_LENGTH readable bytes. False if it is not one of the usual ones. The way to its
 * length is short: it has one load from the code and one from a table, and no branch that is hard to predict. */
static ALWAYS_INLINE bool x86_decode_quickly(const uint8_t *code, uint64_t address, struct x86_insn *insn)
{
    uint64_t bytes;
    memcpy(&bytes, code, sizeof bytes);
    unsigned length = 1;
    bool short_operands = false;
    const uint8_t first = (uint8_t)bytes;
    if (UNLIKELY(first == 0x66 || first == 0xf2 || first == 0xf3)) {
        short_operands = first == 0x66;
        bytes >>= 8;
        length++;
    }
    const bool has_rex = (bytes & 0xf0) == 0x40;
    struct x86_quick q = { .rex = has_rex ? (uint8_t)bytes : 0 };
    bytes >>= has_rex ? 8 : 0;
    length += has_rex;
    q.op = (uint8_t)bytes;
    bytes >>= 8;
    unsigned has = x86_quick_one_byte[q.op];
    if (q.op == 0x0f) {
        q.second = true;
        q.op = (uint8_t)bytes;
        bytes >>= 8;
        length++;
        has = x86_quick_two_bytes[q.op];
    }
    q.modrm = (uint8_t)bytes;
    length += (0u - (has & QUICK_MODRM)) & (1u + x86_quick_tails[q.modrm]);
    if (has & QUICK_MODRM && (q.modrm & 0xc7) == 4 && (bytes >> 8 & 7) == 5)
        length += 4; /* an index without a base */
    q.at = code + length;
    length += (has & QUICK_WORD) + QUICK_HAS(has, QUICK_BYTE);
    if (UNLIKELY(!has || (short_operands && has & QUICK_WORD && !q.second)))
        return false;
    *insn = (struct x86_insn){
        .kind = X86_OTHER,
        .length = (uint8_t)length,
        .writes = (uint16_t)x86_quick_writes(&q, has),
    };
    if (has & QUICK_JUMP)
        return x86_quick_jump(&q, insn, address + length);
    if (has & QUICK_MOVE && q.rex & 8 && (q.modrm >= 0xc0 || (q.modrm & 0xc7) == 5))
        x86_quick_move(&q, insn, address + length);
    return !(has & QUICK_STORE) || (q.modrm < 0xc0 && !(q.modrm & 0x38));
}

#pragma GCC visibility pop

#endif
