/*
 * The contents of logs: runs, markers with their durations, and measurements of CPU and memory. Each marker keeps sums
 * and a histogram of its durations, so memory does not grow with the length of a log.
 */
#ifndef DWELL_PERFLOG_PERFLOG_LOG_H
#define DWELL_PERFLOG_PERFLOG_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/histogram.h"
#include "base/wide.h"

enum perflog_field { FIELD_OSVERSION, FIELD_BUILD, FIELD_PLATFORM, FIELD_CPU, FIELD_DEVNAME, FIELD_COUNT };

/* One run of a program: from its header to its next header in the same file. */
struct perflog_run {
    const char *file;
    uint64_t line; /* of the header's REGISTERED APP, or of the run's first line */
    const char *app;
    const char *fields[FIELD_COUNT]; /* NULL if the header does not have the field */
    bool pid_known;
    uint64_t pid;
    uint64_t resolution;      /* ticks per second; zero if unknown */
    bool stated;              /* the run's own header states the resolution; else it is that of an earlier header */
    bool uses_calibration_id; /* the program has registered id 101 for a marker of its own */
    uint64_t durations, first_duration_line;
    uint32_t named; /* markers without an id */
    uint32_t app_number, file_number;
};

/* A named value of a marker: the last value of that name. */
struct perflog_attribute {
    const char *name;
    char *value;
};

/*
 * A marker is registered under an id, which later events use. Markers of one application with the same string are one
 * marker in all runs of one resolution, unless the caller keeps runs apart. Ids without a string are never joined.
 */
struct perflog_marker {
    uint32_t run; /* its first run */
    const char *app, *text;
    uint32_t id; /* the first one */
    bool registered;
    const char *file;
    uint64_t line;              /* of the first registration, or of the first event */
    bool monitor;               /* has no durations: it has other events, or is registered for CPU or memory */
    struct histogram durations; /* ticks of the run */
    uint64_t errors;            /* failed activations, which have no duration */
    struct perflog_attribute *attributes;
    size_t attribute_count, attribute_room;
};

enum { PLOT_POINTS = 64 };

/* A series of points. Each is the mean of the same number of values. */
struct perflog_plot {
    int128 sums[PLOT_POINTS];
    uint64_t counts[PLOT_POINTS];
    uint64_t width; /* values in a full point */
    size_t used;
};

/* Measurements of an application's CPU or memory, in millionths of a percent or byte. */
struct perflog_series {
    const char *app;
    bool memory;
    uint32_t marker; /* the first one */
    uint64_t count;
    int128 least, greatest, sum;
    struct perflog_plot plot;
};

/* Events of unknown kinds, which are only counted. */
struct perflog_other {
    const char *name;
    uint64_t count;
};

struct perflog;
struct perflog *perflog_new(bool instances);
void perflog_free(struct perflog *log);

/* Adds a log. Reports and counts the lines that cannot be parsed; reports up to a limit. `file` is the name in
 * messages. Returns false and sets errno if the log cannot be read to its end. */
bool perflog_load(struct perflog *log, FILE *in, const char *file);

/* Ends the loading. Durations without a known RESOLUTION are in ticks of `resolution`. If that is zero, their unit
 * stays unknown, which is reported. */
void perflog_finish(struct perflog *log, uint64_t resolution);

const struct perflog_run *perflog_runs(const struct perflog *log, size_t *count);
const struct perflog_marker *perflog_markers(const struct perflog *log, size_t *count);
const struct perflog_series *perflog_series(const struct perflog *log, size_t *count);
const struct perflog_other *perflog_others(const struct perflog *log, size_t *count);

struct perflog_totals {
    uint64_t understood; /* records; most lines have one */
    uint64_t events, bad_lines;
};
struct perflog_totals perflog_totals(const struct perflog *log);

#endif
