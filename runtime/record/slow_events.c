/* How the probes hand an event to the slow path. This file and the probes use no vector registers, as the stubs of
 * calls (call_stubs.c) keep none for them. */
#include "keep_vectors.h"
#include "slow.h"

void slow_take(const struct event *event);
KEEPS_VECTORS(slow_take, slow_take_event);

void slow_enter(uint64_t function, uint64_t stack_pointer, uint64_t frame_id)
{
    slow_take(&(struct event){
        .function = function,
        .stack_pointer = stack_pointer,
        .frame_id = frame_id,
        .enter = true,
    });
}

void slow_count(uint64_t function, uint64_t stack_pointer)
{
    slow_take(&(struct event){ .function = function, .stack_pointer = stack_pointer, .enter = true, .counted = true });
}

void slow_enter_from(uint64_t function, uint64_t stack_pointer, uint64_t frame_return, uint64_t probe_return)
{
    slow_take(&(struct event){
        .function = function,
        .stack_pointer = stack_pointer,
        .frame_id = frame_id_of(frame_return, probe_return),
        .origin = { frame_return, probe_return },
        .enter = true,
    });
}

void slow_exit(uint64_t function, uint64_t stack_pointer, bool tail_call)
{
    slow_take(&(struct event){ .function = function, .stack_pointer = stack_pointer, .tail_call = tail_call });
}

void slow_exit_os_call(uint64_t function, uint64_t stack_pointer, const struct object *object, bool flagged)
{
    slow_take(
        &(struct event){ .function = function, .stack_pointer = stack_pointer, .flagged = flagged, .object = object });
}
