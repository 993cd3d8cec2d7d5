/* Slow calls of which functions are kept, and how many: the options --keep and its kin. */
#ifndef DWELL_RECORDER_KEEP_WATCHES_H
#define DWELL_RECORDER_KEEP_WATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "dwell/format.h"
#include "session.h"

/* What is kept before and after a call if nobody says it: 5 ms, or less if calls are kept often. */
#define KEEP_USUAL_AROUND UINT64_MAX

struct keep_watch {
    uint64_t limit_ns; /* of DWELL_KEEP_ABOVE */
    enum dwell_keep_rule rule;
    uint32_t amount;
    char *text; /* as the user wrote it */
    bool named; /* an activity of trace events */
};

struct keep_watches {
    struct keep_watch list[DWELL_KEEP_WATCHES];
    uint32_t count;
    uint64_t around_ns; /* KEEP_USUAL_AROUND: as usual */
    uint64_t period_ns; /* zero: any number of windows is kept */
    uint32_t most;      /* windows in a period */
    uint32_t usual;     /* one call in so many is kept to compare; zero: none */
    bool newest;        /* the oldest windows make room for later ones */
    bool others;        /* windows are those of all processes */
};

/* Whether a pattern is for activities of trace events alone: "marker:WHAT" or "activity:CLASS". */
bool keep_is_for_activities(const char *pattern);

/* Reads PATTERN>TIME, PATTERN>p99 or PATTERN>5xmean. Returns the pattern, which the caller frees, and 1 + the number of
 * the watch in *number. NULL if it is none: `place` begins the error's text. */
char *keep_watches_add(struct keep_watches *watches, const char *value, const char *place, uint32_t *number,
                       struct error *error);

/* Reads N/UNIT, such as 10/min, as the number of windows in a period. */
bool keep_watches_limit(struct keep_watches *watches, const char *value, const char *place, struct error *error);

/* Writes them into a session that no program records into yet. False if there is no room. */
bool keep_watches_write(const struct keep_watches *watches, const struct session *session, int fd);

/* Reads PATTERN>LIMIT as keep_watches_add does, or PATTERN>off, which adds a watch for activities alone. Returns the
 * pattern likewise. */
char *keep_watches_change(struct keep_watches *watches, const char *value, struct error *error);

/* Adds a watch that was read so to a session that programs record into, with the number for the processes to use: zero
 * if there is none. False if the session keeps no windows, or has no room. */
bool keep_watches_append(const struct keep_watches *watches, const struct session *session, int fd, uint32_t *number,
                         struct error *error);

/* After the recording: finds which watches have named an activity. */
void keep_watches_read_named(struct keep_watches *watches, const struct session *session, int fd);

void keep_watches_drop(struct keep_watches *watches);

#endif
