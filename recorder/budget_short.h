/* Reads the code of modules for functions that are too short (symbols/short_code.h), in a thread of its own, so that
 * the overhead budget does not wait. */
#ifndef DWELL_RECORDER_BUDGET_SHORT_H
#define DWELL_RECORDER_BUDGET_SHORT_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/short_code.h"

struct budget_short;

/* NULL if the system refuses a thread. */
struct budget_short *budget_short_start(void);

/* Asks for the module with that number, whose file is `file`, which is freed. Does nothing with NULL. */
void budget_short_ask(struct budget_short *s, uint32_t module, char *file);

/* Takes the functions of a module that was read, or returns false. The caller frees them. */
bool budget_short_take(struct budget_short *s, uint32_t *module, struct short_code *found);

/* Does nothing with NULL. */
void budget_short_stop(struct budget_short *s);

#endif
