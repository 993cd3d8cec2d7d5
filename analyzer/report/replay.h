/*
 * Replays a session's calls over all threads in order of time. A line begins a call, ends it, or is a whole call if
 * nothing is shown between its start and its end. The replay streams: it holds back only lines of calls that may still
 * be too short to be shown, or may become whole calls.
 */
#ifndef DWELL_REPORT_REPLAY_H
#define DWELL_REPORT_REPLAY_H

#include <stdio.h>

#include "profile/selection.h"
#include "trace/recorded_values.h"
#include "trace/session_file.h"
#include "trace/timeline.h"
#include "trace/trace_event_list.h"

enum replay_kind {
    REPLAY_CALL, /* a whole call, with nothing shown between begin and end */
    REPLAY_BEGIN,
    REPLAY_END,
    REPLAY_BLOCKED, /* at an unknown moment between the thread's previous and next line */
    REPLAY_PREEMPTED,
    REPLAY_PAGE_FAULTS, /* at unknown moments between these lines */
    REPLAY_PAUSED,
    REPLAY_RESUMED,
    REPLAY_MARK,
    REPLAY_EVENT, /* a trace event */
};

/* Notes about a call. */
enum {
    REPLAY_BEGAN_BEFORE = 1, /* the call began before the part or the recording */
    REPLAY_LEFT = 2,         /* without an exit: by longjmp or an exception, or the exit was not recorded */
    REPLAY_UNENDED = 4,      /* its thread's recording ended before the call */
    REPLAY_GOES_ON = 8,      /* the call ends after the part */
    REPLAY_AWAY = 16,        /* the thread switches to another stack */
    REPLAY_BACK = 32,        /* this or another thread switches back to the call's stack */
};

struct replay_line {
    enum replay_kind kind;
    unsigned notes;
    uint64_t time;     /* the beginning; of REPLAY_END the end */
    uint64_t duration; /* ticks on the stack without pauses; of REPLAY_BLOCKED and REPLAY_PREEMPTED ticks off the CPU */
    bool has_time, has_duration;
    bool far; /* REPLAY_END: many lines after the line that began the call */
    const struct trace_thread *thread;
    uint32_t process;                  /* serial number */
    size_t depth;                      /* 0 for the outermost shown calls */
    const char *function;              /* of calls */
    uint32_t number;                   /* of marks; of page faults, how many */
    const struct recorded_row *values; /* of calls whose beginning is shown; NULL if they have none */
    char *text;                        /* of marks and trace events; valid during the callback only */
};

/* Called for each line. Returns false to stop the replay. */
typedef bool replay_taker(void *context, const struct replay_line *line);

struct replay_options {
    uint64_t from, to;                    /* ticks of the session: from <= time < to */
    const struct selection *threads;      /* only these threads and processes; NULL if all */
    const struct selection_names *roots;  /* only calls within functions that match any of these; NULL for all */
    size_t depth;                         /* maximum number of levels; 0 for all */
    uint64_t shortest;                    /* ticks; shorter calls and intervals are left out */
    const struct trace_events *events;    /* shown between the calls; NULL for none */
    const struct recorded_values *values; /* shown beside the calls; NULL for none */
};

struct replay_result {
    struct timeline_counts counts;
    bool root_found;
};

struct replay_result replay(const struct session_file *file, const struct replay_options *options, replay_taker *take,
                            void *context);

/* True if the options select the thread (serial numbers). */
bool replay_wants(const struct session_file *file, const struct replay_options *options, uint32_t process,
                  uint32_t thread);

/* ---- printing ---- */

struct replay_printer;

/* `format` is "text", "csv" or "json" (one object per line). Returns NULL if it is none of them. */
struct replay_printer *replay_printer_new(const char *format, const struct session_file *file,
                                          const struct replay_options *options, FILE *out);
void replay_printer_free(struct replay_printer *p);

/* A callback for replay() whose context is the printer. Stops the replay if writing fails. */
bool replay_print(void *printer, const struct replay_line *line);

#endif
