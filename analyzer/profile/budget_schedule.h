/* When an overhead budget looks at what was recorded. */
#ifndef DWELL_PROFILE_BUDGET_SCHEDULE_H
#define DWELL_PROFILE_BUDGET_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* Usual looks come at regular times. Between them, a thread may ask for a brief one. Times are in nanoseconds. */
struct budget_schedule {
    unsigned calm;  /* usual looks in a row without a change */
    uint64_t usual; /* when the next usual look is due */
    uint64_t asked; /* and a brief one, if one is asked for */
    uint64_t rest;  /* from the end of a look to a brief one that is asked for, at least */
};

void budget_schedule_begin(struct budget_schedule *s, uint64_t now);

/* When the next look is due. */
uint64_t budget_schedule_due(const struct budget_schedule *s, bool asked);

/* Whether a look that begins now is a brief one. */
bool budget_schedule_is_brief(const struct budget_schedule *s, uint64_t now);

/* After a look. `took`: its CPU time. `useful`: it has changed a level, or shows that one will be changed soon. If
 * usual looks take at most 15 ms, a phase that begins at any time is seen by a whole one that ends within 50 ms. Looks
 * that are asked for and take half a millisecond follow one another within a millisecond, as long as they are useful.
 */
void budget_schedule_next(struct budget_schedule *s, uint64_t began, uint64_t ended, uint64_t took, bool useful);

#endif
