/* Whether a parameter that has a place in the frame is there already when a probe is called. */
#ifndef DWELL_ARGUMENTS_STORED_H
#define DWELL_ARGUMENTS_STORED_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/image.h"

/* A word of the frame: the register of the frame or, if `by_stack`, the stack pointer, plus an offset, at the call of
 * the probe. */
struct frame_word {
    bool by_stack;
    int64_t offset;
};

/* Whether the code from `begin` to the call at `at` stores into the word. */
typedef bool stored_finder(const struct image *image, uint64_t begin, uint64_t at, struct frame_word word);

stored_finder stored_before_x86, stored_before_aarch64;

#endif
