/*
 * The numbers by which a fleet's store knows modules, functions and call paths. They are hashes of facts that all hosts
 * share: build-ids, addresses in modules, names. So equal things have equal numbers everywhere, without coordination.
 * docs/fleet.md defines them; a change makes another version of the schema.
 */
#ifndef DWELL_FLEET_IDS_H
#define DWELL_FLEET_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/names.h"

/* The number of a path without a caller. No function or path has it. */
enum { FLEET_NO_ID = 0 };

/* Of some bytes; not zero. */
uint64_t fleet_id_of_bytes(const void *bytes, size_t length);

/* Of two numbers, in this order; not zero. */
uint64_t fleet_id_of_two(uint64_t first, uint64_t second);

/* Of a module: of its build-id, or of its path if it has none. */
uint64_t fleet_module_id(const struct profile_module *module);

/* Of a function: of its module, name, file and line if they are known, which its copies share; else of its address. */
uint64_t fleet_function_id(uint64_t module, uint64_t address, const struct function_name *name);

/* Of a call path. `parent` is that of the caller, or FLEET_NO_ID; `sampled`: it is known by samples alone. */
uint64_t fleet_path_id(uint64_t parent, uint64_t module, uint64_t address, bool sampled);

#endif
