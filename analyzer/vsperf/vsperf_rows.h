/* The data of VSPerfReport's summaries, and the summaries of functions, lines, callers and call tree. */
#ifndef DWELL_VSPERF_VSPERF_ROWS_H
#define DWELL_VSPERF_VSPERF_ROWS_H

#include "vsperf/vsperf_cells.h"

/* The data of a process' rows. */
struct vsperf_process_rows {
    uint32_t serial, pid;
    char *name;
    struct edges edges;
    uint32_t *functions; /* the functions on its call paths, in the order of their rows */
    size_t function_count;
    uint32_t *callers, *callees;       /* indices of edges, sorted by callee and by caller */
    size_t caller_count, callee_count; /* numbers of those edges */
};

struct vsperf_tables {
    const struct analysis *session;
    struct vsperf_process_rows *processes;
    size_t count;
};

struct vsperf_tables vsperf_new_tables(const struct analysis *analysis);
void vsperf_free_tables(struct vsperf_tables *m);

/* The file with this process as the process of its current rows. */
struct vsperf_file vsperf_of_process(const struct vsperf_file *f, const struct vsperf_process_rows *p);

/* Each of these writes a summary with its titles. */
typedef void vsperf_writer(const struct vsperf_file *f, const struct vsperf_tables *m);
vsperf_writer vsperf_caller_callee, vsperf_functions, vsperf_lines, vsperf_tree;

#endif
