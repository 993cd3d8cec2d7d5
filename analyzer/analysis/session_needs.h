/* What a command or an export needs of a session. Each states it in its struct command_line or struct export_format,
 * and options can add to it. It is checked here alone, when the session has been opened. For example, `dwell critical`
 * needs the order of events, which mode profile does not keep. */
#ifndef DWELL_ANALYSIS_SESSION_NEEDS_H
#define DWELL_ANALYSIS_SESSION_NEEDS_H

#include <stdbool.h>

#include "base/error.h"

struct analysis;
struct session_file;

/* Bits of a set. */
enum session_needs {
    SESSION_SINGLE_CALLS = 1 << 0,
    SESSION_ORDER = 1 << 1,        /* of the events of all threads */
    SESSION_VALUED_CALLS = 1 << 4, /* single calls, or their sums by recorded values */
    /* Known when the session has been loaded. */
    SESSION_PROBES = 1 << 2,    /* and what they cost */
    SESSION_OS_EVENTS = 1 << 3, /* for application times */
};

/* Sets the error and returns false if the session cannot have what the set names. The error says what to do; `instead`
 * is what else the user can do, such as "export callgrind", or NULL. */
bool session_needs_check(unsigned needs, const struct session_file *file, const char *instead, struct error *error);

/* The same for a loaded session, with what is only known then. */
bool session_needs_check_loaded(unsigned needs, const struct analysis *loaded, const char *instead,
                                struct error *error);

#endif
