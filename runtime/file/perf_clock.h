/*
 * Time namespaces. In them, a process reads CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW with an offset. The times of perf
 * events are without it.
 */
#ifndef DWELL_RUNTIME_PERF_CLOCK_H
#define DWELL_RUNTIME_PERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The nanoseconds by which the calling process reads the clock of os_perf_attr later than perf events do; zero if that
 * cannot be known. It may change when the process calls setns, and in a forked child. Takes some microseconds within a
 * namespace; elsewhere it reads one link of /proc. */
__attribute__((visibility("hidden"))) int64_t perf_clock_offset(bool monotonic);

#endif
