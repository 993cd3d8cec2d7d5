/*
 * The open calls of a thread between two of its events. A reader keeps them to continue there later.
 */
#ifndef DWELL_TRACE_OPEN_STACK_H
#define DWELL_TRACE_OPEN_STACK_H

#include "trace/stack.h"

/* All zero at first. */
struct open_stack {
    struct stack_state state;
    uint32_t upper[2];          /* upper halves of addresses, for the next event */
    struct dwell_frame *frames; /* the open calls, outermost first */
    uint32_t depth;
    size_t room;
};

void open_stack_free(struct open_stack *s);

/* Sets the stack to that of the chunk's start. `bytes` is the beginning of the chunk, including its frames. */
void open_stack_begin(struct open_stack *s, const struct trace_chunk *chunk, const uint8_t *bytes);

/* Applies the events of the records. Returns false if they are damaged. */
bool open_stack_follow(struct open_stack *s, const uint8_t *records, uint32_t size);

/* Makes `to` the same as `from`, in memory of its own. */
void open_stack_copy(struct open_stack *to, const struct open_stack *from);

#endif
