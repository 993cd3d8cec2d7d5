/* The functions of libc, and of libraries for OpenMP, that have rows as calls of the operating system, although these
 * libraries are not instrumented. */
#ifndef DWELL_SYMBOLS_OS_CALLS_H
#define DWELL_SYMBOLS_OS_CALLS_H

#include "symbols/symbols.h"

/* Whether it is libc, or a library for OpenMP. */
bool os_calls_is_library(const char *path);

/* The number of the function of that name, in any version; negative if it is not such a function. */
int os_calls_number(const char *name);

/* The name of that number. It is valid for ever. */
const char *os_calls_name(int number);

/* The address of such a function in its library. */
struct os_call_symbol {
    uint64_t offset; /* an address as in the file itself */
    int number;
};

/* All such functions of the file. Each address occurs once, with the first of its names in the list. Reads only the
 * dynamic symbols, since libc's debug information takes long to read. The caller frees the list. Returns NULL if the
 * file is no such library, or not the recorded one. */
struct os_call_symbol *os_calls_of(const struct symbol_module *module, size_t *count);

#endif
