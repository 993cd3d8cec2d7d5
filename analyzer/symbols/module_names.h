/*
 * The names and lines of all functions of modules, found step by step. The recorder does so while the program runs, and
 * completes it at the end. Not thread-safe: one thread at a time.
 */
#ifndef DWELL_SYMBOLS_MODULE_NAMES_H
#define DWELL_SYMBOLS_MODULE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/symbols.h"

struct found_function {
    uint64_t offset; /* as in the file itself */
    struct symbol symbol;
};

struct module_names;

/* Files that cannot be used are not reported, until module_names_binaries is called. */
struct module_names *module_names_new(void);
void module_names_free(struct module_names *names);

/* The binaries in which the names are found. They are open, and say what was read of them. */
struct binaries *module_names_binaries(struct module_names *names);

/* Remembers a module; its texts are copied. */
void module_names_add(struct module_names *names, const struct symbol_module *module);

/* Does the next part of the work. Returns false if nothing is left. */
bool module_names_step(struct module_names *names);

/* The number of functions of the module; zero if it is not instrumented. */
size_t module_names_count(struct module_names *names, const struct symbol_module *module);

/* All functions that have names, by offset; each once. Finds those that are missing. The list and its texts are valid
 * as long as `names`. */
const struct found_function *module_names_all(struct module_names *names, const struct symbol_module *module,
                                              size_t *count);

/* The function at `offset`, with its line. A function whose name was found is not looked for again. */
struct symbol module_names_find(struct module_names *names, const struct symbol_module *module, uint64_t offset);

/* The module's functions that are recorded as calls of the OS: os_calls_of. */
const struct os_call_symbol *module_names_os_calls(struct module_names *names, const struct symbol_module *module,
                                                   size_t *count);

#endif
