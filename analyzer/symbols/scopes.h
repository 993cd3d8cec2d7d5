/* Finds the functions that contain an address, including inlined ones, in the debug information. */
#ifndef DWELL_SYMBOLS_SCOPES_H
#define DWELL_SYMBOLS_SCOPES_H

#include "symbols/compile_units.h"
#include "symbols/symbols.h"

/* The site of a call from `address` or, if `inlined`, of the inlined call that contains the address. Also has the
 * addresses at which the functions begin, from which better names can be found; zero if unknown. */
struct scopes_site {
    struct symbol_site site;
    uint64_t function_at, outer_at;
};
struct scopes_site scopes_find(struct units *units, uint64_t address, bool inlined);

enum { SCOPES_MOST = 64 }; /* nested calls */

/* The functions that contain an address, outermost first. All others are inlined. */
struct scope_chain {
    Dwarf_Die functions[SCOPES_MOST];
    int count;
};
struct scope_chain scopes_chain(struct unit *unit, uint64_t address);

/* The linkage name of a function, or its name. NULL if it has none. */
const char *scopes_function_name(Dwarf_Die *function);

#endif
