/* Which functions an address lies in, inlined ones as well, by the debug information. */
#ifndef DWELL_SYMBOLS_SCOPES_H
#define DWELL_SYMBOLS_SCOPES_H

#include <elfutils/libdwfl.h>

#include "symbols/symbols.h"

struct scopes; /* of a module, read as they are asked for */

struct scopes *scopes_new(Dwfl_Module *module);
void scopes_free(struct scopes *scopes); /* NULL is none */

/* What is known of a call from `address` or, if it is inlined, of one whose place holds the address. Where the
 * functions' own code begins tells more of their names than these do: zero, if it is not known. */
struct scopes_site {
    struct symbol_site site;
    uint64_t function_at, outer_at;
};
struct scopes_site scopes_find(struct scopes *scopes, uint64_t address, bool inlined);

#endif
