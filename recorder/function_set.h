/* A set of functions by module and offset. Safe in any thread. */
#ifndef DWELL_RECORDER_FUNCTION_SET_H
#define DWELL_RECORDER_FUNCTION_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/symbols.h"

struct function_set;

struct function_set *function_set_new(void);

/* Does nothing with NULL. */
void function_set_free(struct function_set *s);

void function_set_add(struct function_set *s, const struct symbol_module *module, uint64_t offset);

/* Without build-ids, a module of the same path is taken for the same build. */
bool function_set_has(struct function_set *s, const struct symbol_module *module, uint64_t offset);

#endif
