/* What VSPerfReport's summaries are made of, and those that speak of functions. */
#ifndef DWELL_EXPORT_VSPERF_ROWS_H
#define DWELL_EXPORT_VSPERF_ROWS_H

#include "export/vsperf_cells.h"

/* What a process' rows are made of. */
struct vsperf_process_rows {
    uint32_t serial, pid;
    char *name;
    struct edges edges;
    uint32_t *functions; /* those on its call paths, in the order of their rows */
    size_t function_count;
    uint32_t *callers, *callees;       /* indices of edges, by callee or by caller, in that order */
    size_t caller_count, callee_count; /* of edges with a caller: the same */
};

struct vsperf_material {
    const struct analysis *session;
    struct vsperf_process_rows *processes;
    size_t count;
};

struct vsperf_material vsperf_prepare(const struct analysis *l);
void vsperf_drop(struct vsperf_material *m);

/* The file for rows of that process. */
struct vsperf_file vsperf_of_process(const struct vsperf_file *f, const struct vsperf_process_rows *p);

/* Each writes a summary with its titles. */
typedef void vsperf_writer(const struct vsperf_file *f, const struct vsperf_material *m);
vsperf_writer vsperf_caller_callee, vsperf_functions, vsperf_lines, vsperf_tree;

#endif
