/* What is recorded, and how. */
#ifndef DWELL_RECORDER_RECORD_SETTINGS_H
#define DWELL_RECORDER_RECORD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/format.h"
#include "fleet/push.h"
#include "recorder/filters.h"
#include "recorder/planned_calls.h"
#include "recorder/planned_values.h"

struct record_settings {
    const char *output; /* the session file, as the user calls it */
    bool quiet, wait_all, no_follow, no_os_calls, call_sites;
    const char *os_events, *clock; /* NULL for the default */
    enum dwell_mode mode;
    uint32_t ring_size;
    bool paused;
    int dump_on;           /* a signal's number; zero if none */
    unsigned long monitor; /* milliseconds; zero if none */
    uint32_t overhead;     /* budget in thousandths; zero if none */
    bool overhead_asked;   /* by the option: it is no default */
    int sample_rate;       /* samples a second of CPU time; zero if none; negative if the budget decides */
    uint64_t record_for;   /* nanoseconds; zero: to the program's end */
    uint64_t max_size;     /* bytes; zero if unlimited */
    bool shared_ring;      /* then the oldest events are replaced */
    char *keep_free;       /* bytes, as a decimal number; NULL for the default */
    char *events;          /* settings, separated by commas; NULL if none */
    const char *on_keep;   /* a command for each kept window; NULL if none */
    struct filters filters;
    struct planned_values values;
    struct planned_calls calls;
    unsigned runs;
    const char *push; /* a URL, or - for the usual server; NULL if none */
    uint64_t every;   /* nanoseconds between deltas; zero: only the end is pushed */
    struct fleet_labels labels;
    const char *spool; /* NULL for the usual folder */
    uint64_t spool_limit;
    char **forwarded; /* the options of a single run, as they were given */
    size_t forwarded_count, forwarded_room;
    char **program; /* and its arguments */
};

void record_settings_drop(struct record_settings *settings);

#endif
