/*
 * CPU times in the header of a trace event: the times that its thread had used so far in kernel and in user mode. Their
 * unit is a timer resolution, which is a multiple of 100 ns. The cost between two events of a thread is the difference
 * of their sums.
 */
#ifndef DWELL_TRACE_EVENT_COST_H
#define DWELL_TRACE_EVENT_COST_H

#include "trace/trace_event_list.h"

/* The default resolution, 1 ms, in units of 100 ns. */
enum { EVENT_RESOLUTION_USUAL = 10000 };

static inline uint32_t event_units(uint64_t ns, uint32_t resolution)
{
    return (uint32_t)(ns / 100 / resolution); /* as wide as the header's members, so it can wrap around */
}

/* The units of the sum of kernel and user time. */
static inline uint32_t event_charge(const struct trace_event *e, uint32_t resolution)
{
    return event_units(e->kernel_time + e->user_time, resolution);
}

/* KernelTime and UserTime of an event. */
struct event_units {
    uint32_t kernel, user;
};

/* The units of all events, in their order. Their sum is event_charge, and neither member falls on a thread. So a unit
 * can be in one member though it was filled by both. The caller frees the array. */
struct event_units *event_units_of(const struct trace_events *events, uint32_t resolution);

static inline uint32_t event_cost(const struct trace_event *from, const struct trace_event *to, uint32_t resolution)
{
    return event_charge(to, resolution) - event_charge(from, resolution);
}

static inline uint64_t event_cost_ns(uint32_t units, uint32_t resolution)
{
    return (uint64_t)units * resolution * 100;
}

#endif
