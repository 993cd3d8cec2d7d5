/* The table of export formats. Each format has a file of its own. */
#ifndef DWELL_EXPORT_EXPORTS_H
#define DWELL_EXPORT_EXPORTS_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "trace/recorded_values.h"

/* The options that a format uses; the command rejects the others. */
enum export_uses {
    EXPORT_FUNCTIONS = 1 << 0, /* --limit, --sort, --min and --filter choose functions */
    EXPORT_AGGREGATE = 1 << 3,
    EXPORT_TIME = 1 << 4,
    EXPORT_CSV = 1 << 5,      /* --csv-safe */
    EXPORT_LINES = 1 << 6,    /* not an option: the format uses the lines of calls, if the session has them */
    EXPORT_LIMITS = 1 << 7,   /* not an option: the format has the shortest and the longest calls */
    EXPORT_COUNTED = 1 << 8,  /* the same: calls that were only counted */
    EXPORT_TIMING = 1 << 9,   /* the same: how times are known */
    EXPORT_SINGLE = 1 << 10,  /* the same: single calls, so functions that are known by samples are left out */
    EXPORT_VALUES = 1 << 11,  /* --with-values */
    EXPORT_MOMENTS = 1 << 12, /* not an option: times are as measured, whatever samples say */
};

enum export_time { EXPORT_ELAPSED, EXPORT_APPLICATION, EXPORT_CPU, EXPORT_BLOCKED, EXPORT_CALLS };

struct export_options {
    const bool *only;                     /* by function, true if it is chosen; NULL if all are */
    bool aggregate;                       /* one line for each function instead of one for each activation */
    enum export_time time;                /* the value of call paths, for formats with one value only */
    const struct recorded_values *values; /* to be written; NULL: none, as they can be secrets */
};

struct export_format {
    const char *name;
    const char *summary; /* one line for --list */
    unsigned uses;       /* enum export_uses */
    unsigned needs;      /* of a session: a set of enum session_needs */
    const char *instead; /* what the user can do with a session that lacks it; NULL: nothing */
    /* One of the two is set. `write` leaves errors of writing in the stream and returns others. `write_files` makes the
     * file of that name, or several files whose names begin with it. If it fails, it makes and replaces no file. */
    bool (*write)(const struct analysis *session, const struct export_options *options, FILE *out, struct error *error);
    bool (*write_files)(const struct analysis *session, const struct export_options *options, const char *prefix,
                        struct error *error);
    /* Sets the error and returns false if the session lacks data that the options need. Called before a file is
     * opened for writing. NULL if every session can be written. */
    bool (*check)(const struct analysis *session, const struct export_options *options, struct error *error);
    bool compressed; /* always; other formats are compressed if the file's name ends in .gz */
    bool binary;     /* not to be written to a terminal */
};

/* Those that every build has, in the order of --list. The last element has no name. commands/features.h has all. */
extern const struct export_format export_formats[];

/* A unique name for each function of the profile: its own, followed by module and address if others have the same name.
 * The caller frees each name and the list. */
char **export_unique_names(const struct analysis *session);

#endif
