/* Makes programs of loads, and describes them. load_run.h runs them. */
#ifndef DWELL_ARGUMENTS_LOAD_PROGRAM_H
#define DWELL_ARGUMENTS_LOAD_PROGRAM_H

#include "load_run.h"

/* Appends an instruction. False if there are too many. */
bool load_add(struct load_program *p, enum load_op op, unsigned operand, int64_t number);

/* Append the instructions that leave the word below `above` others once more; exchange the two uppermost words; and
 * leave out the uppermost. False if there are no such words, or too many instructions. */
bool load_add_copy(struct load_program *p, unsigned above);
bool load_swap(struct load_program *p);
bool load_drop(struct load_program *p);

/* The names of a machine's registers, in the order of DWARF. */
struct load_names {
    const char *general[LOAD_REGISTERS];
    const char *vector; /* before their numbers */
};

extern const struct load_names load_names_x86, load_names_aarch64;

/* The program for people, such as "4 bytes at rsp+12". NULL if it is not well. The caller frees it. */
char *load_describe(const struct load_program *p, const struct load_names *names);

#endif
