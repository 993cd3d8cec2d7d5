/*
 * Call paths that include the call sites: calls of one function from two places are two paths. One collector uses it
 * for the profile that it makes.
 */
#ifndef DWELL_PROFILE_SITE_PATHS_H
#define DWELL_PROFILE_SITE_PATHS_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct call_sites;

struct call_sites *call_sites_new(struct profile *p);
void call_sites_free(struct call_sites *c); /* does nothing with NULL */

/* Begins a chunk of that process, with a thread's root on the stack. */
void call_sites_begin(struct call_sites *c, const struct trace_process *process, uint32_t root);

/* A call as an event records it. */
struct site_call {
    uint64_t address, site; /* the called function and the call site; zero if the site is unknown */
    uint64_t time;
    uint32_t generation; /* of the module map at that time */
};

/* The node of a call made from `parent`. */
uint32_t call_sites_child(struct call_sites *c, uint32_t parent, const struct site_call *call);

/* Sets and returns the address of the function at that depth of the stack. Call sites are recorded relative to it. It
 * is zero at the root's depth. */
void call_sites_push(struct call_sites *c, size_t depth, uint64_t address);
uint64_t call_sites_address(const struct call_sites *c, size_t depth);

#endif
