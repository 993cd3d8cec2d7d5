/* Pointers to the end of an object on the stack, with which loops compare. */
#ifndef DWELL_ARGUMENTS_END_POINTER_H
#define DWELL_ARGUMENTS_END_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/image.h"

struct callee_function {
    const struct image *image;
    uint64_t begin, end;
};

/* Whether code of x86-64 does nothing but compare with a general register, until it has another value. From the
 * instruction at `from` on. */
bool end_pointer_is_compared(const struct callee_function *f, uint64_t from, uint8_t reg);

#endif
