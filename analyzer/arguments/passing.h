/* How values of classes are passed and returned: in memory, or each eight bytes of them in a register. */
#ifndef DWELL_ARGUMENTS_PASSING_H
#define DWELL_ARGUMENTS_PASSING_H

#include "arguments/argument_type.h"

enum { PASSING_WORDS = 2, PASSING_IN_REGISTERS = 16 /* bytes at most */ };

enum passing_word { PASSING_NOTHING, PASSING_GENERAL, PASSING_VECTOR };

struct passing {
    bool known;
    bool by_address; /* of an object of the caller, as constructors must make copies; results have a place there, too */
    bool in_memory;  /* a copy on the stack, or a result at an address that the caller passes */
    bool floats;     /* it has nothing else */
    enum passing_word words[PASSING_WORDS]; /* of a class in registers */
};

/* Of a class, by the rules of x86-64. On aarch64, classes of floats have others, and words are general ones. */
struct passing passing_of_class(Dwarf_Die *stripped);

#endif
