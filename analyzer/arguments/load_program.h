/* Makes programs of loads, and describes them. load_run.h runs them. */
#ifndef DWELL_ARGUMENTS_LOAD_PROGRAM_H
#define DWELL_ARGUMENTS_LOAD_PROGRAM_H

#include "load_run.h"

/* Appends an instruction. False if there are too many. */
bool load_add(struct load_program *p, enum load_op op, unsigned operand, int64_t number);

/* The names of a machine's registers, in the order of DWARF. */
struct load_names {
    const char *general[LOAD_REGISTERS];
    const char *vector; /* before their numbers */
};

extern const struct load_names load_names_x86, load_names_aarch64;

/* The program for people, such as "4 bytes at rsp+12". NULL if it is not well. The caller frees it. */
char *load_describe(const struct load_program *p, const struct load_names *names);

#endif
