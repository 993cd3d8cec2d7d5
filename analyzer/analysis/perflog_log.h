/*
 * What logs hold: runs, markers with their durations, and what was measured of the CPU and memory. Durations are kept
 * as sums and a histogram for each marker, so that memory does not grow with a log's length.
 */
#ifndef DWELL_ANALYSIS_PERFLOG_LOG_H
#define DWELL_ANALYSIS_PERFLOG_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/histogram.h"
#include "base/wide.h"

enum perflog_field { FIELD_OSVERSION, FIELD_BUILD, FIELD_PLATFORM, FIELD_CPU, FIELD_DEVNAME, FIELD_COUNT };

/* A program's use of the library: from its header to its next one in the same file. */
struct perflog_run {
    const char *file;
    uint64_t line; /* of the header's REGISTERED APP, or where it was first met */
    const char *app;
    const char *fields[FIELD_COUNT]; /* NULL where the header has none */
    bool pid_known;
    uint64_t pid;
    uint64_t resolution; /* ticks per second; zero: not known */
    uint64_t durations, first_duration_line;
    uint32_t named; /* markers that have no id */
    uint32_t app_number, file_number;
};

/* A named value on a marker, the last one of its name. */
struct perflog_attribute {
    const char *name;
    char *value;
};

/*
 * A marker, which is what was registered under an id and is meant by the events that follow: those of one application
 * with the same string are one, in all runs of one resolution, unless they are to be kept apart. Ids without a string
 * are always kept apart from each other.
 */
struct perflog_marker {
    uint32_t run; /* the first one */
    const char *app, *text;
    uint32_t id; /* the first one */
    bool registered;
    const char *file;
    uint64_t line;              /* of the first registration, or else event */
    bool monitor;               /* not for durations: has other events, or is registered for CPU or memory */
    struct histogram durations; /* ticks of the run */
    uint64_t errors;            /* activations that failed, which have no duration */
    struct perflog_attribute *attributes;
    size_t attribute_count, attribute_room;
};

enum { PLOT_POINTS = 64 };

/* A row of points of which each is the mean of as many values, however many there are. */
struct perflog_plot {
    int128 sums[PLOT_POINTS];
    uint64_t counts[PLOT_POINTS];
    uint64_t width; /* values in a full point */
    size_t used;
};

/* What was measured of an application's CPU or memory; millionths of a percent or byte. */
struct perflog_series {
    const char *app;
    bool memory;
    uint32_t marker; /* the first one */
    uint64_t count;
    int128 least, greatest, sum;
    struct perflog_plot plot;
};

/* Events of which no more is known than that there were some. */
struct perflog_other {
    const char *name;
    uint64_t count;
};

struct perflog;
struct perflog *perflog_new(bool instances);
void perflog_free(struct perflog *log);

/* Adds a log; what cannot be understood of it is said line by line, up to a limit, and counted. False: it could not be
 * read to its end, errno says why. `file` is its name, for messages. */
bool perflog_load(struct perflog *log, FILE *in, const char *file);

/* Ends the loading. Durations whose RESOLUTION is not known are of `resolution`, or if that is zero are taken out, said
 * and counted as lines that cannot be understood. */
void perflog_finish(struct perflog *log, uint64_t resolution);

const struct perflog_run *perflog_runs(const struct perflog *log, size_t *count);
const struct perflog_marker *perflog_markers(const struct perflog *log, size_t *count);
const struct perflog_series *perflog_series(const struct perflog *log, size_t *count);
const struct perflog_other *perflog_others(const struct perflog *log, size_t *count);

struct perflog_totals {
    uint64_t understood; /* parts of lines, in most lines one */
    uint64_t events, bad_lines;
};
struct perflog_totals perflog_totals(const struct perflog *log);

#endif
