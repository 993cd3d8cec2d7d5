/* Writes trace events as records of Event Tracing for Windows: a header of 48 bytes and the data. */
#include "report/etw.h"

#include <string.h>

#include "base/wide.h"
#include "dwell/event.h"
#include "trace/event_cost.h"

enum { FULL_HEADER = 0x14, MARKERS = 0xc0 }; /* the values that Windows writes */

/* The time from 1601-01-01 to 1970-01-01 in units of 100 ns. */
#define UNIX_EPOCH 116444736000000000

static int64_t etw_time_stamp(const struct session_file *file, uint64_t time)
{
    const struct dwell_file_header *h = &file->header;
    const bool before = time < h->start_ticks;
    const uint64_t ticks = before ? h->start_ticks - time : time - h->start_ticks;
    const int64_t ns = (int64_t)multiply_divide(ticks, 1000000000, h->ticks_per_second);
    return ((int64_t)h->start_realtime + (before ? -ns : ns)) / 100 + UNIX_EPOCH;
}

static void etw_write_event(const struct session_file *file, const struct trace_events *events,
                            const struct trace_event *e, uint32_t resolution, enum etw_times times, FILE *out)
{
    const struct trace_thread *t = session_file_thread(file, e->thread);
    const struct trace_process *p = session_file_process(file, e->process);
    EVENT_TRACE_HEADER h = {
        .Size = (uint16_t)(sizeof h + e->data_size),
        .HeaderType = FULL_HEADER,
        .MarkerFlags = MARKERS,
        .Class = { e->type, e->level, e->version },
        .ThreadId = t ? t->tid : 0,
        .ProcessId = p ? p->pid : 0,
        .TimeStamp = etw_time_stamp(file, e->time),
    };
    memcpy(&h.Guid, events->classes[e->class].guid, sizeof h.Guid);
    if (times == ETW_PROCESSOR) {
        h.ProcessorTime = multiply_divide(e->user_time, file->header.ticks_per_second, 1000000000);
    } else {
        h.KernelTime = event_units(e->kernel_time, resolution);
        h.UserTime = event_units(e->user_time, resolution);
    }
    fwrite(&h, sizeof h, 1, out);
    fwrite(e->data, 1, e->data_size, out);
}

void etw_write(const struct session_file *file, const struct trace_events *events, const struct event_options *options,
               enum etw_times times, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct trace_event *e = &events->list[i];
        if (!event_passes(options->filter, file, events, e) || e->data_size > UINT16_MAX - sizeof(EVENT_TRACE_HEADER))
            continue;
        if (options->limit && count == options->limit)
            return;
        etw_write_event(file, events, e, options->resolution, times, out);
        count++;
    }
}
