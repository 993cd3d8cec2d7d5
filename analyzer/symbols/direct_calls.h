/* Calls of functions of the same binary, in its functions with probes. */
#ifndef DWELL_SYMBOLS_DIRECT_CALLS_H
#define DWELL_SYMBOLS_DIRECT_CALLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/image.h"
#include "symbols/named_functions.h"
#include "symbols/probe_targets.h"

enum direct_kind {
    DIRECT_CALL,
    DIRECT_JUMP,   /* the last call of a function */
    DIRECT_BRANCH, /* a jump on a condition */
};

struct direct_call {
    uint64_t at, next; /* the instruction, and the one behind it */
    uint64_t target;
    enum direct_kind kind;
};

struct direct_calls {
    struct probe_targets targets;
    struct direct_call *list; /* by target and address */
    size_t count, room;
    uint64_t *addresses; /* of code, that functions with probes take; ascending */
    size_t address_count, address_room;
    struct direct_range {
        uint64_t begin, end;
        bool probes;
    } * ranges; /* the code that the unwind table has as one function, by address */
    size_t range_count, range_room;
    size_t unread; /* functions with probes that have other bytes than known instructions */
};

/* Reads all functions of the unwind table. A part of a function with probes counts as one, by its name. Addresses are
 * as in the file itself. */
struct direct_calls direct_calls_find(Elf *elf, const struct image *image, const struct named_functions *functions);
void direct_calls_drop(struct direct_calls *d);

/* Whether the code at the address is that of a function with probes. */
bool direct_calls_have_probes(const struct direct_calls *d, uint64_t address);

/* The code of the function there. NULL if it is not known. */
const struct direct_range *direct_calls_range(const struct direct_calls *d, uint64_t address);

/* Whether functions with probes take the address, to call it through a pointer or for any other use. */
bool direct_calls_take_address(const struct direct_calls *d, uint64_t address);

/* Whether the code there goes on with another stack, as functions for fibers do. Functions that restore the stack
 * pointer after an array of variable size without a frame pointer count as such, too. */
bool direct_code_switches_stacks(struct direct_calls *d, const struct image *image, uint64_t address);

#endif
