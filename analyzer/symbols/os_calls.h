/* The functions of libc that have rows as calls of the operating system, although libc is not instrumented. */
#ifndef DWELL_SYMBOLS_OS_CALLS_H
#define DWELL_SYMBOLS_OS_CALLS_H

#include "symbols/symbols.h"

bool os_calls_is_libc(const char *path);

/* The number of the function of that name, in any version; negative if it is not such a function. */
int os_calls_number(const char *name);

/* The name of that number. It is valid for ever. */
const char *os_calls_name(int number);

/* The address of such a function in libc. */
struct os_call_symbol {
    uint64_t offset; /* an address as in the file itself */
    int number;
};

/* All such functions of the file. Each address occurs once, with the first of its names in the list. Reads only the
 * dynamic symbols, since libc's debug information takes long to read. The caller frees the list. Returns NULL if the
 * file is not libc, or not the recorded one. */
struct os_call_symbol *os_calls_of(const struct symbol_module *module, size_t *count);

#endif
