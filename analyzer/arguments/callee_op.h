/* Instructions of x86-64 and their operands, as far as looks at a caller's frame need them. */
#ifndef DWELL_ARGUMENTS_CALLEE_OP_H
#define DWELL_ARGUMENTS_CALLEE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/code_machine.h"
#include "symbols/image.h"

enum {
    CALLEE_LONGEST = 15,
    CALLEE_FRAME_POINTER = 5, /* rbp and rsp as instructions number them */
    CALLEE_STACK_POINTER = 4
};

/* The tables of opcodes. */
enum callee_table {
    CALLEE_SHORT,
    CALLEE_LONG,   /* after 0x0f */
    CALLEE_LONGER, /* after 0x0f 0x38 and 0x0f 0x3a */
    CALLEE_VECTOR, /* after VEX and EVEX */
};

/* An instruction without its prefixes. */
struct callee_op {
    const uint8_t *at, *end; /* at: its opcode */
    enum callee_table table;
    uint8_t length;
    uint8_t extended; /* with registers above the first eight, as the bits of REX */
    bool rex, narrow; /* narrow: it has the prefix for 16 bits */
    bool segment;
    bool known; /* it may have an operand in memory */
};

struct callee_op callee_op_of(const uint8_t *code, size_t length);

/* The register and the register or memory that the byte behind the opcode names. */
uint8_t callee_op_register(const struct callee_op *op);
bool callee_op_has_memory(const struct callee_op *op);
uint8_t callee_op_other(const struct callee_op *op); /* the other register, if there is no memory */
bool callee_op_memory_has(const struct callee_op *op, uint8_t reg);

/* Memory at a register plus a number, and perhaps plus a register times a number. */
struct callee_memory {
    uint8_t base;
    bool computed; /* an index is added, or only the address is used */
    int64_t offset;
};

/* False if the operand is none at the stack pointer or rbp. */
bool callee_read_memory(const struct callee_op *op, struct callee_memory *memory);

/* Decodes the instruction at `at`, for which there are CALLEE_LONGEST bytes. False at the end, and where it is not
 * known. */
bool callee_next(const struct image *image, uint64_t at, uint64_t end, uint8_t *bytes, struct code_insn *insn);

#endif
