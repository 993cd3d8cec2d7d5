/* For what_if.c and what_if_cpus.c: the points of the recorded order, and what threads did between them. */
#ifndef DWELL_CAUSES_WHAT_IF_RUN_H
#define DWELL_CAUSES_WHAT_IF_RUN_H

#include "causes/what_if.h"

enum point_kind {
    POINT_ACT,
    POINT_START,
    POINT_WAIT,
    POINT_GAP,
    POINT_END
}; /* in this order if their times are equal */

struct what_if_point {
    uint64_t time; /* when it was recorded; the end of a wait, or of a gap: a wait without a known cause */
    uint64_t left; /* when it began */
    enum point_kind kind;
    uint32_t edge;   /* from an act to a wait or a start; WHAT_IF_NONE if a start has none */
    uint32_t thread; /* index */
    uint32_t work;   /* the stretch of the thread before the point; WHAT_IF_NONE if it is empty */
};

#define WHAT_IF_NONE UINT32_MAX

/* A replay has a lane for each factor, as most of its time is that of reading the points. */
struct what_if_lanes {
    uint64_t at[WHAT_IF_STEPS];
};

struct what_if_edge {
    uint64_t time;                 /* of the act, as recorded */
    struct what_if_lanes replayed; /* of the act, as replayed */
    uint64_t gaps;                 /* ticks of gaps on the way to it */
};

/* What gaps are in a replay: as long as recorded; none at all; or up to the recorded moment, if the thread comes before
 * it. */
enum what_if_gaps { GAPS_AS_RECORDED, GAPS_CLOSED, GAPS_UNTIL_RECORDED };

struct what_if {
    const struct analysis *loaded;
    struct critical_part part;
    struct what_if_point *points;
    size_t point_count, point_room;
    struct what_if_edge *edges;
    size_t edge_count, edge_room;
    size_t stretch_count;       /* what threads do between two points */
    struct path_scan scan;      /* its ranges are the stretches */
    struct what_if_lanes *less; /* by stretch: ticks that the replay leaves out, modulo 2^64 */
    unsigned cpus;              /* the replay has so many processors; zero: threads ran when they did */
    enum what_if_gaps gaps;
    uint64_t *yields;               /* by stretch: ticks in which the thread waited by giving up its processor */
    uint64_t *gap_times;            /* by thread: ticks of gaps on the way to its last point */
    uint64_t *blocked;              /* by function: ticks in which its own code was blocked, for no known object */
    uint64_t *recorded;             /* by thread: the recorded time of its last point */
    struct what_if_lanes *replayed; /* by thread: the replayed time of that point */
};

/* The index of a thread in the file's list; WHAT_IF_NONE if there is none. */
uint32_t what_if_thread(const struct what_if *w, uint32_t serial);

/* The length of the part in a lane if at most w->cpus threads run at a time, in order of becoming ready. */
uint64_t what_if_run_on_cpus(const struct what_if *w, int lane);

#endif
