/* A number for all that the sites of a module follow from: its code, the ranges of its functions, and its slots. It
 * does not depend on where the module lies. */
#ifndef DWELL_LEVELS_SITE_KEY_H
#define DWELL_LEVELS_SITE_KEY_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "checksum.h"
#include "levels/hook_places.h"

#pragma GCC visibility push(hidden)

enum { SITE_KEY_WORDS = CHECKSUM_BLOCK / sizeof(uint64_t) };

/* Zero before the first part. */
struct site_key {
    struct checksum sum;
    uint64_t words[SITE_KEY_WORDS]; /* that fill no block yet */
    uint32_t filled;
    uint64_t done;  /* bytes of code */
    uint32_t range; /* the next one */
    bool begun;
};

/* Adds the next part, which takes some tenths of a millisecond. Returns whether there is more to add. */
bool site_key_more(struct site_key *key, const struct hook_places *places, const struct dl_phdr_info *info);

uint64_t site_key_value(const struct site_key *key);

/* The number of some bytes. */
uint64_t site_key_of_bytes(const void *bytes, uint64_t size);

#pragma GCC visibility pop

#endif
