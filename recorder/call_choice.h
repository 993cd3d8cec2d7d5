/* Which functions without probes are chosen by the options, for planned_calls.c and planned_sites.c. */
#ifndef DWELL_RECORDER_CALL_CHOICE_H
#define DWELL_RECORDER_CALL_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "arguments/call_frames.h"
#include "arguments/stack_arguments.h"
#include "dwell/format.h"
#include "recorder/planned_calls.h"

/* Whether a pattern names the function. */
bool calls_are_named(struct planned_calls *c, const struct calling_module *of, const char *name);

/* Why calls of the function of another module are left alone; NULL if they are not. */
const char *calls_reason(struct planned_calls *c, const char *name);

/* Notes for each pattern that names the function what becomes of it. After calls_are_named, for the same function. */
void calls_note(struct planned_calls *c, const char *name, const char *reason);

/* Whether a pattern that names the function has named others whose calls are recorded. After calls_are_named, for the
 * same function. */
bool calls_have_others(const struct planned_calls *c);

/* Whether the library's functions take few arguments, all of which are numbers and addresses, unless they take any
 * number. */
bool calls_are_to_plain_library(const struct calling_module *of);

/* The bytes of arguments on the stack. Zero is a size, too: UINT32_MAX for a function that may take more than a stub
 * copies. *exact is cleared if most calls may have less. */
uint32_t calls_stack_bytes(const struct stack_arguments *declared, const struct calling_module *module,
                           const char *name, bool *exact);

/* Arguments are no further from the stack pointer than the end of the caller's frame. */
void calls_bound_by(struct dwell_calls_stack *stack, const struct call_frame *frame);

#endif
