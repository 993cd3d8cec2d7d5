/* Decodes the x86-64 instructions that move the stack pointer, and those that store a register in the stack's memory or
 * load it from there. */
#ifndef DWELL_LEVELS_X86_STACK_H
#define DWELL_LEVELS_X86_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "levels/x86_decode.h"

#pragma GCC visibility push(hidden)

enum x86_stack_kind {
    STACK_MOVES,  /* rsp changes by `value` */
    STACK_LEAVES, /* rsp changes in another way */
    STACK_SPILL,  /* eight bytes in memory get `reg` */
    STACK_STORE,  /* the same, but `value` */
    STACK_FILL,   /* `reg` gets eight bytes from memory */
};

struct x86_stack_insn {
    enum x86_stack_kind kind;
    uint8_t reg;
    uint8_t base;         /* rsp or rbp: memory is at that register, and a distance */
    int32_t displacement; /* the distance */
    int64_t value;
};

/* A bit for each way in which an opcode may begin such an instruction. */
enum { STACK_FIRST = 1, STACK_BEHIND_REX = 2 };
extern const uint8_t x86_stack_opcodes[256];

/* Decodes an instruction that x86_decode has decoded. False if it is none of these. A copy of rsp or rbp is X86_COPY.
 */
bool x86_stack_decode(const uint8_t *code, const struct x86_insn *insn, struct x86_stack_insn *made);

/* Whether x86_stack_decode may know the instruction. */
static inline bool x86_stack_may_be(const uint8_t *code)
{
    return (*code & 0xf0) == 0x40 ? x86_stack_opcodes[code[1]] & STACK_BEHIND_REX
                                  : x86_stack_opcodes[*code] & STACK_FIRST;
}

#pragma GCC visibility pop

#endif
