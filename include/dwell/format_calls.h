/* Calls of functions without probes (`dwell record --calls-to`): which slots of modules' tables of addresses lead to
 * those of libraries, and which instructions call those of the same module. Part of format.h. */
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

/* A module that has probes. Then its build-id and path, zeros up to a multiple of 8, its slots by address, its
 * functions, and its sites by address. */
struct dwell_calls_module {
    uint32_t size; /* of the whole entry; a multiple of 8 */
    uint16_t build_id_length, path_length;
    uint32_t slots, functions, sites;
    uint32_t pad;
};

/* What is copied of the arguments on the stack. */
struct dwell_calls_stack {
    uint32_t bytes;           /* at most: a multiple of 16, not above DWELL_CALLS_STACK_MOST */
    uint16_t frame_bytes;     /* not less than this, a multiple of 16, ... */
    uint8_t to_frame_pointer; /* ... and only up to rbp, if this is set and rbp is above */
    uint8_t own;              /* of a slot: its function can be one of the module itself */
};

/* A slot that leads to a function's code, and that only calls and jumps read. */
struct dwell_calls_slot {
    uint64_t address; /* of the slot, as a virtual address */
    struct dwell_calls_stack stack;
};

/* A function of the module itself, which sites lead to. Addresses are virtual ones. */
struct dwell_calls_function {
    uint64_t target;   /* of calls */
    uint64_t function; /* what the session knows the function by */
    struct dwell_calls_stack stack;
};

/* An instruction that calls a function, or jumps to it, by a distance of 32 bits. */
struct dwell_calls_site {
    uint64_t address;
    uint32_t function; /* its index */
    uint32_t pad;
};

_Static_assert(sizeof(struct dwell_calls_plan) == 72, "the plan's layout is fixed");
_Static_assert(sizeof(struct dwell_calls_module) == 24, "a module's layout is fixed");
_Static_assert(sizeof(struct dwell_calls_slot) == 16, "a slot's layout is fixed");
_Static_assert(sizeof(struct dwell_calls_function) == 24, "a function's layout is fixed");
_Static_assert(sizeof(struct dwell_calls_site) == 16, "a site's layout is fixed");

#endif
