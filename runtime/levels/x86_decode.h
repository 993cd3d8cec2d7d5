/* Decodes x86-64 instructions as far as needed to find the calls of the probes: lengths, jumps, and the registers that
 * an instruction writes. */
#ifndef DWELL_LEVELS_X86_DECODE_H
#define DWELL_LEVELS_X86_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum x86_kind {
    X86_OTHER,
    X86_CALL,      /* `value` is the target */
    X86_JUMP,      /* the same */
    X86_BRANCH,    /* the same, conditional */
    X86_CALL_SLOT, /* the target is in memory at `value` */
    X86_JUMP_SLOT, /* the same */
    X86_CALL_ANY,  /* through a register or other memory */
    X86_JUMP_ANY,
    X86_END,      /* the next instruction does not follow: ret, ud2, hlt */
    X86_CONSTANT, /* register `to` gets `value` */
    X86_LOAD,     /* register `to` gets the eight bytes at `value` */
    X86_COPY,     /* register `to` gets register `from` */
};

enum { X86_RSP = 4, X86_RBP = 5, X86_RDI = 7, X86_REGISTERS = 16, X86_MAX_LENGTH = 15 };

/* Registers that a call may change. */
enum { X86_CALLER_SAVED = 0x0fc7 };

struct x86_insn {
    enum x86_kind kind;
    uint8_t length;
    uint8_t to, from;
    uint16_t writes; /* a bit for each general register that may change; without those that a callee changes */
    uint64_t value;
};

/* Decodes the instruction of at most `room` bytes at `code`, which runs at `address`. False if it is not known. */
bool x86_decode(const uint8_t *code, size_t room, uint64_t address, struct x86_insn *insn);

/* The same, without tables of the usual instructions. */
bool x86_decode_slowly(const uint8_t *code, size_t room, uint64_t address, struct x86_insn *insn);

#pragma GCC visibility pop

#endif
