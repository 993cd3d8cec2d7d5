/* Why calls of a function were slow: what the slow ones did more of than the usual ones, row by row. */
#ifndef DWELL_CAUSES_WHY_H
#define DWELL_CAUSES_WHY_H

#include "base/units.h"
#include "causes/why_factors.h"

enum why_slow { WHY_SHARE, WHY_ABOVE, WHY_PERCENTILE, WHY_RANK, WHY_MOMENT };

/* Which calls are slow, and which ones they are compared with. */
struct why_choice {
    enum why_slow slow;
    double percent;  /* the slowest share, or a percentile */
    uint64_t number; /* nanoseconds: of a limit, or since the session began; or 1 for the slowest call */
    bool between;    /* the usual calls are those between two percentiles, and not all others */
    double from, to; /* percentiles */
    bool values;     /* recorded arguments can be factors: they are secrets, and only shown to who asks for them */
};

/* A session that is compared, and the function in it. */
struct why_session {
    const struct analysis *analysis;
    uint32_t function;
    const struct why_waits *waits; /* of the session, if they are known and it is the only one; NULL: they are found */
};

/* What was found in a session. */
struct why_part {
    struct why_session session;
    uint64_t rate;          /* its ticks per second, if its ticks have become nanoseconds; else zero */
    struct why_waits waits; /* those of why_session, or its own */
    struct profile *paths;  /* of its rows: below one root, the function comes first */
    size_t first_row, row_count, first_sample, sample_count, first_stack, stack_count;
};

/* A line that has no more of the difference than this, beyond what is predicted, is no cause. */
enum { WHY_LITTLE_PERCENT = 5 };

/* Times are nanoseconds, means of a call, and add up to those of the set. */
struct why_line {
    char *path; /* from the function on, separated by semicolons; the caller's are left out */
    enum why_kind kind;
    const struct why_wait *wait; /* NULL if unknown or none */
    bool estimated;              /* a part of its time was divided by samples */
    bool uncounted;              /* such time of other lines is in it, so it has more calls than were recorded */
    uint64_t count[WHY_SETS];    /* calls of the path, waits, faults: in all calls of the set */
    uint64_t ticks[WHY_SETS];    /* likewise */
    uint64_t ns[WHY_SETS];
    int64_t difference;
    double error[WHY_SETS];    /* half width of the 95 % interval of an estimated time; zero if it was measured */
    double variance[WHY_SETS]; /* of the mean, in ticks; NAN if there are too few calls */
    double ci95;               /* half width of the 95 % interval of the difference; NAN if there are too few calls */
    double probability;        /* that chance makes any row differ so much; 1 of those that have only a little */
    char *meanwhile;           /* what the causing threads did in these waits of slow calls; NULL if unknown */
    bool found;                /* it separates the sets */
    bool follows;              /* preempted time that is longer as CPU time is */
    bool behind;               /* preempted time that comes after other lines, though it may be longer */
    int64_t place;             /* what lines are sorted by: the difference, or that of the line that it is behind */
};

struct why_set {
    uint64_t calls, ticks; /* of all calls */
    uint64_t least;        /* ticks */
    uint64_t ns;           /* the mean */
};

/* Calls that took about as long: within half a percent. */
struct why_duration {
    uint64_t ticks;
    uint64_t calls[WHY_SETS];
};

struct why {
    uint64_t calls;
    struct why_set sets[WHY_SETS];
    struct why_line *lines; /* what differs most first, in the direction in which the sets differ */
    size_t line_count;
    size_t found;         /* number of lines that separate the sets */
    struct why_call call; /* the slow one, if a single one was chosen */
    uint64_t rate;        /* ticks per second; those of several sessions are nanoseconds, as their clocks differ */
    struct why_part *parts;
    size_t part_count;
    struct why_found scan; /* of all sessions: the paths are those of the parts */
    struct why_factors factors;
    struct why_duration *durations; /* of both sets, the shortest first */
    size_t duration_count;
};

/* Reads the events of the session several times. It is an error if there are no calls, or not the wanted one. */
bool why_find(struct why *why, const struct analysis *analysis, uint32_t function, const struct why_choice *choice,
              struct error *error);

/* The same for several sessions, which are compared as one. */
bool why_find_several(struct why *why, const struct why_session *sessions, size_t count,
                      const struct why_choice *choice, struct error *error);
void why_drop(struct why *why);

/* Ticks of a session in those of the comparison. */
static inline uint64_t why_ticks_of(const struct why_part *part, uint64_t ticks)
{
    return part->rate ? ticks_to_ns(ticks, part->rate) : ticks;
}

/* There are calls of both sets, which can be compared. */
static inline bool why_has_sets(const struct why *why)
{
    return why->sets[WHY_SLOW].calls && why->sets[WHY_USUAL].calls;
}

/* The slow calls take more time than the usual ones, or as much; otherwise less. */
static inline bool why_is_more(const struct why *why)
{
    return why->sets[WHY_SLOW].ns >= why->sets[WHY_USUAL].ns;
}

/* Whether chance is an unlikely reason. */
static inline bool why_is_significant(double probability)
{
    return probability <= 0.05;
}

/* ---- parts of why_find ---- */

/* Finds the probabilities of the lines. `lines_of_rows`: by row of the scan; PROFILE_NONE if it has no line. */
void why_find_chance(struct why *why, const uint32_t *lines_of_rows);

/* Adds what was found in a session, and in its waits. */
void why_join(struct why *why, const struct why_session *session, const struct why_plan *plan, struct why_found *found,
              const struct why_waits *waits);

/* Gives waits of equal texts equal numbers. */
void why_join_waits(struct why *why);

/* Makes lines of the rows of the scan. */
void why_make_lines(struct why *why);

/* The stack samples of a line of CPU time that lie in another line's function. That one's calls are not in the session.
 * Both are numbers of lines. */
struct why_share {
    uint32_t from, to; /* equal for the line's own code */
    struct sample_sum sets[WHY_SETS];
};

/* Divides CPU time of lines by their samples, as docs/time-model.md describes. Shares are in any order. */
void why_split_lines(struct why *why, struct why_share *shares, size_t count);

/* Whether an estimated line differs by enough to separate the sets, whatever its true time is within its interval. */
bool why_split_is_certain(const struct why *why, const struct why_line *line);

/* Follows the causes of the lines that separate the sets. The scan's samples have to be sorted. */
void why_find_meanwhile(struct why *why);

#endif
