/* When an overhead budget looks at what was recorded. */
#ifndef DWELL_PROFILE_BUDGET_SCHEDULE_H
#define DWELL_PROFILE_BUDGET_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* Zero at first. */
struct budget_schedule {
    unsigned calm; /* looks in a row without a change */
};

/* The nanoseconds from the end of a look to the next one. The look took `took` nanoseconds. If a look takes at most
 * 15 ms, a phase that begins at any time is seen by a whole look that ends within 50 ms. */
uint64_t budget_schedule_rest(struct budget_schedule *s, uint64_t took, bool changed);

#endif
