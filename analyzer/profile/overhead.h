/*
 * Subtracts the probes' own time from a profile. docs/time-model.md describes how it is measured and how much of it
 * remains.
 */
#ifndef DWELL_PROFILE_OVERHEAD_H
#define DWELL_PROFILE_OVERHEAD_H

#include <stdbool.h>

#include "profile/profile.h"

/* The time that the probes add to exclusive times in one process, in 1/256 ticks. Each call adds to the called function
 * and to its caller. A call that makes calls itself adds once more. */
struct probe_cost {
    uint32_t process; /* serial number */
    uint32_t in_callee, in_caller, first_callee;
};

/* The result of subtracting, in ticks. A call path with less time than its probes should have taken is held at zero. */
struct overhead {
    uint64_t subtracted;
    uint64_t missing;   /* expected overhead that exceeded the time of its path */
    size_t paths, held; /* call paths with probe overhead, and those of them that were held at zero */
};

/* Subtracts the overhead from each call path's exclusive time and adds it to the path's `overhead`. Costs are by
 * process; threads of a process without costs are unchanged. `sites`: the profile's paths include call sites. */
struct overhead overhead_subtract(struct profile *p, const struct probe_cost *costs, size_t count, bool sites);

/* The same for one path, which made so many calls. Adds the result to *sum. */
void overhead_subtract_node(struct profile_node *node, const struct probe_cost *cost, uint64_t callees,
                            struct overhead *sum);

/* What the probes of so many calls took in their caller, in ticks. */
uint64_t overhead_in_caller(const struct probe_cost *cost, uint64_t callees);

/* By node: the number of calls that it made. `sites` is as above. */
uint64_t *overhead_callees(const struct profile *p, bool sites);

/* From a process to the place of its costs. The caller frees the index. */
struct number_index *overhead_index_costs(const struct probe_cost *costs, size_t count);

/* By node: the costs of its process, or NULL. */
const struct probe_cost **overhead_costs_of_nodes(const struct profile *p, const struct probe_cost *costs,
                                                  size_t count);

#endif
