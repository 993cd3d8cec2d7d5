/* Compares the CPU time of each process with what the kernel has counted for it. */
#ifndef DWELL_ANALYSIS_CPU_CHECK_H
#define DWELL_ANALYSIS_CPU_CHECK_H

#include "analysis/analysis.h"

/* Nanoseconds of CPU time of a process. */
struct cpu_check {
    bool known;         /* the kernel's figures are, and the times of all threads on the CPU */
    uint64_t usage;     /* by getrusage, without the runtime's own thread */
    uint64_t kernel;    /* by the scheduler's clock, without that thread */
    uint64_t functions; /* in recorded functions, with the probes that were left out */
    uint64_t stolen;    /* at most: what the host took from all of the machine's processors */
    uint64_t outside;   /* of the runtime outside of these; not more than the kernel's count has beyond them */
    uint64_t rest;      /* of the kernel's count, neither in functions nor known outside of them */
    uint64_t runtime;   /* of the runtime's own thread and of the set-up of threads: in no other figure */
};

/* Of all processes, in the order of the file's list. The caller frees them. */
struct cpu_check *cpu_checks(const struct analysis *analysis);

/* Whether the figures differ by more than 5 % and 20 ms, without the runtime's time outside of functions, and without
 * stolen time. */
bool cpu_check_differs(const struct cpu_check *c);

/* One word or two for a table: whether the process's figures differ, and whether pauses, filters, the ring or a kill
 * explain that. Empty if they agree. */
const char *cpu_check_word(const struct analysis *analysis, const struct cpu_check *checks, size_t process);

/* Adds a remark if the figures of a process differ, and nothing explains that. */
void cpu_check_remark(struct analysis *analysis);

#endif
