/* The functions of libc that are rows as calls of the operating system, though libc is not instrumented. */
#ifndef DWELL_SYMBOLS_OS_CALLS_H
#define DWELL_SYMBOLS_OS_CALLS_H

#include "symbols/symbols.h"

bool os_calls_is_libc(const char *path);

/* A function's place in the list of them, whatever its version; negative: it is none. */
int os_calls_number(const char *name);

/* Its name, which stays. */
const char *os_calls_name(int number);

/* Where libc has one. */
struct os_call_symbol {
    uint64_t offset; /* in the file's own terms */
    int number;
};

/* All that the file has, each address once, by the first of its names in the list: from what the loader needs of it
 * alone, as libc's debug information takes long to read. To be freed; NULL if it is not libc, or not the recorded one.
 */
struct os_call_symbol *os_calls_of(const struct symbol_module *module, size_t *count);

#endif
