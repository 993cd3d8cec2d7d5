/* The list of the recording modes, and of their probes. */
#ifndef DWELL_MODES_H
#define DWELL_MODES_H

/* Each line is a mode: its number DWELL_MODE_..., its name in DWELL_MODE, and its recorders without and with filters
 * (recorder.h). Mode ring is mode trace whose chunks are used again (ring.c). */
#define MODES(X)                                                                                                       \
    X(TRACE, "trace", trace_recorder, filtered_recorder)                                                               \
    X(PROFILE, "profile", profile_recorder, profile_filtered_recorder)                                                 \
    X(RING, "ring", trace_recorder, filtered_recorder)

/* What a probe does: its steps (probe_steps.h) are specialised by these flags. */
enum probe_steps {
    STEPS_TIMED = 1,    /* reads the clock, and whether the operating system intervened; else it only keeps calls */
    STEPS_SITES = 2,    /* call sites are recorded */
    STEPS_FILTER = 4,   /* filters hide calls */
    STEPS_TREE = 8,     /* adds to the thread's call tree instead of writing records */
    STEPS_FLAGGED = 16, /* the end of a call of the OS: the interval before is flagged */
};

/* Each line is a gate, the prefix of its probes' names, and their flags. */
#define PROBES(X)                                                                                                      \
    X(QUIET, quiet, 0)                                                                                                 \
    X(QUIET_SITES, quiet_sites, STEPS_SITES)                                                                           \
    X(QUIET_FILTER, quiet_filter, STEPS_FILTER)                                                                        \
    X(QUIET_FILTER_SITES, quiet_filter_sites, STEPS_FILTER | STEPS_SITES)                                              \
    X(SITES, sites, STEPS_TIMED | STEPS_SITES)                                                                         \
    X(FILTER, filter, STEPS_TIMED | STEPS_FILTER)                                                                      \
    X(FILTER_SITES, filter_sites, STEPS_TIMED | STEPS_FILTER | STEPS_SITES)                                            \
    X(TREE, tree, STEPS_TIMED | STEPS_TREE)                                                                            \
    X(TREE_SITES, tree_sites, STEPS_TIMED | STEPS_TREE | STEPS_SITES)                                                  \
    X(TREE_FILTER, tree_filter, STEPS_TIMED | STEPS_TREE | STEPS_FILTER)                                               \
    X(TREE_FILTER_SITES, tree_filter_sites, STEPS_TIMED | STEPS_TREE | STEPS_FILTER | STEPS_SITES)

#endif
