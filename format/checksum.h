/*
 * XXH64 with seed 0 (xxhash.com), for data whose length is a multiple of 32 bytes. It is several times as fast as
 * reading a file from memory, on any processor.
 */
#ifndef DWELL_CHECKSUM_H
#define DWELL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum { CHECKSUM_BLOCK = 32 };

/* Zeroed by checksum_begin only. */
struct checksum {
    uint64_t lanes[4];
    uint64_t length;
};

void checksum_begin(struct checksum *c);

/* `size` is a multiple of CHECKSUM_BLOCK. */
void checksum_add(struct checksum *c, const void *data, size_t size);

/* Adds data of any size, and zeros behind it up to a whole block. */
void checksum_add_padded(struct checksum *c, const void *data, size_t size);

uint64_t checksum_of(const struct checksum *c);

#endif
