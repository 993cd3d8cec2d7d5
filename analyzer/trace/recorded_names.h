/* How views name what a session's numbers stand for. The names are static. */
#ifndef DWELL_TRACE_RECORDED_NAMES_H
#define DWELL_TRACE_RECORDED_NAMES_H

#include <stdint.h>

/* Of the clock, enum dwell_clock. "unknown" for other numbers. */
const char *recorded_clock_name(uint32_t clock);

/* Of the machine, enum dwell_machine. NULL for other numbers. */
const char *recorded_machine_name(uint32_t machine);

/* Of where OS events come from, enum dwell_os_source. NULL for other numbers. */
const char *recorded_source_name(uint32_t source);

#endif
