/* The calls whose windows a session keeps (`dwell record --keep`). */
#ifndef DWELL_TRACE_KEPT_CALLS_H
#define DWELL_TRACE_KEPT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/format.h"

struct session_file;

struct trace_kept {
    uint32_t process, thread; /* serial numbers */
    uint32_t watch;           /* index in dwell_keep.watch */
    bool usual;               /* it was not slow */
    uint64_t function, enter_time, exit_time;
    uint64_t missing; /* ticks of its window that its own thread lacks */
    uint64_t around;  /* ticks before and after it that belong to its window, if that is less than in dwell_keep */
};

struct kept_calls {
    struct trace_kept *calls; /* in the order in which they were kept */
    size_t count, room;
};

/* Reads the record of a kept call (dwell_rec_kept), which has `size` bytes. False if it is too short. An older one ends
 * before `around`: all that dwell_keep says is around its call then. */
bool kept_call_read(struct trace_kept *call, uint32_t process, const void *record, size_t size);

void kept_calls_add(struct kept_calls *kept, const struct trace_kept *call);

/* Puts the calls into their order, where later ones have taken the records of dropped ones. */
void kept_calls_order(struct session_file *file);

/* Whether a session holds nothing but windows, as the recorder has removed the rest. */
bool kept_calls_are_all(const struct session_file *file);

/* What the user asked for. False if it is not known: in a merged or damaged session. */
bool kept_settings_read(const struct session_file *file, struct dwell_keep *keep);

/* How many ticks before and after a call belong to its window. */
uint64_t kept_around(const struct trace_kept *call, const struct dwell_keep *keep);

/* A range of time of a process that belongs to windows. */
struct kept_window {
    uint32_t process; /* zero: of all processes */
    uint64_t begin, end;
};

/* The windows of calls, by process and time, and those that overlap as one. The caller frees them. */
struct kept_window *kept_windows(const struct kept_calls *kept, const struct dwell_keep *keep, size_t *count);

/* Whether a range of time of a process overlaps one. */
bool kept_windows_cover(const struct kept_window *windows, size_t count, const struct kept_window *range);

#endif
