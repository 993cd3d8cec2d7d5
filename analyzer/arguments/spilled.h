/* Parameters that a compiler keeps elsewhere until the probe of the enter has been called, as clang without
 * optimisation does. */
#ifndef DWELL_ARGUMENTS_SPILLED_H
#define DWELL_ARGUMENTS_SPILLED_H

#include "arguments/hook_calls.h"
#include "arguments/load_program.h"
#include "arguments/stored.h"

struct spilled_parameter {
    unsigned number; /* of the register that the caller passes it in, as in code; or as below */
    bool vector;     /* a vector register */
    bool is_bool;    /* of which the code keeps the lowest bit */
    uint64_t size;
    struct frame_word home; /* where it is from its store behind the probe's call on */
};

/* A word of the frame, or a register that calls preserve, by its number in DWARF. The code may have changed the number
 * that is there: `undo` takes that back, from the lowest `bytes` on. */
struct spilled_place {
    bool in_register, vector;
    unsigned number;
    struct frame_word word;
    unsigned bytes;
    struct load_program undo; /* without what leaves the number; mostly empty */
};

/* Finds what has the parameter while the probe is called. The code before the call must copy the caller's register
 * there, and that behind it copy this to the parameter's own place, before anything else comes there. False if it does
 * something else. */
typedef bool spilled_finder(const struct image *image, const struct hook_call *call, const struct spilled_parameter *p,
                            struct spilled_place *found);

spilled_finder spilled_find_x86;

/* Finds what has at the call the lowest bytes of a register of the function's begin, whatever the code does behind the
 * call. The register has its number of DWARF, and `home` does not count. Words are told by the stack pointer. */
spilled_finder spilled_find_entered_x86;

#endif
