/* Numbers for modules, in the order in which they are added. Without build-ids, a module of the same path is taken for
 * the same build. */
#ifndef DWELL_RECORDER_MODULE_NUMBERS_H
#define DWELL_RECORDER_MODULE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/symbols.h"

/* All zero at first. */
struct module_numbers {
    struct symbol_module *list; /* by number, with texts of their own */
    size_t count, room;
};

/* The module's number, or the count if it has none. */
size_t module_numbers_find(const struct module_numbers *numbers, const struct symbol_module *m);

/* The module's number. It gets the next one if it has none. */
uint32_t module_numbers_add(struct module_numbers *numbers, const struct symbol_module *m);

void module_numbers_drop(struct module_numbers *numbers);

#endif
