/* What is known of an x86-64 instruction while it is decoded, and the steps that all its maps of opcodes share. */
#ifndef DWELL_LEVELS_X86_STATE_H
#define DWELL_LEVELS_X86_STATE_H

#include <string.h>

#include "levels/x86_decode.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define X86_BIT(r) ((uint16_t)(1u << (r)))

/* What is known of an instruction while it is decoded. */
struct x86_state {
    const uint8_t *code, *at, *end;
    uint64_t address;
    struct x86_insn *insn;
    bool operand_size, repeat, wide, rex; /* prefixes */
    uint8_t reg_high, index_high, rm_high;
    uint8_t vvvv;
    uint8_t mod, reg, rm; /* with the high bits, where they are registers */
    bool has_address;     /* the memory operand is relative to the instruction's end */
    int32_t displacement; /* the distance from there */
};

static inline uint32_t x86_bytes(struct x86_state *s, int count)
{
    uint32_t value = 0;
    if (s->end - s->at < count) {
        s->at = s->end + 1; /* more than there is: the caller sees it in the end */
        return 0;
    }
    memcpy(&value, s->at, (size_t)count);
    s->at += count;
    return value;
}

static inline void x86_skip(struct x86_state *s, int count)
{
    if (s->at <= s->end)
        s->at += count;
}

static inline uint8_t x86_byte(struct x86_state *s)
{
    return (uint8_t)x86_bytes(s, 1);
}

static inline void x86_modrm(struct x86_state *s)
{
    const uint8_t modrm = x86_byte(s);
    s->mod = modrm >> 6;
    s->reg = (modrm >> 3 & 7) | s->reg_high;
    s->rm = (modrm & 7) | s->rm_high;
    if (s->mod == 3)
        return;
    const uint8_t base = (modrm & 7) == 4 ? x86_byte(s) & 7 : modrm & 7;
    if (s->mod == 0 && (modrm & 7) == 5) {
        s->displacement = (int32_t)x86_bytes(s, 4);
        s->has_address = true;
    } else if (s->mod == 2 || (s->mod == 0 && base == 5)) {
        x86_skip(s, 4);
    } else if (s->mod == 1) {
        x86_skip(s, 1);
    }
}

static inline void x86_writes(struct x86_state *s, unsigned registers)
{
    s->insn->writes |= (uint16_t)registers;
}

static inline void x86_writes_reg(struct x86_state *s)
{
    x86_writes(s, X86_BIT(s->reg));
}

static inline void x86_writes_rm(struct x86_state *s)
{
    if (s->mod == 3)
        x86_writes(s, X86_BIT(s->rm));
}

/* One-byte registers: codes 4 to 7 may be the second bytes of the first four registers. */
static inline void x86_widen_byte_registers(struct x86_state *s)
{
    if (!s->rex)
        x86_writes(s, (s->insn->writes & 0xf0) >> 4);
}

static inline void x86_immediate(struct x86_state *s)
{
    x86_skip(s, s->operand_size && !s->wide ? 2 : 4);
}

static inline void x86_relative(struct x86_state *s, enum x86_kind kind, int bytes)
{
    const uint32_t raw = x86_bytes(s, bytes);
    const int64_t distance = bytes == 1 ? (int8_t)raw : (int32_t)raw;
    s->insn->kind = kind;
    s->insn->value = s->address + (uint64_t)(s->at - s->code) + (uint64_t)distance;
}

#pragma GCC visibility push(hidden)

/* The instructions behind 0f, and those with the prefixes of vectors. False if the instruction is not known. */
bool x86_two_bytes(struct x86_state *s);
bool x86_vex(struct x86_state *s, uint8_t op);
bool x86_evex(struct x86_state *s);

#pragma GCC visibility pop

#endif
