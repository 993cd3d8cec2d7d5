/*
 * What the parts of the PerfLog library share. It is called by the program's own code and never by a probe, so it may
 * use libc and its locks; but its system calls are bare ones where libc's would be cancellation points.
 */
#ifndef DWELL_RUNTIME_PERFLOG_STATE_H
#define DWELL_RUNTIME_PERFLOG_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define DWELL_PERFLOG_PLAIN
#include "dwell/perflog.h"
#include "perflog/timer.h"
#include "runtime.h"

#pragma GCC visibility push(hidden)

/* Nanoseconds of CLOCK_MONOTONIC: known exactly, where the rate of the CPU's counter would have to be measured, and a
 * line in the log costs many times what is saved by it. */
enum { PERFLOG_FREQUENCY = 1000000000, PERFLOG_PAIRS = 10 };

/* Between LibInit, or what stands for it, and the last LibDeinit. All of it is guarded by the lock but `ready` and
 * `overhead`, which stay once they are set. */
struct perflog_run {
    int ready;
    uint32_t users;
    uint64_t overhead, pairs[PERFLOG_PAIRS];
    char application[MAX_APPNAME_LEN + 1];
    bool registered[MAX_MARKER_ID + 1];
    char names[MAX_MARKER_ID + 1][MAX_MARKERNAME_LEN + 1];
    PERFCALLBACK callback;
    void *user;
};
extern struct perflog_run perflog;

/* Signals are held back meanwhile: a full disk raises one, and no handler may jump out of it. */
uint64_t perflog_lock(void);
void perflog_unlock(uint64_t mask);

/* Sets the library up if no call did that yet. The header waits for the first line: what logs nothing makes no file. */
void perflog_enter(void);

/* Copies text without what would end its line, cut to `longest` characters and not within one of UTF-8. */
void perflog_copy_text(char *to, const char *text, size_t longest);

/* ---- log.c; with the lock held ---- */

/* Writes the header where it is not in the log yet. False: it cannot be written. */
bool perflog_header(void);

/* Gives the marker that string, and writes so. */
bool perflog_register(MARKER_ID marker, const char *name);

/* Adds a line: the tag before it and its end are added. */
bool perflog_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

void perflog_close(void);

/* ---- marks.c ---- */

/* Durations of empty pairs of MarkBegin and MarkEnd; with the lock held. */
void perflog_time_pairs(uint64_t *durations, int count);
void perflog_clear_timers(void); /* with the lock held */
bool perflog_make_key(void);
void perflog_marks_forked(void);

/* ---- monitor.c ---- */

bool perflog_stop_monitor(void); /* without the lock */
void perflog_monitor_forked(void);

/* ---- usage.c ---- */

/* Time that was used and that was there, in any unit. */
struct perflog_cpu {
    uint64_t used, total;
};

/* Of the system, or of this process. False: it cannot be told. */
bool perflog_read_cpu(bool process, struct perflog_cpu *cpu);
bool perflog_read_memory(bool process, uint64_t *bytes);

/* In millionths of a percent of what there was between the two; false: it was nothing. */
bool perflog_cpu_share(const struct perflog_cpu *from, const struct perflog_cpu *to, uint64_t *share);

#pragma GCC visibility pop

#endif
