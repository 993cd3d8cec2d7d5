/* What the files of the PerfLog library share. The program calls the library, and probes never do, so it may use libc
 * and its locks. Its system calls are bare ones where libc's would be cancellation points. */
#ifndef DWELL_RUNTIME_PERFLOG_STATE_H
#define DWELL_RUNTIME_PERFLOG_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define DWELL_PERFLOG_PLAIN
#include "dwell/event.h"
#include "dwell/perflog.h"
#include "perflog/timer.h"
#include "runtime.h"

#pragma GCC visibility push(hidden)

/* Ticks are nanoseconds of CLOCK_MONOTONIC. Their rate is known exactly, while that of the CPU's counter would have to
 * be measured. A line in the log costs many times what the counter would save. */
enum { PERFLOG_FREQUENCY = 1000000000, PERFLOG_PAIRS = 10 };

/* A run: from LibInit, or the first other call, to the last LibDeinit. The lock protects all members but `ready` and
 * `overhead`, which do not change once they are set. */
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

/* Takes the library's lock with signals blocked: a full disk raises a signal, and no handler may jump out of the lock.
 * Returns the signal mask for perflog_unlock. */
uint64_t perflog_lock(void);
void perflog_unlock(uint64_t mask);

/* Sets the library up unless an earlier call did. The header is written before the first line: a program that logs
 * nothing makes no file. */
void perflog_enter(void);

/* Copies text and replaces control characters by blanks. It is cut to `longest` bytes, and not within a UTF-8
 * character. `to` has room for longest + 1 bytes. */
void perflog_copy_text(char *to, const char *text, size_t longest);

/* ---- log.c; with the lock held ---- */

/* Writes the header unless the log has it. Returns false if it cannot be written. */
bool perflog_header(void);

/* Gives the marker that string and logs it. Returns false if the line could not be written. */
bool perflog_register(MARKER_ID marker, const char *name);

/* Appends a line with its tag and line end. Returns false if it could not be written. */
bool perflog_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

void perflog_close(void);

/* ---- events.c; without the lock, but for perflog_events_begin ---- */

enum perflog_event_type {
    PERFLOG_EVENT_BEGIN = EVENT_TRACE_TYPE_START,
    PERFLOG_EVENT_END = EVENT_TRACE_TYPE_END,
    PERFLOG_EVENT_ERROR = DWELL_PERFLOG_ERROR,
};

#ifndef DWELL_WITHOUT_EVENTS

/* Registers the class of the events. Does nothing if dwell does not record. */
void perflog_events_begin(void);
void perflog_event(enum perflog_event_type type, MARKER_ID marker);

#else

static inline void perflog_events_begin(void)
{
}

static inline void perflog_event(enum perflog_event_type type, MARKER_ID marker)
{
    (void)type;
    (void)marker;
}

#endif

/* ---- marks.c ---- */

/* Stores the durations of `count` empty pairs of MarkBegin and MarkEnd. The caller holds the lock. */
void perflog_time_pairs(uint64_t *durations, int count);
void perflog_clear_timers(void); /* the caller holds the lock */
bool perflog_make_key(void);
void perflog_marks_forked(void);

/* ---- monitor.c ---- */

bool perflog_stop_monitor(void); /* the caller does not hold the lock */
void perflog_monitor_forked(void);

/* ---- usage.c ---- */

/* CPU time used, and time available, in the same unit. */
struct perflog_cpu {
    uint64_t used, total;
};

/* Read the use of this process (`process`) or of the system. Return false if it is unknown. */
bool perflog_read_cpu(bool process, struct perflog_cpu *cpu);
bool perflog_read_memory(bool process, uint64_t *bytes);

/* Stores the share of CPU time between two readings, in millionths of a percent. Returns false if no time passed. */
bool perflog_cpu_share(const struct perflog_cpu *from, const struct perflog_cpu *to, uint64_t *share);

#pragma GCC visibility pop

#endif
