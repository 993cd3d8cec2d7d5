/* ClickHouse's format RowBinary: columns one after the other, numbers with the lowest byte first, texts and lists after
 * their length. Any byte can be in a text, so nothing is escaped. */
#ifndef DWELL_FLEET_BINARY_H
#define DWELL_FLEET_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- writing ---- */

struct binary_rows {
    uint8_t *bytes;
    size_t length, room;
};

void binary_put(struct binary_rows *rows, uint64_t number, unsigned size);
void binary_put_length(struct binary_rows *rows, uint64_t length);
void binary_put_text(struct binary_rows *rows, const char *text);
void binary_put_bytes(struct binary_rows *rows, const void *bytes, size_t length);
void binary_put_double(struct binary_rows *rows, double number);
void binary_drop(struct binary_rows *rows);

/* ---- reading ---- */

/* An answer that ends early, or that cannot be, is broken: then all numbers are zero and all texts empty. */
struct binary_reader {
    FILE *in;
    bool broken;
};

/* Whether another row follows. */
bool binary_has_row(struct binary_reader *r);
uint64_t binary_get(struct binary_reader *r, unsigned size);
void binary_skip(struct binary_reader *r, size_t length);
double binary_get_double(struct binary_reader *r);

/* A length or a count of at most 1 GiB. */
size_t binary_get_length(struct binary_reader *r);

/* The caller frees it. NULs are part of its bytes; *length may be NULL. */
char *binary_get_text(struct binary_reader *r, size_t *length);

#endif
