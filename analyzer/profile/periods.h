/*
 * A session's amounts by call path and by period: consecutive ranges of time that cover the session. The sums over
 * consecutive periods are those of the selection with the same limits in time, to the tick.
 */
#ifndef DWELL_PROFILE_PERIODS_H
#define DWELL_PROFILE_PERIODS_H

#include "profile/profile.h"
#include "profile/selection.h"
#include "profile/session_samples.h"
#include "trace/session_file.h"

/* The amounts of a call path in one period. */
struct period_row {
    uint32_t period;
    uint32_t path;               /* the node of the profile */
    struct profile_node amounts; /* parent, function and site are not set */
};

struct periods {
    struct profile *profile; /* the call paths of all threads, without amounts */
    uint64_t *borders;       /* count + 1 moments: period i is borders[i] <= time < borders[i + 1] */
    uint32_t count;
    uint64_t first;          /* the number of the first period; periods_join joins 2 n with 2 n + 1 */
    unsigned joined;         /* how often they were joined */
    struct period_row *rows; /* sorted by period and path; none of a thread's root */
    size_t row_count, room;
};

/* Reads the session. The borders are ascending and belong to the periods from then on; times outside are left out. If
 * there would be more than `most` rows, periods are joined until there are fewer, or until one period is left. Call
 * trees without times require a single period. `first` is that of struct periods. */
struct periods *periods_collect(const struct session_file *file, const struct session_samples *samples,
                                const struct selection *selection, uint64_t *borders, uint32_t count, uint64_t first,
                                size_t most);

/* Makes one period of two. Returns false if there is only one. */
bool periods_join(struct periods *p);

void periods_free(struct periods *p);

/* ---- for the collector ---- */

struct number_index;

/* The amounts that were collected so far. The collector adds to the nodes of its own profile, and registers each node
 * to which it adds. period_sums_move moves these amounts into the rows of the current period. */
struct period_sums {
    struct periods *into;
    struct number_index *places; /* (path, period) -> row */
    uint32_t *touched, *since;   /* the registered nodes; by node, when it was registered last */
    size_t touched_count, touched_room, since_room;
    uint32_t turn;   /* the number of the move */
    uint32_t period; /* the current one, or PERIOD_OUTSIDE */
    size_t most;     /* number of rows */
};
#define PERIOD_OUTSIDE UINT32_MAX

void period_sums_grow(struct period_sums *s, uint32_t node);

static inline void period_sums_touch(struct period_sums *s, uint32_t node)
{
    if (__builtin_expect(node >= s->since_room || s->since[node] != s->turn, 0))
        period_sums_grow(s, node);
}

void period_sums_move(struct period_sums *s, struct profile *from);

/* Sets the current period, and *from and *to to its limits. */
void period_sums_find(struct period_sums *s, uint64_t time, uint64_t *from, uint64_t *to);

#endif
