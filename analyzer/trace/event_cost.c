/* Divides the rounded CPU time of each event into kernel and user time. */
#include "trace/event_cost.h"

#include "base/memory.h"

static struct event_units event_units_after(const struct trace_event *e, const struct event_units *before,
                                            uint32_t resolution)
{
    const uint32_t whole = event_charge(e, resolution), kernel = event_units(e->kernel_time, resolution);
    struct event_units units = { kernel, whole - kernel };
    if (!before)
        return units;
    const uint32_t passed = whole - before->kernel - before->user, grown = kernel - before->kernel;
    if ((int32_t)grown < 0) /* an earlier unit was given to the kernel */
        units.kernel = before->kernel;
    else if (grown > passed)
        units.kernel = before->kernel + passed;
    units.user = whole - units.kernel;
    return units;
}

struct event_units *event_units_of(const struct trace_events *events, uint32_t resolution)
{
    struct event_units *units = need_memory(events->count, sizeof *units);
    for (size_t i = 0; i < events->count; i++) {
        const struct trace_event *e = &events->list[i];
        units[i] = event_units_after(e, e->previous ? &units[e->previous - 1] : NULL, resolution);
    }
    return units;
}
