/* Finds how a program or library is instrumented, from its file only. */
#ifndef DWELL_SYMBOLS_INSTRUMENTATION_H
#define DWELL_SYMBOLS_INSTRUMENTATION_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct instrumentation {
    bool mentioned;   /* a symbol table names the probe */
    bool counted;     /* the code is for this machine and could be searched, so the other members are known */
    size_t calls;     /* of __cyg_profile_func_enter: the instrumented functions and their inlined copies */
    size_t functions; /* functions of the symbol table that have such a call; zero without a symbol table */
};

struct instrumentation instrumentation_count(Elf *elf);

#endif
