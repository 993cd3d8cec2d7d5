/* Arrows from the threads that ended waits to the threads that waited. Exports and the page show them. */
#ifndef DWELL_CAUSES_WAIT_ARROWS_H
#define DWELL_CAUSES_WAIT_ARROWS_H

#include "causes/wait_causes.h"

/* Times are ticks. */
struct wait_arrow {
    const struct caused_wait *wait;
    uint32_t from_process, from_thread, to_process; /* serial numbers */
    uint64_t from, to; /* the act or the thread's end, and the moment in which the waiting thread ran again */
    uint64_t from_begin, from_end; /* the interval of the act; both are equal to `from` if a thread ended */
};

/* Sets *arrow if it is recorded what ended the wait, and that moment is in the selected part, too. */
bool wait_arrow_of(const struct analysis *analysis, const struct caused_wait *wait, struct wait_arrow *arrow);

/* All arrows of the waits, in the order of the moments in which the waits ended. The caller frees the list. */
struct wait_arrow *wait_arrows_find(const struct analysis *analysis, const struct wait_causes *causes, size_t *count);

#endif
