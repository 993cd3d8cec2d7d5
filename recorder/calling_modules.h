/* The modules of a program, with the functions that they have for each other (`dwell record --calls-to`). */
#ifndef DWELL_RECORDER_CALLING_MODULES_H
#define DWELL_RECORDER_CALLING_MODULES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/binary_parts.h"

struct calling_module {
    char *path;
    uint8_t id[64];
    struct symbol_module symbols;
    struct binaries *binaries;
    struct binary_parts parts;
    Elf *elf;         /* NULL if it cannot be read */
    bool probes;      /* it has some */
    bool is_runtime;  /* libdwell.so */
    bool has_runtime; /* it contains libdwell.a */
    bool opens;       /* it loads libraries by itself (dlopen) */
};

/* A function that a module has. */
struct called_function {
    const char *name;
    uint64_t offset; /* in the file's addresses */
    uint32_t module;
};

struct calling_modules {
    struct calling_module **list;
    size_t count, room;
    struct called_function *functions; /* by name, then by module */
    size_t function_count, function_room;
    bool sorted;
};

enum { CALLING_NONE = UINT32_MAX };

/* Adds the file, unless it is there. Returns its index; CALLING_NONE if there is no such file. */
uint32_t calling_modules_add(struct calling_modules *c, const char *path);

/* The order in which the loader looks for functions: those of the module `first`, then those of the libraries that it
 * is linked with, and so on. Modules that `order` has already keep their places. `order` has a number for each module,
 * CALLING_NONE at first. `next` is the next number; the function returns the one after it. */
uint32_t calling_modules_order(const struct calling_modules *c, uint32_t first, uint32_t *order, uint32_t next);

/* The module of the function that the loader would find if there were no runtime; NULL if none has it. With an order of
 * NULL, modules come as they were added. */
const struct calling_module *calling_modules_find(struct calling_modules *c, const uint32_t *order, const char *name);

/* Whether the runtime takes the place of the function. */
bool calling_modules_interpose(struct calling_modules *c, const char *name);

void calling_modules_drop(struct calling_modules *c);

#endif
