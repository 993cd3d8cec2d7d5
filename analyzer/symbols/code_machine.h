/* Instructions of the machines whose code dwell reads, as far as finding the calls of the probes needs them. */
#ifndef DWELL_SYMBOLS_CODE_MACHINE_H
#define DWELL_SYMBOLS_CODE_MACHINE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
    CODE_OTHER,
    CODE_CALL,      /* `value` is the target */
    CODE_JUMP,      /* the same */
    CODE_BRANCH,    /* the same, conditional */
    CODE_CALL_SLOT, /* the target is in memory at `value` */
    CODE_JUMP_SLOT, /* the same */
    CODE_CALL_ANY,  /* through a register or other memory */
    CODE_JUMP_ANY,
    CODE_END,      /* the next instruction does not follow */
    CODE_CONSTANT, /* register `to` gets `value` */
    CODE_LOAD,     /* register `to` gets the eight bytes at `value` */
    CODE_COPY,     /* register `to` gets register `from` */
    CODE_ADD,      /* register `to` gets register `from` plus `value` */
    CODE_LOAD_AT,  /* register `to` gets the eight bytes at register `from` plus `value` */
    /* The `count` registers `first` have `size` bytes each, at the stack pointer plus `value`. */
    CODE_LOAD_STACK,
    CODE_STORE_STACK,
};

enum { CODE_REGISTERS = 32, CODE_NONE = 31 /* no general register */ };

struct code_insn {
    enum insn_kind kind;
    uint8_t length;
    uint8_t to, from;
    uint8_t first[2], count, size;
    bool moves_stack; /* the stack pointer may change */
    uint32_t writes;  /* a bit for each general register that may change; without those that a callee changes */
    uint64_t value;
};

struct code_machine {
    /* Relocations: the place of an address in the file; slots for any use and for calls, and those that a resolver
     * fills; the address of a symbol. */
    uint32_t relative, slot, call_slot, resolved, address;
    uint32_t caller_saved;  /* a bit for each general register that a call may change */
    uint8_t first_argument; /* the register that has it */
    /* Decodes the instruction of at most `room` bytes at `code`, which runs at `address`. False if it is not known. */
    bool (*decode)(const uint8_t *code, size_t room, uint64_t address, struct code_insn *insn);
    /* Whether an instruction is one of those that compilers put between an end and the next target. */
    bool (*is_padding)(const uint8_t *code, size_t length);
    /* The slot through which a stub of the linker jumps, of which the first `room` bytes are at `code`. Zero if it is
     * no such stub. */
    uint64_t (*stub_slot)(const uint8_t *code, size_t room, uint64_t address);
};

extern const struct code_machine code_machine_x86, code_machine_aarch64;

/* The machine that a file is for. NULL if it is another one. */
const struct code_machine *code_machine_of(Elf *elf);

#endif
