/* The options of `dwell record`, read from the command line. */
#ifndef DWELL_COMMANDS_RECORD_OPTIONS_H
#define DWELL_COMMANDS_RECORD_OPTIONS_H

#include <argp.h>

#include "commands/filters.h"
#include "commands/shared_options.h"
#include "dwell/format.h"
#include "fleet/push.h"

struct record_settings {
    struct shared_options shared;
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
    struct filters filters;
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

/* The options of dwell record alone, for commands that have them, too. The parser's input is a struct record_settings.
 */
extern const struct argp_option record_own_options[];
error_t record_parse_option(int key, char *argument, struct argp_state *state);

/* Reads the options into *settings. Ends the program at an error. The caller passes them to record_options_drop. */
void record_options_parse(struct record_settings *settings, int argc, char **argv);
void record_options_drop(struct record_settings *settings);

#endif
