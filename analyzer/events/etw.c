/* Writes trace events as records of Event Tracing for Windows: a header of 48 bytes and the data. */
#include "events/etw.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/wide.h"
#include "dwell/event.h"
#include "trace/event_cost.h"
#include "trace/event_stamp.h"

enum { FULL_HEADER = 0x14, MARKERS = 0xc0 }; /* the values that Windows writes */

/* TRACE_LOGFILE_HEADER of 64 bits, the data of a log's first event. */
struct etw_log {
    uint32_t buffer_size, version, provider_version, processors;
    int64_t end_time;
    uint32_t timer_resolution; /* units of 100 ns */
    uint32_t maximum_size, mode, buffers_written, start_buffers, pointer_size, events_lost, cpu_mhz;
    uint64_t logger_name, file_name;
    uint8_t time_zone[176];
    int64_t boot_time, clock_frequency, start_time;
    uint32_t clock, buffers_lost;
};
_Static_assert(sizeof(struct etw_log) == 280, "the layout of Windows");

/* The clock of the time stamps, as Wnode.ClientContext numbers it. */
enum { ETW_CLOCK_COUNTER = 1, ETW_CLOCK_SYSTEM = 2, ETW_CLOCK_CPU = 3 };

static uint32_t etw_clock(const struct session_file *file, bool raw)
{
    if (!raw)
        return ETW_CLOCK_SYSTEM;
    return file->header.clock == DWELL_CLOCK_MONOTONIC ? ETW_CLOCK_COUNTER : ETW_CLOCK_CPU;
}

/* The first event of a log has the GUID EventTraceGuid. */
static void etw_write_log_header(const struct session_file *file, const struct event_options *options, FILE *out)
{
    static const dwell_guid guid = { 0x68fdd900, 0x4a3e, 0x11d1, { 0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3 } };
    const struct dwell_file_header *f = &file->header;
    const uint64_t end = f->end_ticks ? f->end_ticks : f->start_ticks;
    const struct etw_log log = {
        .buffer_size = DWELL_EVENT_BUFFER,
        .end_time = event_stamp(file, end),
        .timer_resolution = options->resolution,
        .pointer_size = 8,
        .events_lost = (uint32_t)f->lost_trace_events,
        .clock_frequency = (int64_t)f->ticks_per_second,
        .start_time = event_stamp(file, f->start_ticks),
        .clock = etw_clock(file, options->raw_timestamps),
    };
    const EVENT_TRACE_HEADER h = {
        .Size = sizeof h + sizeof log,
        .HeaderType = FULL_HEADER,
        .MarkerFlags = MARKERS,
        .TimeStamp = options->raw_timestamps ? (int64_t)f->start_ticks : log.start_time,
        .Guid = guid,
    };
    fwrite(&h, sizeof h, 1, out);
    fwrite(&log, sizeof log, 1, out);
}

static void etw_write_event(const struct session_file *file, const struct trace_events *events,
                            const struct trace_event *e, const struct event_units *units,
                            const struct event_options *options, enum etw_times times, FILE *out)
{
    const struct trace_thread *t = session_file_thread(file, e->thread);
    const struct trace_process *p = session_file_process(file, e->process);
    EVENT_TRACE_HEADER h = {
        .Size = (uint16_t)(sizeof h + e->data_size),
        .HeaderType = FULL_HEADER,
        .MarkerFlags = MARKERS,
        .Class = { e->type, e->severity, e->version },
        .ThreadId = t ? t->tid : 0,
        .ProcessId = p ? p->pid : 0,
        .TimeStamp = options->raw_timestamps ? (int64_t)e->time : event_stamp(file, e->time),
    };
    memcpy(&h.Guid, events->classes[e->class].guid, sizeof h.Guid);
    if (times == ETW_PROCESSOR) {
        h.ProcessorTime = multiply_divide(e->user_time, file->header.ticks_per_second, 1000000000);
    } else {
        h.KernelTime = units->kernel;
        h.UserTime = units->user;
    }
    fwrite(&h, sizeof h, 1, out);
    fwrite(e->data, 1, e->data_size, out);
}

void etw_write(const struct session_file *file, const struct trace_events *events, const struct event_options *options,
               enum etw_times times, FILE *out)
{
    size_t count = 0;
    struct event_units *units = event_units_of(events, options->resolution);
    etw_write_log_header(file, options, out);
    for (size_t i = 0; i < events->count && !(options->limit && count == options->limit); i++) {
        const struct trace_event *e = &events->list[i];
        if (!event_passes(options->filter, file, events, e) || e->data_size > UINT16_MAX - sizeof(EVENT_TRACE_HEADER))
            continue;
        etw_write_event(file, events, e, &units[i], options, times, out);
        count++;
    }
    free(units);
}
