/*
 * The probes' own time, taken out of a profile: docs/time-model.md says how it is known, and what is left of it.
 */
#ifndef DWELL_PROFILE_OVERHEAD_H
#define DWELL_PROFILE_OVERHEAD_H

#include <stdbool.h>

#include "profile/profile.h"

/* What probes add to times, in 1/256 ticks, in one process: for each call, to the called function's exclusive time and
 * to its caller's; and once more for a call that makes calls itself. */
struct probe_cost {
    uint32_t process; /* serial number */
    uint32_t in_callee, in_caller, first_callee;
};

/* What subtracting it came to. Ticks; a call path whose time is less than its probes should have taken is held at zero.
 */
struct overhead {
    uint64_t subtracted;
    uint64_t missing;   /* what could not be subtracted, as there was no more */
    size_t paths, held; /* call paths that had any, and those of them that were held at zero */
};

/* Subtracts them from each call path's exclusive time, and notes in it how much that was. Costs are looked for by the
 * threads' processes; those without one stay as they are. `sites`: calls from different places are different paths. */
struct overhead overhead_subtract(struct profile *p, const struct probe_cost *costs, size_t count, bool sites);

#endif
