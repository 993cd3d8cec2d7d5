/* The formats that other tools read: one file each, and one table of them. */
#ifndef DWELL_EXPORT_EXPORTS_H
#define DWELL_EXPORT_EXPORTS_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "base/amount.h"

/* Which options a format heeds; the command refuses the others. */
enum export_heeds {
    EXPORT_LIMIT = 1 << 0,
    EXPORT_MIN = 1 << 1,
    EXPORT_FILTER = 1 << 2,
    EXPORT_AGGREGATE = 1 << 3,
    EXPORT_TIME = 1 << 4,
    EXPORT_LINES = 1 << 5, /* no option: that calls were made from, if the session tells */
};

enum export_time { EXPORT_ELAPSED, EXPORT_APPLICATION, EXPORT_BLOCKED, EXPORT_CALLS };

struct export_options {
    size_t limit;          /* functions, those with the most elapsed exclusive time; zero: all */
    struct amount min;     /* the least elapsed inclusive time of a function */
    const bool *only;      /* by function: whether it may be chosen; NULL if all may */
    bool aggregate;        /* a line for each function instead of one for each activation */
    enum export_time time; /* what is told of each call path, where a format has room for one value alone */
};

struct export_format {
    const char *name;
    const char *does; /* a line for --list */
    unsigned heeds;   /* enum export_heeds */
    /* One of the two. `write` writes to a stream; it leaves errors of writing in the stream, and returns others.
     * `write_files` makes the file of that name, or several whose names begin so. Where it fails, it leaves nothing
     * behind and replaces nothing. */
    bool (*write)(const struct analysis *session, const struct export_options *options, FILE *out, struct error *error);
    bool (*write_files)(const struct analysis *session, const struct export_options *options, const char *prefix,
                        struct error *error);
    /* Returns an error if the session does not hold what the options ask for. Called before a file is opened to be
     * written. NULL if any session will do. */
    bool (*check)(const struct analysis *session, const struct export_options *options, struct error *error);
    bool compressed; /* by itself; other formats are compressed if the file's name ends in .gz */
    bool binary;     /* not to be written to a terminal */
};

/* In the order of --list; ended by one without a name. */
extern const struct export_format export_formats[];

/* NULL: there is none of that name. */
const struct export_format *export_find(const char *name);

/* The functions that the options choose, those with the most elapsed exclusive time first: indices, to be freed by the
 * caller. */
uint32_t *export_choose(const struct analysis *session, const struct export_options *options, size_t *count);

/* Names as a format may need them: each function's own, with its module and address behind it where others have the
 * same. One for each function of the profile; to be freed, each and all, by the caller. */
char **export_unique_names(const struct analysis *session);

#endif
