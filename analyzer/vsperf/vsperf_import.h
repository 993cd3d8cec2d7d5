/*
 * A run from the CSV files of VSPerfReport. The files are read one after another. Then the run is completed and becomes
 * call trees: those of a CallTreeSummary or, without one, trees that are scaled from callers and callees.
 */
#ifndef DWELL_VSPERF_VSPERF_IMPORT_H
#define DWELL_VSPERF_VSPERF_IMPORT_H

#include "base/error.h"
#include "base/index.h"
#include "base/intern.h"
#include "profile/profile.h"
#include "trace/session_import.h"

enum vsperf_kind {
    VSPERF_UNKNOWN,
    VSPERF_CALLER_CALLEE,
    VSPERF_FUNCTION,
    VSPERF_CALL_TREE,
    VSPERF_MODULE,
    VSPERF_HEADER,
    VSPERF_OTHER, /* a summary that is not needed */
    VSPERF_KINDS,
};

struct vsperf_function {
    char *name, *file; /* `file` is NULL if unknown */
    uint32_t line, module;
    uint64_t address;
    bool has_address;
    uint64_t offset; /* set by vsperf_complete: the address, or another that is unique in the module */
};

struct vsperf_process {
    char *name;
    uint32_t pid;
};

/* A function in a process. */
struct vsperf_row {
    uint32_t process, function;
    struct times root, summed, times; /* of its Root row; of FunctionSummary; those used, set by vsperf_complete */
    struct dwell_stated stated, summed_stated; /* of the Root row, and of FunctionSummary */
    bool has_root, has_summed;
};

/* A call between two rows of one process. */
struct vsperf_edge {
    uint32_t caller, callee;
    struct times as_caller, as_callee; /* of the Caller row and of the Callee row; vsperf_complete makes both known */
    struct dwell_stated caller_stated, callee_stated;
    bool has_caller, has_callee;
};

struct vsperf_module_row {
    uint32_t process, module;
    struct times times;
    struct dwell_stated stated;
};

struct vsperf_path {
    uint32_t depth, row; /* 0 is that of a process */
    struct times times;
};

struct vsperf {
    struct vsperf_function *functions;
    size_t function_count, function_room;
    struct vsperf_process *processes;
    size_t process_count, process_room;
    char **modules; /* paths */
    size_t module_count, module_room;
    struct intern module_numbers, process_numbers;
    struct vsperf_row *rows;
    size_t row_count, row_room;
    struct vsperf_edge *edges;
    size_t edge_count, edge_room;
    struct vsperf_module_row *module_rows;
    size_t module_row_count, module_row_room;
    struct vsperf_path *paths;
    size_t path_count, path_room;
    struct number_index *names, *row_table, *edge_table; /* see vsperf_report.c */
    char *file_of[VSPERF_KINDS];                         /* the file of that kind, or NULL */
    bool sampled, traced, application_known, application_missing;
    bool narrow_addresses, wide_addresses; /* some have 8 digits; some have another number of them */
    bool averaged;                         /* some times are products of averages and calls */
    uint64_t times_sum, calls_sum;         /* of all rows read */
    uint64_t resolution;                   /* ticks per second of a Header; zero without one */
    struct error *error;                   /* set where reading fails */
};

/* Functions that fail set the error. After that, the run can only be freed. */
struct vsperf *vsperf_new(struct error *error);
void vsperf_free(struct vsperf *v);

/* Reads a file's content. Messages name the file `name`. Sets *kind to what the file was. */
bool vsperf_read(struct vsperf *v, const char *name, const void *bytes, size_t length, enum vsperf_kind *kind);

/* ---- vsperf_report.c: each returns an entry, which it adds if there is none ---- */

struct vsperf_place { /* the fields of a row; empty texts for missing ones */
    const char *name, *module_name, *module_path, *file;
    uint64_t address;
    bool has_address;
    uint32_t line;
};
uint32_t vsperf_find_process(struct vsperf *v, const char *name, uint32_t pid);
uint32_t vsperf_find_row(struct vsperf *v, uint32_t process, const struct vsperf_place *place);
uint32_t vsperf_find_module(struct vsperf *v, const struct vsperf_place *place);
uint32_t vsperf_find_edge(struct vsperf *v, uint32_t caller, uint32_t callee);

/* Completes what the files leave out, and checks that it can be summed up. Messages name the run
 * `name`. */
bool vsperf_complete(struct vsperf *v, const char *name);

/* ---- vsperf_tree.c ---- */

struct vsperf_node {
    uint32_t row;
    uint32_t parent; /* 1 + index; zero for none */
    uint32_t depth;
    uint64_t calls, application, flagged; /* exclusive */
    uint64_t shortest, longest;
};

struct vsperf_trees {
    struct vsperf_node *nodes; /* in the order of processes, parents before children */
    size_t node_count, node_room;
    size_t *first; /* the first node of each process, and the end */
    bool scaled;
};

/* The row for time of a process that the files assign to no function. */
uint32_t vsperf_elsewhere(struct vsperf *v, uint32_t process);

struct vsperf_trees vsperf_make_trees(struct vsperf *v);
void vsperf_drop_trees(struct vsperf_trees *trees);

/* Writes the session file. */
bool vsperf_write(struct vsperf *v, const struct vsperf_trees *trees, uint64_t resolution, const char *path);

/* A file's bytes, which the caller frees. NULL where it cannot be read. */
char *vsperf_input(const char *path, size_t *length, struct error *error);

#endif
