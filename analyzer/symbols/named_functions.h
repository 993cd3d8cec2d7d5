/* All functions that the symbols of a module name, also those without probes. */
#ifndef DWELL_SYMBOLS_NAMED_FUNCTIONS_H
#define DWELL_SYMBOLS_NAMED_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct named_symbol {
    uint64_t address; /* as in the file */
    const char *name; /* linkage name */
    bool local;       /* other units may have another function of that name */
};

struct named_functions {
    struct named_symbol *list; /* by address: a function may have several names */
    size_t count, room;
    struct named_symbol *by_name;
};

/* The names are valid as long as the module. There are none if it is stripped. */
struct named_functions named_functions_find(Dwfl_Module *module);
void named_functions_drop(struct named_functions *f);

/* The index of the first function at that address or behind it. */
size_t named_functions_at(const struct named_functions *f, uint64_t address);

/* Whether a compiler has made the name: that of a part of another function, or of a copy of it (f.cold, f.part.0). */
bool named_symbol_is_part(const char *name);

/* Takes the addresses of the functions that the code at an address is a part of, by its names. Stops when `take`
 * returns true, and then does, too. */
typedef bool named_symbol_taker(void *context, uint64_t address);
bool named_functions_each_whole(const struct named_functions *f, uint64_t address, named_symbol_taker *take,
                                void *context);

#endif
