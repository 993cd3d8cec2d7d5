/* Where a function's result waits while the probe at its exit is called. */
#ifndef DWELL_ARGUMENTS_RESULT_FLOW_H
#define DWELL_ARGUMENTS_RESULT_FLOW_H

#include <stdbool.h>

#include "arguments/hook_calls.h"
#include "arguments/load_program.h"

/* Follows the code from a call of the probe to the function's end, and makes the program that leaves what rax (or xmm0
 * if `vector`) will hold there. `has_frame`: rbp is the frame's. False if the code does not show it. */
bool result_find(const struct image *image, const struct hook_call *call, bool vector, bool has_frame,
                 struct load_program *program);

#endif
