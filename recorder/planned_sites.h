/* Calls of chosen functions without probes in the module that calls them. */
#ifndef DWELL_RECORDER_PLANNED_SITES_H
#define DWELL_RECORDER_PLANNED_SITES_H

#include <stdio.h>

#include "dwell/format.h"
#include "recorder/planned_calls.h"

/* Writes the functions and the sites of a module with probes as a plan has them, and sets their numbers. `order` is
 * that of modules in which the loader looks names up; NULL: as they were added. */
void planned_sites_put(struct planned_calls *c, const uint32_t *order, const struct calling_module *module,
                       struct dwell_calls_module *head, FILE *out);

#endif
