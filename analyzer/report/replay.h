/*
 * The calls of a session, one after the other as they happened over all threads: lines that begin a call, end it, or
 * are a whole call when nothing is shown between the two. Streams: what is held back is what is not known to be long
 * enough yet, or may still turn out to be such a whole.
 */
#ifndef DWELL_REPORT_REPLAY_H
#define DWELL_REPORT_REPLAY_H

#include <stdio.h>

#include "profile/selection.h"
#include "trace/session_file.h"
#include "trace/timeline.h"

enum replay_kind {
    REPLAY_CALL, /* from begin to end, with nothing to be shown in between */
    REPLAY_BEGIN,
    REPLAY_END,
    REPLAY_BLOCKED, /* before the thread's next line, and after the one before: when is not known more exactly */
    REPLAY_PREEMPTED,
    REPLAY_PAUSED,
    REPLAY_RESUMED,
    REPLAY_MARK,
};

/* What else is to be said of a call. */
enum {
    REPLAY_BEGAN_BEFORE = 1, /* the part, or the recording */
    REPLAY_LEFT = 2,         /* without an exit: by longjmp or an exception, or the exit is not recorded */
    REPLAY_UNENDED = 4,      /* nothing more is recorded of its thread */
    REPLAY_GOES_ON = 8,      /* beyond the part */
    REPLAY_AWAY = 16,        /* the thread leaves this stack for another */
    REPLAY_BACK = 32,        /* and it, or another thread, comes back to it */
};

struct replay_line {
    enum replay_kind kind;
    unsigned notes;
    uint64_t time;     /* of its begin; REPLAY_END: of the end */
    uint64_t duration; /* ticks on the stack, pauses left out; or of what the operating system did */
    bool has_time, has_duration;
    bool far; /* REPLAY_END: the line that began it is some way up */
    const struct trace_thread *thread;
    uint32_t process;     /* serial number */
    size_t depth;         /* zero: outermost of what is asked for */
    const char *function; /* of calls */
    uint32_t number;      /* of marks */
    char *text;           /* likewise; no longer there after the call */
};

/* False: enough. */
typedef bool replay_taker(void *context, const struct replay_line *line);

struct replay_options {
    uint64_t from, to;               /* ticks of the session; the latter is outside */
    const struct selection *threads; /* only these threads and processes; NULL if all */
    const char *root; /* only within calls of this function: a name, with or without parameters, or a glob; NULL: all */
    size_t depth;     /* so many levels; zero: all */
    uint64_t shortest; /* ticks; calls and intervals below it are left out */
};

struct replay_result {
    struct timeline_counts counts;
    bool root_found;
};

struct replay_result replay(const struct session_file *file, const struct replay_options *options, replay_taker *take,
                            void *context);

/* Whether lines of the thread (serial numbers) are asked for. */
bool replay_wants(const struct session_file *file, const struct replay_options *options, uint32_t process,
                  uint32_t thread);

/* ---- as text ---- */

struct replay_printer;

/* `print` is "text", "csv" or "json" (an object a line), NULL if the format is none of them. */
struct replay_printer *replay_printer_new(const char *format, const struct session_file *file,
                                          const struct replay_options *options, FILE *out);
void replay_printer_free(struct replay_printer *p);

/* A replay_taker for its context; stops where nothing can be written any more. */
bool replay_print(void *printer, const struct replay_line *line);

#endif
