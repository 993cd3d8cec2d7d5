/* The operands of instructions on x86-64, of the usual forms without VEX. Registers have the processor's numbers. */
#ifndef DWELL_ARGUMENTS_OPERANDS_H
#define DWELL_ARGUMENTS_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPERAND_RAX = 0, OPERAND_RDX = 2, OPERAND_RSP = 4, OPERAND_RBP = 5 };

/* The parts of an instruction. */
struct operands {
    const uint8_t *at, *end;
    bool wide, half, repne, rep, rex;
    bool two_bytes; /* 0f and the opcode */
    uint8_t opcode, mod, reg, rm;
    int64_t displacement; /* of memory at [rm + displacement]; valid if `plain` */
    bool plain;
    bool indexed; /* memory at [rm + index * 2^scale + displacement] */
    uint8_t index, scale;
    const uint8_t *immediate; /* what stands behind the operand */
};

/* Takes an instruction apart. False if there is nothing behind its prefixes. */
bool operands_parse(struct operands *i, const uint8_t *code, size_t length);

/* How far an instruction moves the stack pointer: push, pop, and additions of numbers to it. */
int64_t operands_move_of_stack(const struct operands *i);

#endif
