/* Names of clocks, machines and sources of OS events. */
#include "trace/recorded_names.h"

#include <stddef.h>

#include "dwell/format.h"

const char *recorded_clock_name(uint32_t clock)
{
    static const char *const names[] = {
        [DWELL_CLOCK_TSC] = "TSC", [DWELL_CLOCK_CNTVCT] = "CNTVCT", [DWELL_CLOCK_MONOTONIC] = "CLOCK_MONOTONIC"
    };
    return clock < sizeof names / sizeof *names && names[clock] ? names[clock] : "unknown";
}

const char *recorded_machine_name(uint32_t machine)
{
    return machine == DWELL_MACHINE_X86_64 ? "x86-64" : machine == DWELL_MACHINE_AARCH64 ? "aarch64" : NULL;
}

const char *recorded_source_name(uint32_t source)
{
    static const char *const names[] = { [DWELL_OS_NONE] = "none",
                                         [DWELL_OS_PERF] = "perf",
                                         [DWELL_OS_RSEQ] = "rseq",
                                         [DWELL_OS_IMPORTED] = "import",
                                         [DWELL_OS_SYSCALLS] = "perf, system calls" };
    return source < sizeof names / sizeof *names ? names[source] : NULL;
}
