/* Functions that cannot be worth a clock, by their code: they have few instructions, no loop, and no call but those of
 * the probes. */
#ifndef DWELL_SYMBOLS_SHORT_CODE_H
#define DWELL_SYMBOLS_SHORT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct short_code {
    uint64_t *functions; /* virtual addresses in the file, ascending */
    size_t count, room;
};

/* Finds the functions of an instrumented binary. There are none if it is not for x86-64, has no unwind table, or cannot
 * be read. Ends early when *stop is not zero, unless `stop` is NULL. The caller frees `functions`. */
struct short_code short_code_find(const char *path, const uint32_t *stop);

#endif
