/* How a program or library is instrumented, as far as its file tells. */
#ifndef DWELL_SYMBOLS_PROBE_CALLS_H
#define DWELL_SYMBOLS_PROBE_CALLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct probe_calls {
    bool mentioned;   /* a symbol table names the probe */
    bool counted;     /* this machine's code can be searched for calls: the rest is known */
    size_t calls;     /* of __cyg_profile_func_enter: instrumented functions, inlined copies too */
    size_t functions; /* of the symbol table that hold any of them; zero: there is no symbol table */
};

struct probe_calls probe_calls_count(Elf *elf);

#endif
