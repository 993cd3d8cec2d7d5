/* Finds the functions that contain an address, including inlined ones, in the debug information. */
#ifndef DWELL_SYMBOLS_SCOPES_H
#define DWELL_SYMBOLS_SCOPES_H

#include <elfutils/libdwfl.h>

#include "symbols/symbols.h"

struct scopes; /* of a module; read when they are needed */

struct scopes *scopes_new(Dwfl_Module *module);
void scopes_free(struct scopes *scopes); /* does nothing with NULL */

/* The site of a call from `address` or, if `inlined`, of the inlined call that contains the address. Also has the
 * addresses at which the functions begin, from which better names can be found; zero if unknown. */
struct scopes_site {
    struct symbol_site site;
    uint64_t function_at, outer_at;
};
struct scopes_site scopes_find(struct scopes *scopes, uint64_t address, bool inlined);

#endif
