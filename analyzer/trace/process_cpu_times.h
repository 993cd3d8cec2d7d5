/* The CPU time of processes by the kernel's count, from the records of the processes themselves and of the recorder. */
#ifndef DWELL_TRACE_PROCESS_CPU_TIMES_H
#define DWELL_TRACE_PROCESS_CPU_TIMES_H

#include "trace/process_ends.h"

struct observed_cpu {
    uint32_t by; /* serial number of the process whose chunk has the record; zero is the recorder */
    struct dwell_rec_process_cpu record;
};

struct observed_cpus {
    struct observed_cpu *list;
    size_t count, room;
};

void process_cpus_add(struct observed_cpus *cpus, uint32_t by, const struct dwell_rec_process_cpu *record);

/* Sets the CPU time of the processes, whose ends are known, and frees the list. */
void process_cpus_apply(struct session_file *file, struct observed_cpus *cpus);

/* The records that give a process this CPU time again: at its start and its end. */
void process_cpu_records(const struct trace_process *p, uint32_t serial, struct dwell_rec_process_cpu records[2]);

#endif
