/*
 * Lets a finished session grow anew, as its writers might have made it: chunks are claimed, begun, written to and
 * ended, in an order that a seed decides.
 */
#ifndef DWELL_TESTS_GROWER_H
#define DWELL_TESTS_GROWER_H

#include <stdbool.h>
#include <stdint.h>

struct grower;

/* The session at `from`, anew at `to`: at first with its header and without events. */
struct grower *grower_new(const char *from, const char *to, uint64_t seed);

/* Writes on; false: all is written. `rest`: all of it. */
bool grower_step(struct grower *g, bool rest);

/* Some record is there in part, as it is for a moment while it is stored. */
bool grower_is_in_parts(const struct grower *g);
void grower_free(struct grower *g);

#endif
