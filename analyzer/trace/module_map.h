/* An index of a process' modules, for processes that have many. */
#ifndef DWELL_TRACE_MODULE_MAP_H
#define DWELL_TRACE_MODULE_MAP_H

#include "trace/session_file.h"

struct module_map;

/* The modules must be sorted by load time. The map refers to them. Returns NULL for a few modules, which need none. */
struct module_map *module_map_new(const struct trace_module *modules, size_t count);
void module_map_free(struct module_map *map);

/* The module that covers `address` and is nearest to `time`; the first of several. NULL if there is none. */
const struct trace_module *module_map_find(const struct module_map *map, uint64_t address, uint64_t time);

/* The distance of `time` from the module's life. A module is recorded a moment after it was loaded or unloaded. */
uint64_t trace_module_distance(const struct trace_module *m, uint64_t time);

#endif
