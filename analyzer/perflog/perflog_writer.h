/*
 * The lines of a PerfLog log: its header, applications, markers and their events. A process is an application. There
 * are 100 numbers for markers; if more are needed, numbers are reused in turn, and the log registers them again.
 */
#ifndef DWELL_PERFLOG_PERFLOG_WRITER_H
#define DWELL_PERFLOG_PERFLOG_WRITER_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "base/intern.h"

enum { PERFLOG_MARKERS = 100, PERFLOG_LONGEST_APP = 32 };

/* A process. */
struct perflog_app {
    const struct trace_process *process; /* NULL if the session does not know it */
    char name[PERFLOG_LONGEST_APP + 1];
    bool registered;
    uint32_t strings[PERFLOG_MARKERS + 1]; /* by number, 1 + its string; 0 if free */
    uint8_t last_marker;
    uint8_t *markers; /* by string; 0 if it has none */
    size_t next_sample;
};

struct perflog_writer {
    const struct analysis *session;
    FILE *out;
    char **strings; /* of markers: a function of the profile has its own number */
    size_t string_count;
    struct perflog_app *apps; /* one for each process of the session, and one for unknown processes */
    size_t app_count;
    bool has_samples;
    struct intern base_names; /* of the processes' programs */
    uint32_t *name_uses;      /* by the number of a base name: of how many processes it is */
};

/* Takes over the strings and their list. */
void perflog_writer_begin(struct perflog_writer *w, const struct analysis *session, char **strings, size_t count,
                          FILE *out);
void perflog_writer_end(struct perflog_writer *w);

/* The application of a process (serial number). */
struct perflog_app *perflog_writer_app(const struct perflog_writer *w, uint32_t process);

/* What is known of the machine. The lines of an imported report say only what the report does. */
void perflog_write_system(const struct perflog_writer *w);

/* Events of a marker, which they register first if it has no number. */
void perflog_write_duration(const struct perflog_writer *w, struct perflog_app *app, uint32_t string, uint64_t ticks);
void perflog_write_error(const struct perflog_writer *w, struct perflog_app *app, uint32_t string);
void perflog_write_attribute(const struct perflog_writer *w, struct perflog_app *app, uint32_t string, const char *name,
                             uint64_t value);

/* All samples of CPU and memory that were taken before `time`. */
void perflog_write_samples(struct perflog_writer *w, uint64_t time);

#endif
