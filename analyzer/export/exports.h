/* The formats that other tools read: one file each, and one table of them. */
#ifndef DWELL_EXPORT_EXPORTS_H
#define DWELL_EXPORT_EXPORTS_H

#include <stdio.h>

#include "analysis/analysis.h"

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
    double min_percent;    /* of the session's elapsed inclusive time that a function must have as its own inclusive */
    const char *filter;    /* a glob that a function's name must match; NULL: all do */
    bool aggregate;        /* a line for each function instead of one for each activation */
    enum export_time time; /* what is told of each call path, where a format has room for one value alone */
};

struct export_format {
    const char *name;
    const char *does; /* a line for --list */
    unsigned heeds;   /* enum export_heeds */
    /* One of the two. Errors of reading and writing are left in `out`; the second makes the file of that name, or
     * several whose names begin so, and ends the program at an error. */
    void (*write)(const struct analysis *session, const struct export_options *options, FILE *out);
    void (*write_files)(const struct analysis *session, const struct export_options *options, const char *prefix);
    /* Ends the program if the session does not hold what is asked for; NULL: whatever it holds will do. Nothing is
     * opened to be written before. */
    void (*check)(const struct analysis *session, const struct export_options *options);
    bool compressed; /* by itself; else it is so if the file's name ends in .gz */
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
