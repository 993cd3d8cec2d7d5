/*
 * Writes a finished session again as a growing one, as its recorders could have written it. It claims, begins, fills
 * and ends chunks in an order that a seed decides.
 */
#ifndef DWELL_TESTS_GROWER_H
#define DWELL_TESTS_GROWER_H

#include <stdbool.h>
#include <stdint.h>

struct grower;

/* Copies the session at `from` to `to`. At first the copy has a header and no events. */
struct grower *grower_new(const char *from, const char *to, uint64_t seed);

/* Writes the next records, or all remaining ones if `rest`. Returns false when everything is written. */
bool grower_step(struct grower *g, bool rest);

/* Whether a record is partly written, as happens briefly while a recorder stores it. */
bool grower_is_in_parts(const struct grower *g);
void grower_free(struct grower *g);

#endif
