/* A session that is read while it grows, with all that views need of it. */
#ifndef DWELL_ANALYSIS_LIVE_H
#define DWELL_ANALYSIS_LIVE_H

#include "analysis/analysis.h"
#include "profile/follow.h"

struct binaries;

/* The values of the time between the last two readings. Groups have the same numbers as in the whole. */
struct recent_times {
    const struct rollup *rollup; /* NULL after the first reading */
    const struct rollup *window; /* of the last seconds, for shares that do not jump; NULL if `rollup` is */
    uint64_t interval;           /* nanoseconds */
};

struct live {
    struct follow *follow;
    struct analysis whole;       /* the whole session; valid from one reading to the next */
    struct analysis recent;      /* the part since the previous reading; no rollup after the first reading */
    struct analysis window;      /* the part of the last seconds, likewise */
    struct recent_times times;   /* both, for view_rows */
    struct function_name *names; /* by function of the growing profile, in which copies are not joined */
    size_t name_count;
    struct binaries *binaries;
    unsigned jobs;
    bool raw, no_merge;
};

/* Opens the session in `file`. Messages name it `path`. Uses the options jobs and raw. Returns NULL and sets the error
 * if the file cannot be read. */
struct live *live_open(const char *file, const char *path, const struct analysis_options *options, struct error *error);
void live_close(struct live *l);

/* Reads what has been written since the last call and makes `whole` and `recent` anew. Reads a long file in several
 * calls: *left is the number of bytes that are left. If this fails, `whole` and `recent` are unchanged. */
bool live_read(struct live *l, uint64_t *left, struct error *error);

/* Such as "shop (1234): running for 2.5 s", or "ended (exit status 3)". The caller frees it. */
char *live_describe(const struct live *l);

/* Such as "12345 calls, 120 a second, 4 threads, 2 processes". The caller frees it. */
char *live_describe_rates(const struct live *l);

#endif
