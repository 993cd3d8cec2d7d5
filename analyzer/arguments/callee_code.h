/* What the code of a function does with its caller's frame: a stub between the two has one of its own. */
#ifndef DWELL_ARGUMENTS_CALLEE_CODE_H
#define DWELL_ARGUMENTS_CALLEE_CODE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/image.h"

struct callee_code {
    bool looks_at_caller;   /* it uses the return address */
    bool removes_arguments; /* it ends with `ret $N` */
    bool own_rules;         /* it uses registers of SVE, which the system does not keep in its calls */
    bool takes_address;     /* of its arguments on the stack: how many it reads there is not known */
    bool any_number;        /* it asks for the number of vector registers, as functions with `...` do */
    uint64_t bytes;         /* of arguments on the stack, up to the last one that an instruction names */
};

/* Of the code from `begin` to `end`. The unwind table says where the caller's frame ends; without one (NULL), only the
 * end of the function is looked at. */
struct callee_code callee_code_read(const struct image *image, Dwarf_CFI *cfi, uint64_t begin, uint64_t end);

/* Whether code may copy more bytes at once to the stack, as the arguments of a call. */
bool callee_code_hands_over(const struct image *image, uint64_t begin, uint64_t end, uint32_t bytes);

/* Whether the code behind a call uses flags that the function, or code before the call, has set. */
bool callee_code_leaves_flags(const struct image *image, uint64_t behind, uint64_t end);

/* The same on aarch64. */
struct callee_code callee_code_read_aarch64(const struct image *image, Dwarf_CFI *cfi, uint64_t begin, uint64_t end);
bool callee_code_leaves_flags_aarch64(const struct image *image, uint64_t behind, uint64_t end);
bool callee_code_has_sve(const struct image *image, uint64_t begin, uint64_t end);

#endif
