/* The end of a recording: completes the session file, and prints in one line what was recorded and lost. */
#ifndef DWELL_RECORDER_RECORD_OUTCOME_H
#define DWELL_RECORDER_RECORD_OUTCOME_H

#include "recorder/record_settings.h"
#include "session.h"

struct record_outcome {
    uint64_t events, counted, trace_events, lost, lost_trace_events, bytes;
    uint64_t samples, lost_samples;
    uint64_t kept, usual, limited, unkept; /* calls, where windows of slow calls are kept (format_keep.h) */
    bool keeps;                            /* that is so */
    int sample_error;                      /* an errno value; zero if samples were not refused */
    size_t threads, processes;             /* with the runtime */
    uint32_t trouble;
    double probes_share; /* of the program's CPU time; zero if they took little time */
    bool spare_samples;  /* nobody needs them (samples_are_spare) */
    bool own_hooks;      /* executable_has_own_hooks; known if nothing was recorded */
    bool empty;          /* there are no events, counted calls, trace events, marks or samples */
};

struct module_names;

/* Adds the symbols to the session, gives back its unused space, and counts what it holds. `known` are the names that
 * were found while the program ran. */
void record_complete(const struct session *session, int fd, const char *path, struct module_names *known,
                     struct record_outcome *o);

/* The program may have copied the session when it got the signal of --dump-on. */
void record_seal_dump(const struct session *session, const char *path);

/* Prints what was recorded, and what was lost and why. */
void record_report(const struct record_settings *s, const struct record_outcome *o);

#endif
