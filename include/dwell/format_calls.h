/* Calls into libraries (`dwell record --calls-to`): which slots of modules' tables of addresses lead to them. Part of
 * format.h. */
#ifndef DWELL_FORMAT_CALLS_H
#define DWELL_FORMAT_CALLS_H

#include "dwell/format.h"

enum {
    DWELL_CALLS_STACK = 128,       /* bytes of arguments on the stack, if nothing is known about them */
    DWELL_CALLS_STACK_MOST = 1024, /* functions that may take more are not recorded */
};

/* A plan chunk. The recorder writes it before the program starts; dwell_file_more.calls is its offset. The modules
 * follow one after another. */
struct dwell_calls_plan {
    struct dwell_chunk_header chunk;
    uint32_t modules;
    uint32_t pad;
};

/* A module that has probes. Then its build-id and path, zeros up to a multiple of 8, and its slots by address. */
struct dwell_calls_module {
    uint32_t size; /* of the whole entry; a multiple of 8 */
    uint16_t build_id_length, path_length;
    uint32_t slots;
    uint32_t pad;
};

/* A slot that leads to a function's code, and that only calls and jumps read. */
struct dwell_calls_slot {
    uint64_t address;          /* of the slot, as a virtual address */
    uint32_t stack_bytes;      /* of the arguments on the stack: a multiple of 16, at most DWELL_CALLS_STACK_MOST */
    uint16_t frame_bytes;      /* not less than this, a multiple of 16, ... */
    uint16_t to_frame_pointer; /* ... and only up to rbp, if this is set and rbp is above */
};

_Static_assert(sizeof(struct dwell_calls_plan) == 72, "the plan's layout is fixed");
_Static_assert(sizeof(struct dwell_calls_module) == 16, "a module's layout is fixed");
_Static_assert(sizeof(struct dwell_calls_slot) == 16, "a slot's layout is fixed");

#endif
