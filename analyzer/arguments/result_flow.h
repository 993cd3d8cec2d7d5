/* Where a function's result waits while the probe at its exit is called. */
#ifndef DWELL_ARGUMENTS_RESULT_FLOW_H
#define DWELL_ARGUMENTS_RESULT_FLOW_H

#include <stdbool.h>

#include "arguments/hook_calls.h"
#include "arguments/load_program.h"

/* The first or second register of results, or of those in floating point: rax, rdx, xmm0, xmm1; x0, x1, v0, v1. `wide`:
 * that of a long double, which is loaded from memory: st0, or all of v0. */
struct result_register {
    bool vector;
    unsigned number;
    bool wide;
};

/* Follows the code from a call of the probe to the function's end, and makes the program that leaves what a register of
 * results will hold there; of a wide one, the address that it will be loaded from. `has_frame`: the register of the
 * frame has it. False if the code does not show it. */
typedef bool result_finder(const struct image *image, const struct hook_call *call, struct result_register wanted,
                           bool has_frame, struct load_program *program);

result_finder result_find_x86, result_find_aarch64;

#endif
