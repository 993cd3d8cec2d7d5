/*
 * Adds chunks of events to a profile: the inner loop of the analyzer.
 *
 * The children of a node are told apart by the function's address, as events name it; which module's function it is has
 * to be found out only when a node is made. Modules that came and went at the same place are kept apart by the
 * generation of the process' module map.
 */
#ifndef DWELL_PROFILE_COLLECTOR_H
#define DWELL_PROFILE_COLLECTOR_H

#include "base/index.h"
#include "profile/call_sites.h"
#include "profile/generations.h"
#include "profile/profile.h"
#include "profile/selection.h"
#include "trace/chunk_window.h"
#include "trace/stack.h"

struct collector_call;

struct collector {
    const struct session_file *file;
    const struct selection *selection; /* NULL for the whole session */
    uint64_t from, to;                 /* what is outside does not count */
    struct profile *profile;
    struct number_index *children; /* (address and generation, parent) -> node */
    struct chunk_window window;
    struct collector_call *stack; /* stack[0] is the thread's root */
    size_t depth, room;
    struct call_sites *sites; /* NULL unless they are asked for */
    /* of the chunk at hand */
    const struct trace_chunk *chunk;
    struct stack_state state;
    const struct trace_process *process;
    struct generations generations; /* of its module map */
};

/* `sites`: calls from different places are on different paths. */
void collector_begin(struct collector *c, const struct session_file *file, const struct selection *selection,
                     bool sites);
void collector_end(struct collector *c);

/* `whole`: all of the chunk is in the selection. */
void collector_add_chunk(struct collector *c, const struct trace_chunk *chunk, bool whole);

#endif
