/*
 * The container in which a page of `dwell view` receives data: a JSON header and tables whose columns are arrays of
 * numbers, each in the smallest type that holds them. docs/view-format.md specifies the format.
 */
#ifndef DWELL_VIEW_CONTAINER_H
#define DWELL_VIEW_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

/* A column: one member of an array of structs, or an array of numbers. */
struct container_column {
    const char *name;
    const void *first; /* the member of the array's first element */
    size_t stride;     /* from one element to the next, in bytes */
    enum container_number { CONTAINER_U64, CONTAINER_U32, CONTAINER_I32 } number;
    const uint32_t *order; /* by row, the number of its element; NULL if row i is element i */
};

struct container_table {
    const char *name;
    size_t rows;
    const struct container_column *columns;
    size_t column_count;
};

/* Bytes of a known length. */
struct packed {
    char *bytes;
    size_t length;
};

/* Writes the container, compressed by gzip; packed_drop frees it. Takes the header, to which it adds "tables". Returns
 * false if the header has more than 4 GiB. */
bool container_pack(struct json_object *header, const struct container_table *tables, size_t count,
                    struct packed *packed);
void packed_drop(struct packed *packed);

#endif
