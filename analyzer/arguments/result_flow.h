/* Where a function's result waits while the probe at its exit is called. */
#ifndef DWELL_ARGUMENTS_RESULT_FLOW_H
#define DWELL_ARGUMENTS_RESULT_FLOW_H

#include <stdbool.h>

#include "arguments/hook_calls.h"
#include "arguments/load_program.h"

/* Follows the code from a call of the probe to the function's end, and makes the program that leaves what the register
 * of results (that of floating point if `vector`) will hold there. `has_frame`: the register of the frame has it. False
 * if the code does not show it. */
typedef bool result_finder(const struct image *image, const struct hook_call *call, bool vector, bool has_frame,
                           struct load_program *program);

result_finder result_find_x86, result_find_aarch64;

#endif
