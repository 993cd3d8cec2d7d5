/* How an argument is read when a probe is called: a short program of loads for a machine with a stack of words. The
 * registers are those at the instruction that calls the probe. The runtime and the analyzer run such programs. */
#ifndef DWELL_LOAD_RUN_H
#define DWELL_LOAD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum load_op {
    LOAD_REGISTER, /* pushes general register `operand`, by its number in DWARF */
    LOAD_VECTOR,   /* pushes the low eight bytes of vector register `operand` */
    LOAD_NUMBER,   /* pushes `number` */
    LOAD_MODULE,   /* pushes the place of `number`, an address as in the module's file */
    LOAD_ADD,      /* adds `number` */
    LOAD_MEMORY,   /* replaces an address by the `operand` bytes there, 1 to 8 */
    LOAD_SIGNED,   /* keeps the low `operand` bits, 1 to 64, and extends their sign */
    LOAD_UNSIGNED, /* the same with zeros */
    LOAD_NEGATE,
    LOAD_INVERT,
    LOAD_SUM, /* this and the next ones replace two words by one; the upper one is the right one */
    LOAD_DIFFERENCE,
    LOAD_PRODUCT,
    LOAD_AND,
    LOAD_OR,
    LOAD_XOR,
    LOAD_LEFT, /* shifts by less than 64 */
    LOAD_RIGHT,
    LOAD_RIGHT_SIGNED,
    LOAD_TEXT,         /* ends: the text at an address, up to its zero */
    LOAD_TEXT_COUNTED, /* ends: the text at the lower word, of as many bytes as the upper one says */
    LOAD_TEXT_BOUNDED, /* ends: the text at the lower word, up to its zero, of at most as many bytes as the upper one
                          says */
    LOAD_LONG_DOUBLE,  /* replaces an address by the long double there, as the nearest double: `operand` bytes, 10 of
                          x87, or  16 with 113 bits of precision */
    LOAD_CPU,          /* pushes the number of the processor that runs the program */
    LOAD_EQUAL,        /* this and the next ones replace two words by 1 or 0; with signs */
    LOAD_NOT_EQUAL,
    LOAD_LESS,
    LOAD_LESS_EQUAL,
    LOAD_SELECT, /* replaces three words by the lowest if the uppermost is not zero, otherwise by the middle one */
    LOAD_SWAP,   /* keeps the low `operand` bytes, 1 to 8, in the other order */
    LOAD_DIVIDE, /* replaces two words by their quotient, with signs and rounded towards zero; nothing divides by zero
                  */
    LOAD_OPS,
};

enum { LOAD_MOST = 64, LOAD_DEPTH = 8 }; /* instructions, words on the stack */

struct load {
    uint8_t op, operand;
    int64_t number;
};

struct load_program {
    unsigned count;
    struct load loads[LOAD_MOST];
};

/* How many words an instruction takes from the stack. It is a known one. */
unsigned load_takes(const struct load *l);

enum { LOAD_REGISTERS = 32 }; /* general ones, and vector registers, that a machine has at most */

/* Whether the program uses its stack well, and leaves one word or a text. Its registers are those of some machine. */
bool load_check(const struct load_program *p);

/* Whether it ends with a text. */
bool load_is_text(const struct load_program *p);

/* ---- running ---- */

/* Of this machine. */
#if defined(__aarch64__)
enum { LOAD_GENERAL = 32, LOAD_VECTORS = 32, LOAD_STACK = 31 };
#else
enum { LOAD_GENERAL = 16, LOAD_VECTORS = 16, LOAD_STACK = 7 };
#endif

struct load_state {
    /* In the order of DWARF: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15; or x0 to x30, sp. */
    uint64_t general[LOAD_GENERAL];
    uint64_t vectors[LOAD_VECTORS];
    uint64_t module;                                                     /* its place less its address in the file */
    bool (*read)(void *data, uint64_t address, void *into, size_t size); /* false if the memory cannot be read */
    void *data;
    int32_t (*cpu)(void); /* the processor's number, negative if it is unknown; NULL: it is */
};

struct load_result {
    uint64_t word;
    char *text; /* has room for text_room bytes; not terminated */
    size_t text_room, text_length;
    bool cut; /* the text goes on */
};

/* Whether the registers of a program that is well are those of this machine. */
bool load_can_run(const struct load_program *p);

/* Runs a program that is well and can run. False if memory cannot be read, or the processor is unknown. Does not
 * allocate. */
bool load_run(const struct load_program *p, const struct load_state *s, struct load_result *result);

/* Reads the text at an address up to its zero, as LOAD_TEXT does. The result has its first text_length bytes. */
bool load_text(const struct load_state *s, uint64_t address, struct load_result *result);

/* The same of a text of `length` bytes, which may have zeros. */
bool load_counted_text(const struct load_state *s, uint64_t address, uint64_t length, struct load_result *result);

#pragma GCC visibility pop

#endif
