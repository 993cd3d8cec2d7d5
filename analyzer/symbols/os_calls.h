/* The functions of libc that are rows as calls of the operating system, though libc is not instrumented. */
#ifndef DWELL_SYMBOLS_OS_CALLS_H
#define DWELL_SYMBOLS_OS_CALLS_H

#include "symbols/symbols.h"

bool os_calls_is_libc(const char *path);

/* The number of the function of that name, whatever its version; negative if it is not such a function. */
int os_calls_number(const char *name);

/* The name of that number. Valid for ever. */
const char *os_calls_name(int number);

/* The place of one in libc. */
struct os_call_symbol {
    uint64_t offset; /* an address as in the file itself */
    int number;
};

/* All such functions of the file. Each address occurs once, with the first of its names in the list. Reads only what
 * the loader needs, as libc's debug information takes long to read. The caller frees the list. NULL if the file is not
 * libc, or not the recorded one. */
struct os_call_symbol *os_calls_of(const struct symbol_module *module, size_t *count);

#endif
