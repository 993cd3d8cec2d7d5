/* How many functions of libraries have their calls recorded (`dwell record --calls-to`). */
#ifndef DWELL_TRACE_LIBRARY_SLOTS_H
#define DWELL_TRACE_LIBRARY_SLOTS_H

#include <stdint.h>

#include "trace/session_file.h"

/* Zeros if no such calls are recorded, or the plan is damaged. */
struct library_slots {
    uint32_t modules, functions; /* modules that call any */
    uint32_t linked;             /* of the functions: those that are in the module that calls them */
};

struct library_slots library_slots_read(const struct session_file *file);

#endif
