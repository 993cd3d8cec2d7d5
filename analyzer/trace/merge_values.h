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
        uint32_t flags; /* DWELL_VALUES_FLAGS, which the entry is without */
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

/* A plan whose functions are to be added. */
struct merged_plan {
    uint8_t *data; /* a plan chunk; its functions lose their flags */
    size_t end;
    size_t *numbers; /* in the merged plan, of those that are whole; the caller frees it */
    size_t count;
    const uint8_t *refused; /* the function that the merged plan has with other values, or NULL */
};

/* Adds the functions of a plan behind those that there are. Their flags are those in `functions`. Returns false if one
 * is refused, or if there are too many places. */
bool merged_values_add_plan(struct merged_values *m, struct merged_plan *plan);

/* The number of the function that an entry is about, whatever its values are; function_count if there is none. */
size_t merged_values_find(const struct merged_values *m, const uint8_t *entry);

/* Gives the rows of a chunk of that session their numbers. `chunk` is a multiple of 8. A damaged row ends the chunk.
 * Returns how many of the `end` bytes count. */
uint32_t merged_values_renumber(const struct merged_values *m, uint8_t *chunk, uint32_t end);

/* The plan's chunk, without its header's sizes, or NULL if there are no values. The caller frees it. */
uint8_t *merged_values_plan(const struct merged_values *m, size_t *size);

void merged_values_drop(struct merged_values *m);

#endif
