/* A session that is watched while it grows, with all that views need of it. */
#ifndef DWELL_ANALYSIS_LIVE_H
#define DWELL_ANALYSIS_LIVE_H

#include "analysis/analysis.h"
#include "profile/follow.h"

struct binaries;

/* What happened since a session was looked at before; groups have the same numbers as in the whole. */
struct recent_times {
    const struct rollup *rollup; /* NULL: it was not looked at before */
    uint64_t interval;           /* nanoseconds */
};

struct live {
    struct follow *follow;
    struct analysis whole;     /* all of it; valid from a look to the next reading */
    struct analysis recent;    /* what happened since the look before; without a rollup, there was none */
    struct recent_times times; /* the same, for view_rows */
    struct function_name *names;
    size_t name_count;
    struct binaries *binaries;
    unsigned jobs;
    bool raw;
};

/* Opens the session in `file`. Messages name it `path`. Options: jobs and raw. Returns NULL and sets the error where
 * the file cannot be read. */
struct live *live_open(const char *file, const char *path, const struct analysis_options *options, struct error *error);
void live_close(struct live *l);

/* Reads what has been written since the last call and makes `whole` and `recent` anew. Reads a long file in several
 * calls: *left is the number of bytes that are left. Where this fails, `whole` and `recent` stay as they are. */
bool live_read(struct live *l, uint64_t *left, struct error *error);

/* Such as "shop (1234): running for 2.5 s", or "ended (exit status 3)"; to be freed by the caller. */
char *live_describe(const struct live *l);

/* Such as "12345 calls, 120 a second, 4 threads, 2 processes". */
char *live_describe_rates(const struct live *l);

#endif
