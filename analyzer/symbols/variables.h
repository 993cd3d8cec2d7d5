/* The variables of a binary's symbol table. */
#ifndef DWELL_SYMBOLS_VARIABLES_H
#define DWELL_SYMBOLS_VARIABLES_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

struct variables; /* of a module; their names are libdw's */

struct variables *variables_new(Dwfl_Module *module);
void variables_free(struct variables *v); /* does nothing with NULL */

/* The name of the variable that contains an address as in the file itself. NULL if there is none. *inside is the
 * distance from its start. */
const char *variables_find(const struct variables *v, uint64_t address, uint64_t *inside);

#endif
