/* The time that each thread was on the CPU, blocked and preempted within its calls, in bins of equal width over the
 * timeline. The sums over a thread's bins are the thread's values, to the tick. */
#ifndef DWELL_VIEW_ACTIVITY_H
#define DWELL_VIEW_ACTIVITY_H

#include "profile/values.h"
#include "view/container.h"

enum { ACTIVITY_COLUMNS = 5 };

enum activity_kind { ACTIVITY_CPU, ACTIVITY_BLOCKED, ACTIVITY_PREEMPTED, ACTIVITY_KINDS };

/* First the whole time in calls is kept as time on the CPU, from which activity_bin_finish subtracts the others. */
struct activity_bin {
    uint64_t times[ACTIVITY_KINDS];
};

/* Adds a time, in ticks from the first bin's begin, to `count` bins of that width. What is beyond them is left out. */
void activity_bins_add(struct activity_bin *bins, size_t count, uint64_t width, enum activity_kind kind, uint64_t begin,
                       uint64_t end);
void activity_bin_finish(struct activity_bin *bin);

struct activity_row {
    uint32_t thread, bin;
    uint64_t cpu, blocked, preempted;
};

struct activity {
    uint64_t width; /* of a bin, in ticks: a power of two */
    size_t lanes, bins;
    struct activity_bin **raw; /* by lane, its bins as recorded; NULL if it has no calls */
    struct activity_row *rows;
    size_t row_count, room;
    struct container_column columns[ACTIVITY_COLUMNS];
};

/* `length` is that of the timeline, in ticks. */
void activity_begin(struct activity *a, uint64_t length, size_t lanes);

/* Adds a time in which the thread was in a call. Times count from the beginning of the timeline. */
void activity_add_calls(struct activity *a, size_t lane, uint64_t begin, uint64_t end);
/* Adds a time off the CPU, which is also part of the thread's time in calls. */
void activity_add_off_cpu(struct activity *a, size_t lane, bool preempted, uint64_t begin, uint64_t end);

/* Makes the rows of a thread from its bins, and frees those. `times` are the thread's values. They do not contain the
 * overhead, whose moments are unknown. So they are shared among the bins in proportion to the recorded times. */
void activity_share(struct activity *a, size_t lane, const struct times *times);

struct container_table activity_table(struct activity *a);
void activity_drop(struct activity *a);

#endif
