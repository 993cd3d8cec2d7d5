/* Unwinds a copy of a thread's registers and of the top of its stack, by the unwind tables of the binaries. */
#ifndef DWELL_SYMBOLS_UNWIND_H
#define DWELL_SYMBOLS_UNWIND_H

#include "symbols/symbols.h"

/* A module in memory. */
struct unwind_module {
    struct symbol_module module;
    uint64_t bias; /* an address in memory less that in the file */
    uint64_t begin, end;
};

/* What is unwound. */
struct unwind_copy {
    const uint64_t *registers; /* in the order of docs/format.md */
    uint32_t register_count;
    uint32_t words; /* of the stack from the stack pointer upwards */
    /* A word of the stack. */
    uint64_t (*word)(const void *context, uint32_t number);
    /* Fills *module. False if the address is in none. */
    bool (*find)(const void *context, uint64_t address, struct unwind_module *module);
    const void *context;
};

struct unwinder;

/* The binaries must stay valid. NULL if this machine cannot unwind. */
struct unwinder *unwinder_new(struct binaries *binaries);
void unwinder_free(struct unwinder *u);

/* Modules have other addresses from now on. */
void unwinder_forget(struct unwinder *u);

/* Writes the addresses of at most `most` frames, innermost first, which is where the thread was. The others are return
 * addresses. Returns their number, at least 1. */
size_t unwinder_run(struct unwinder *u, const struct unwind_copy *copy, uint64_t *addresses, size_t most);

#endif
