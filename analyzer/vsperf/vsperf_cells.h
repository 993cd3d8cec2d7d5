/* The cells of VSPerfReport's CSV files. A comma follows each cell, even the last of a row. Strings are quoted. */
#ifndef DWELL_VSPERF_VSPERF_CELLS_H
#define DWELL_VSPERF_VSPERF_CELLS_H

#include <stdio.h>

#include <inttypes.h>

#include "analysis/analysis.h"
#include "profile/edges.h"

/* A file being written, and the process of its current rows. */
struct vsperf_file {
    FILE *out;
    const struct analysis *session;
    const char *process_name;
    uint32_t process; /* serial number */
    uint32_t pid;
    bool average_samples; /* an imported report of samples states averages */
};

/* Whether the rows of an imported report state averages of samples. Recorded sessions have no such columns. */
bool vsperf_has_average_samples(const struct analysis *session);

void vsperf_text(const struct vsperf_file *f, const char *text);
void vsperf_number(const struct vsperf_file *f, uint64_t number);
void vsperf_empty(const struct vsperf_file *f, unsigned cells);
void vsperf_end_row(const struct vsperf_file *f);

/* Writes titles, which are separated by commas. */
void vsperf_titles(const struct vsperf_file *f, const char *titles);

/* The columns of values that a summary has. */
enum vsperf_values {
    VSPERF_INCLUSIVE = 1 << 0,
    VSPERF_EACH = 1 << 1, /* minimum, average and maximum of a call */
    VSPERF_CALLS = 1 << 2,
};

/* Write the titles of the columns, and the cells of a row. */
void vsperf_value_titles(const struct vsperf_file *f, unsigned which);
void vsperf_values(const struct vsperf_file *f, unsigned which, const struct call_sums *called);

/* "Process Name, Process ID". */
void vsperf_process_titles(const struct vsperf_file *f);
void vsperf_process(const struct vsperf_file *f);

/* "Source File, Function Line Number, Module Name, Module Path, Function Address", or the last one only. */
void vsperf_location_titles(const struct vsperf_file *f);
void vsperf_location(const struct vsperf_file *f, uint32_t function);
void vsperf_address(const struct vsperf_file *f, uint32_t function);

#endif
