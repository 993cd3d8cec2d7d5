/* Call paths on which calls of a function from different places are different ones. */
#ifndef DWELL_PROFILE_CALL_SITES_H
#define DWELL_PROFILE_CALL_SITES_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct call_sites; /* of a profile that is being made */

struct call_sites *call_sites_new(struct profile *p);
void call_sites_free(struct call_sites *c); /* NULL is none */

/* A chunk of that process begins, with a thread's root on the stack. */
void call_sites_begin(struct call_sites *c, const struct trace_process *process, uint32_t root);

/* A call as an event names it; the generation is that of its time. */
struct called {
    uint64_t address, site; /* the site is zero where it is not known */
    uint64_t time;
    uint32_t generation;
};

/* The node of a call made from `parent`. */
uint32_t call_sites_child(struct call_sites *c, uint32_t parent, const struct called *called);

/* Which function's call lies on the stack at that depth: what sites are counted from. Zero at the root's. */
void call_sites_push(struct call_sites *c, size_t depth, uint64_t address);
uint64_t call_sites_address(const struct call_sites *c, size_t depth);

/* Whether such a node is of a call that was open already: of all those that have its function and its parent, one has
 * the callees of all. */
bool call_sites_shares(const struct profile *p, uint32_t node);

#endif
