/* Whether a stub can stand between a function and the direct calls of it in its own binary. */
#ifndef DWELL_ARGUMENTS_DIRECT_CALLEE_H
#define DWELL_ARGUMENTS_DIRECT_CALLEE_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "arguments/callee_code.h"
#include "symbols/direct_calls.h"
#include "symbols/image.h"

struct direct_callee {
    uint64_t function;               /* its code */
    const struct direct_call *calls; /* all of them, of `found` */
    size_t count;
    struct callee_code code; /* set by direct_callee_reason */
};

/* Why a stub cannot, by the code; NULL if it can. `cfi` may be NULL. */
const char *direct_callee_reason(struct direct_callee *callee, struct direct_calls *found, const struct image *image,
                                 Dwarf_CFI *cfi);

#endif
