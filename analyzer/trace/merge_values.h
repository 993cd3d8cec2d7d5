/* The values of arguments of several sessions in one: their plans become one plan, and rows get its numbers. */
#ifndef DWELL_TRACE_MERGE_VALUES_H
#define DWELL_TRACE_MERGE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/session_file.h"

struct merged_values {
    struct merged_function {
        uint8_t *entry; /* struct dwell_values_function with all that follows it */
        uint32_t first_site;
    } * functions;
    size_t function_count, function_room;
    uint32_t site_count;
    uint8_t *names; /* of enumerations */
    size_t names_size;
    uint16_t *sites; /* of the session that was added last: their numbers in the merged plan */
    size_t own_sites, sites_room;
};

/* Adds the plan of a session, or nothing if it has none. Returns false if a function is in several plans with different
 * values, or if there are too many places; then the error is set. */
bool merged_values_add(struct merged_values *m, const struct session_file *file, struct error *error);

/* Gives the rows of a chunk of that session their numbers. `chunk` is a multiple of 8. A damaged row ends the chunk.
 * Returns how many of the `end` bytes count. */
uint32_t merged_values_renumber(const struct merged_values *m, uint8_t *chunk, uint32_t end);

/* The plan's chunk, without its header's sizes, or NULL if there are no values. The caller frees it. */
uint8_t *merged_values_plan(const struct merged_values *m, size_t *size);

void merged_values_drop(struct merged_values *m);

#endif
