/* The recordings among runs: dwell record --every sends many runs of one program, the deltas of its session. */
#ifndef DWELL_FLEET_RECORDINGS_H
#define DWELL_FLEET_RECORDINGS_H

#include "fleet/runs.h"

/* A run, or the deltas of a session among the runs. */
struct fleet_recording {
    uint64_t number;                     /* of the run, or of the session */
    const struct fleet_run *first;       /* the first one to begin */
    size_t deltas;                       /* zero for a run */
    uint64_t elapsed, rows, lost_events; /* of all of them */
    uint64_t threads, processes;         /* of the delta with the most: each has those in which something happened */
};

/* Lists them in the order in which they began; with `apart`, deltas as runs of their own. The runs must stay as they
 * are. The caller frees the list. */
struct fleet_recording *fleet_recordings(const struct fleet_runs *runs, bool apart, size_t *count);

#endif
