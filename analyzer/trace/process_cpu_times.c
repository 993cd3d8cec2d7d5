/* A process' first record is that of its start, and its last one that of its end. The recorder's counts if the process
 * has no last one of its own. */
#include "trace/process_cpu_times.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"

void process_cpus_add(struct observed_cpus *cpus, uint32_t by, const struct dwell_rec_process_cpu *record)
{
    GROW(cpus->list, cpus->count, cpus->room);
    cpus->list[cpus->count++] = (struct observed_cpu){ by, *record };
}

/* A process' records: NULL if there is none. */
struct cpu_ends {
    const struct dwell_rec_process_cpu *first, *last, *seen;
};

/* Merged sessions have all records in chunks of the recorder: the first one has no time. */
static bool process_cpu_is_own(const struct observed_cpu *cpu)
{
    return (cpu->by && cpu->record.process == cpu->by) || (cpu->record.process && cpu->record.time == 0);
}

static void process_cpu_take_own(struct cpu_ends *ends, const struct dwell_rec_process_cpu *record)
{
    if (!ends->first || record->time < ends->first->time)
        ends->first = record;
    if (!ends->last || record->time >= ends->last->time)
        ends->last = record;
}

static struct trace_cpu process_cpu_between(const struct cpu_ends *ends)
{
    const struct dwell_rec_process_cpu *first = ends->first, *last = ends->last != first ? ends->last : ends->seen;
    if (!first || !last)
        return (struct trace_cpu){ .known = false };
    return (struct trace_cpu){
        .known = true,
        .usage = less(last->usage, first->usage),
        .clock = less(last->clock, first->clock),
        .runtime = larger(last->runtime, first->runtime),
    };
}

void process_cpus_apply(struct session_file *file, struct observed_cpus *cpus)
{
    struct cpu_ends *ends = need_memory(file->process_count + 1, sizeof *ends);
    struct trace_process **sorted = cpus->count ? process_ends_sort(file) : NULL;
    for (size_t i = 0; i < cpus->count; i++) {
        const struct observed_cpu *cpu = &cpus->list[i];
        const struct dwell_rec_process_end end = { .process = cpu->record.process,
                                                   .pid = cpu->record.pid,
                                                   .time = cpu->record.time };
        const struct trace_process *p = process_ends_find(file, sorted, &(struct observed_end){ cpu->by, end });
        if (!p)
            continue;
        if (process_cpu_is_own(cpu))
            process_cpu_take_own(&ends[p - file->processes], &cpu->record);
        else
            ends[p - file->processes].seen = &cpu->record;
    }
    for (size_t i = 0; i < file->process_count; i++)
        file->processes[i].cpu = process_cpu_between(&ends[i]);
    free(sorted);
    free(ends);
    free(cpus->list);
}

void process_cpu_records(const struct trace_process *p, uint32_t serial, struct dwell_rec_process_cpu records[2])
{
    records[0] = (struct dwell_rec_process_cpu){
        .record = { .type = DWELL_REC_PROCESS_CPU, .size = sizeof *records },
        .process = serial,
        .pid = p->pid,
    };
    records[1] = records[0];
    records[1].time = larger(p->end_time, 1);
    records[1].usage = p->cpu.usage;
    records[1].clock = p->cpu.clock;
    records[1].runtime = p->cpu.runtime;
}
