/* The registers in which a caller passes parameters on x86-64. */
#ifndef DWELL_ARGUMENTS_CALLER_REGISTERS_H
#define DWELL_ARGUMENTS_CALLER_REGISTERS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "arguments/passing.h"
#include "arguments/spilled.h"

/* A parameter: the words that it has, each of at most eight bytes. */
struct caller_registers {
    struct spilled_parameter words[PASSING_WORDS];
    unsigned count;
    bool is_address; /* of a class: the one word is its address */
};

/* False if it is passed otherwise, or what is passed before it is not known. */
bool caller_registers_find(const Dwarf_Die *function, const char *name, struct caller_registers *found);

#endif
