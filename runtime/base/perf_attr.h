/* The perf event that reports a thread's context switches and page faults. The runtime opens it, and dwell doctor tests
 * whether it may be opened. */
#ifndef DWELL_RUNTIME_PERF_ATTR_H
#define DWELL_RUNTIME_PERF_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <time.h>

enum {
    OS_RING_PAGES = 2, /* of data; one control page precedes them */
};

/* `monotonic`: the session's clock is CLOCK_MONOTONIC. */
static inline struct perf_event_attr os_perf_attr(bool monotonic)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_PAGE_FAULTS,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TIME,
        .sample_id_all = 1,
        .context_switch = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .use_clockid = 1, /* the raw clock has the rate of the CPU's counter */
        .clockid = monotonic ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW,
    };
}

/* The number of the kernel's event for the start of a system call, where tracefs is mounted, and where it was. */
#define SYSCALLS_EVENT "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id"
#define SYSCALLS_EVENT_OLD "/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id"

#endif
