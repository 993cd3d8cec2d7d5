/* The critical path: what the length of a run, or of a part of it, consisted of. It goes back from the end of the part,
 * and at each wait to the thread that ended the wait. */
#ifndef DWELL_CAUSES_CRITICAL_H
#define DWELL_CAUSES_CRITICAL_H

#include "analysis/analysis.h"
#include "causes/wait_causes.h"
#include "profile/path_scan.h"

/* A part of a session: it ends on a thread. */
struct critical_part {
    uint32_t thread;   /* serial number */
    uint64_t from, to; /* ticks */
};

/* What the path's rows are for, besides functions. */
enum critical_place {
    CRITICAL_FUNCTION,
    CRITICAL_OUTSIDE,  /* no function was open */
    CRITICAL_STARTING, /* a thread had been made, and had not begun */
    CRITICAL_UNKNOWN,  /* nothing was recorded */
};

struct critical_what {
    enum critical_place place;
    uint32_t function; /* of the analysis; PROFILE_NONE for other places */
};

struct critical_row {
    struct critical_what what;
    struct path_times times;
};

/* A time in which the path stays on one thread. */
struct critical_segment {
    uint32_t thread; /* serial number; that of the waiting thread if the path is lost */
    uint64_t begin, end;
    uint64_t woken; /* as in struct path_range */
    struct critical_what longest;
};

/* A thread that was recorded in the part. */
struct critical_thread {
    uint32_t thread;
    uint64_t on_path; /* ticks */
    uint64_t slack;   /* ticks of the part in which it waited for other threads, or had ended */
};

struct critical_path {
    struct critical_part part;
    struct critical_row *rows; /* the longest total first; they add up to the length of the part */
    size_t row_count;
    struct critical_segment *segments; /* in order of time, without gaps */
    size_t segment_count, segment_room;
    struct critical_thread *threads; /* in order of their starts */
    size_t thread_count;
    size_t unknown_origins; /* threads on the path whose maker is unknown */
};

/* Sets *part to the whole run of the first process that the selection has: from its start to the end of its first
 * thread, or of the first selected one. Without a selection: of the first process of the session. The moments of the
 * request limit it. */
bool critical_find_part(const struct analysis *analysis, struct selection_request *request, struct critical_part *part,
                        struct error *error);

/* Sets *part to the longest call of the function that lies in `within`. It is an error if there is none. */
bool critical_find_slowest(const struct analysis *analysis, uint32_t function, const struct critical_part *within,
                           struct critical_part *part, struct error *error);

/* Only the part and the segments of the path, without what is longest in them. Reads nothing. */
struct critical_path critical_path_walk(const struct analysis *analysis, const struct critical_part *part,
                                        const struct wait_causes *causes);

/* Reads the session again. The analysis and the causes are those of the whole session. `memory` is that of
 * path_scan_run.
 */
struct critical_path critical_path_find(const struct analysis *analysis, const struct critical_part *part,
                                        const struct wait_causes *causes, struct path_memory *memory);
void critical_path_drop(struct critical_path *p);

#endif
