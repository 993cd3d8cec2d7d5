/* Drops kept calls whose windows make room. */
#ifndef DWELL_RECORDER_KEEP_DROP_H
#define DWELL_RECORDER_KEEP_DROP_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"
#include "trace/session_file.h"

struct keep_drop {
    const struct session *session;
    int fd;
    const struct dwell_keep *keep;
    uint64_t until;                                      /* ticks: windows that begin up to then are dropped */
    bool (*has_ended)(const void *of, uint32_t process); /* whether nobody else changes the records of a process */
    const void *of;
};

/* Drops the calls of processes that have ended, in the session and in the list of the opened file. They are counted. */
void keep_drop_calls(const struct keep_drop *d, struct session_file *file);

#endif
