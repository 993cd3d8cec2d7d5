/*
 * Adds chunks of events to a profile: the inner loop of the analyzer.
 *
 * Addresses of functions distinguish the children of a node. The module of a function is looked up only when its node
 * is made. The generation of the process' module map is part of the key, since modules can follow each other at one
 * address.
 */
#ifndef DWELL_PROFILE_COLLECTOR_H
#define DWELL_PROFILE_COLLECTOR_H

#include "base/index.h"
#include "profile/generations.h"
#include "profile/profile.h"
#include "profile/sampled_paths.h"
#include "profile/selection.h"
#include "profile/site_paths.h"
#include "trace/chunk_window.h"
#include "trace/stack.h"

struct call_noter;
struct collector_call;
struct collector_durations;
struct waits;

struct collector {
    const struct session_file *file;
    const struct selection *selection; /* NULL for the whole session */
    uint64_t from, to;                 /* only this range of time counts */
    const struct thread_range *ranges; /* and within it only these ranges of the chunk's thread; NULL for all of it */
    size_t range_count, next_range;    /* the next range that has not ended before the current interval */
    struct profile *profile;
    struct number_index *children; /* (address and generation, parent) -> node */
    struct chunk_window window;
    struct collector_call *stack; /* stack[0] is the thread's root */
    size_t depth, room;
    struct call_sites *sites; /* NULL if paths do not include call sites */
    struct sampled_paths sampled;
    struct waits *waits;                   /* if set, waits are added here; see waits.h */
    struct period_sums *periods;           /* if set, `from` and `to` are the current period; see periods.h */
    struct collector_durations *durations; /* if set, all chunks count as a whole; see collector_durations.h */
    struct call_noter *noter;              /* if set, all chunks count as a whole; see collector_noted.h */
    uint64_t chunk_number;                 /* of the current chunk among those of its thread; set by the owner */
    /* of the current chunk */
    const struct trace_chunk *chunk;
    struct stack_state state;
    const struct trace_process *process;
    struct generations generations; /* of the process' module map */
    bool found_waits;               /* or objects; not known of a chunk that does not count as a whole */
};

/* With `sites`, calls from different call sites are on different paths. */
void collector_begin(struct collector *c, const struct session_file *file, const struct session_samples *samples,
                     const struct selection *selection, bool sites);
void collector_end(struct collector *c);

/* Goes on with a profile without threads. Not with sites or periods, which have nodes of it. */
void collector_clear(struct collector *c);

/* `whole` promises that all of the chunk is in the selection. Returns whether the chunk could be read. */
bool collector_add_chunk(struct collector *c, const struct trace_chunk *chunk, bool whole);

#endif
