/* Ends of processes that the recorder saw, or the parent. */
#ifndef DWELL_TRACE_PROCESS_ENDS_H
#define DWELL_TRACE_PROCESS_ENDS_H

#include "trace/session_file.h"

struct observed_end {
    uint32_t by; /* serial number of the process that saw it; zero is the recorder */
    struct dwell_rec_process_end record;
};

struct observed_ends {
    struct observed_end *list;
    size_t count, room;
};

void process_ends_add(struct observed_ends *ends, uint32_t by, const struct dwell_rec_process_end *record);

/* The processes by PID, then by start. The caller frees the list. */
struct trace_process **process_ends_sort(struct session_file *file);

/* The process that `end` is about, or NULL. `sorted`: by process_ends_sort. */
struct trace_process *process_ends_find(const struct session_file *file, struct trace_process *const *sorted,
                                        const struct observed_end *end);

/* Sets how and when the processes ended, and frees the list. */
void process_ends_apply(struct session_file *file, struct observed_ends *ends);

#endif
