/* Mode ring in which only windows of slow calls are kept (`dwell record --keep`). Part of format.h. */
#ifndef DWELL_FORMAT_KEEP_H
#define DWELL_FORMAT_KEEP_H

#include "dwell/format.h"

enum { DWELL_KEEP_WATCHES = 30, DWELL_KEEP_TEXT = 104 };
enum { DWELL_KEEP_OPEN = 16 /* watched activities of trace events that a thread may have open */ };

/* Which calls are slow. The process learns the limits of all but the first. */
enum dwell_keep_rule {
    DWELL_KEEP_ABOVE, /* those that take longer than `limit` */
    DWELL_KEEP_SHARE, /* the slowest `amount` of 10,000 */
    DWELL_KEEP_MEAN,  /* those that take `amount` / DWELL_KEEP_ONCE times as long as the mean */
};
enum { DWELL_KEEP_ONCE = 256 };

/* What makes a call of a watched function slow. */
struct dwell_watch {
    uint64_t limit; /* ticks: a call that takes longer is kept */
    uint32_t rule;  /* enum dwell_keep_rule */
    uint32_t amount;
    char text[DWELL_KEEP_TEXT]; /* as the user wrote it, cut if it is longer; ends with a zero */
};

enum dwell_keep_flag {
    DWELL_KEEP_NEWEST = 1,  /* in a session that has max_size, the oldest windows make room */
    DWELL_KEEP_OTHERS = 2,  /* a window is one of all processes */
    DWELL_KEEP_SHORTER = 4, /* `around` is the most: less if calls are kept often (dwell_rec_kept.around) */
};

/* With DWELL_KEEP_SHORTER: what is kept before and after a call is such a part of the time since the last kept call. So
 * all of that is at most half a percent of the whole time, but for slow calls that have the least. */
enum { DWELL_KEEP_PART = 400, DWELL_KEEP_LEAST_PER_SECOND = 10000 /* 0.1 ms */ };

/* A keep chunk, of one unit. The recorder writes it before the program starts; dwell_file_more.keep is its offset.
 * `dwell control` may add watches. */
struct dwell_keep {
    struct dwell_chunk_header chunk;
    uint64_t around;  /* ticks before and after a call that belong to its window */
    uint64_t period;  /* ticks; zero: any number of windows is kept */
    uint32_t most;    /* windows of slow calls in each period, of all processes */
    uint32_t usual;   /* one call in so many is kept as a usual one; zero: none is */
    uint32_t watches; /* their number */
    uint32_t flags;   /* enum dwell_keep_flag */
    struct dwell_watch watch[DWELL_KEEP_WATCHES];
};

/* A kept call. All events of its process from `around` before its enter to `around` after its exit are in its window;
 * of all processes with DWELL_KEEP_OTHERS. No strings. Older records end before `around`: it is that of the keep chunk
 * then. */
struct dwell_rec_kept {
    struct dwell_record record;
    uint32_t thread;
    uint16_t watch; /* index in dwell_keep.watch */
    uint16_t usual; /* not zero: it was not slow, and is kept to compare */
    uint64_t function;
    uint64_t enter_time, exit_time;
    uint64_t missing; /* ticks of the window that the thread's ring did not hold any more; at most the whole window */
    uint64_t around;  /* ticks */
};

_Static_assert(sizeof(struct dwell_keep) <= DWELL_UNIT, "a keep chunk is one unit");
_Static_assert(sizeof(struct dwell_rec_kept) == 56, "the layout of a kept call is fixed");

#endif
