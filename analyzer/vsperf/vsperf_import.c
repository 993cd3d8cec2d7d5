/* Imports reports of Visual Studio's VSPerfReport: reads the files of a run, and writes them as a session. */
#include "vsperf/vsperf_import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/numbers.h"
#include "vsperf/vsperf_feature.h"

enum { MODULE_SHIFT = 48 }; /* the bits above are enough for all modules */
static const uint64_t NANOSECONDS = 1000000000;

/* ---- the session ---- */

static uint64_t vsperf_address_of(const struct vsperf *v, uint32_t row)
{
    const struct vsperf_function *f = &v->functions[v->rows[row].function];
    return ((uint64_t)(f->module + 1) << MODULE_SHIFT) + f->offset;
}

static const struct dwell_stated nothing;

struct vsperf_reported {
    struct import_reported *list;
    size_t count, room;
};

static void vsperf_report_row(struct vsperf_reported *r, enum dwell_reported kind, uint64_t function, uint64_t other,
                              const struct times *t, const struct dwell_stated *stated)
{
    GROW(r->list, r->count, r->room);
    r->list[r->count].stated = *stated;
    r->list[r->count++].row = (struct dwell_rec_reported){
        .kind = kind,
        .function = function,
        .other = other,
        .elapsed_inclusive = t->elapsed_inclusive,
        .elapsed_exclusive = t->elapsed_exclusive,
        .application_inclusive = t->application_inclusive,
        .application_exclusive = t->application_exclusive,
        .calls = t->calls,
        .shortest = t->shortest,
        .longest = t->longest,
    };
}

/* Reports the part of a function's times that its known callers do not account for. */
static void vsperf_report_unknown_callers(const struct vsperf *v, struct vsperf_reported *r, const struct times *known,
                                          uint32_t row)
{
    const struct times *all = &v->rows[row].times;
    struct times t = {
        .elapsed_inclusive = less(all->elapsed_inclusive, known->elapsed_inclusive),
        .elapsed_exclusive = less(all->elapsed_exclusive, known->elapsed_exclusive),
        .application_inclusive = less(all->application_inclusive, known->application_inclusive),
        .application_exclusive = less(all->application_exclusive, known->application_exclusive),
        .calls = less(all->calls, known->calls),
        .shortest = UINT64_MAX,
    };
    if (t.application_inclusive > t.elapsed_inclusive)
        t.application_inclusive = t.elapsed_inclusive;
    if (t.application_exclusive > t.elapsed_exclusive)
        t.application_exclusive = t.elapsed_exclusive;
    if (t.elapsed_inclusive || t.elapsed_exclusive || t.calls)
        vsperf_report_row(r, DWELL_REPORTED_CALLER, vsperf_address_of(v, row), 0, &t, &nothing);
}

/* Values that the files have are reported unchanged, beside the call tree. */
static void vsperf_collect_reported(const struct vsperf *v, bool scaled, struct vsperf_reported *by_process)
{
    struct times *known = need_memory(v->row_count, sizeof *known);
    for (uint32_t i = 0; i < v->row_count; i++) {
        const struct vsperf_row *row = &v->rows[i];
        const bool is_listed = row->has_root || row->has_summed;
        if (is_listed || (scaled && (row->times.elapsed_inclusive || row->times.calls)))
            vsperf_report_row(&by_process[row->process], DWELL_REPORTED_FUNCTION, vsperf_address_of(v, i), 0,
                              &row->times, row->has_root ? &row->stated : &row->summed_stated);
    }
    for (size_t i = 0; i < v->module_row_count; i++) {
        const struct vsperf_module_row *row = &v->module_rows[i];
        vsperf_report_row(&by_process[row->process], DWELL_REPORTED_MODULE, (uint64_t)(row->module + 1) << MODULE_SHIFT,
                          0, &row->times, &row->stated);
    }
    for (size_t i = 0; i < v->edge_count; i++) {
        const struct vsperf_edge *e = &v->edges[i];
        struct vsperf_reported *r = &by_process[v->rows[e->caller].process];
        struct times *sum = &known[e->callee];
        vsperf_report_row(r, DWELL_REPORTED_CALLER, vsperf_address_of(v, e->callee), vsperf_address_of(v, e->caller),
                          &e->as_caller, &e->caller_stated);
        vsperf_report_row(r, DWELL_REPORTED_CALLEE, vsperf_address_of(v, e->caller), vsperf_address_of(v, e->callee),
                          &e->as_callee, &e->callee_stated);
        sum->elapsed_inclusive += e->as_caller.elapsed_inclusive;
        sum->elapsed_exclusive += e->as_caller.elapsed_exclusive;
        sum->application_inclusive += e->as_caller.application_inclusive;
        sum->application_exclusive += e->as_caller.application_exclusive;
        sum->calls += e->as_caller.calls;
    }
    for (uint32_t i = 0; v->edge_count && i < v->row_count; i++)
        vsperf_report_unknown_callers(v, &by_process[v->rows[i].process], &known[i], i);
    free(known);
}

static struct import_node *vsperf_make_nodes(const struct vsperf *v, const struct vsperf_trees *trees)
{
    struct import_node *nodes = need_memory(trees->node_count, sizeof *nodes);
    for (size_t i = 0; i < trees->node_count; i++) {
        const struct vsperf_node *from = &trees->nodes[i];
        nodes[i] = (struct import_node){
            .function = vsperf_address_of(v, from->row),
            .parent = from->parent,
            .depth = from->depth,
            .calls = from->calls,
            .elapsed = from->application + from->flagged,
            .flagged = from->flagged,
            .shortest = from->shortest,
            .longest = from->longest,
        };
    }
    return nodes;
}

static struct finish_symbol *vsperf_make_symbols(const struct vsperf *v)
{
    struct finish_symbol *symbols = need_memory(v->function_count, sizeof *symbols);
    for (size_t i = 0; i < v->function_count; i++) {
        const struct vsperf_function *f = &v->functions[i];
        symbols[i] = (struct finish_symbol){ f->module, f->offset, f->name, f->file, f->line };
    }
    return symbols;
}

static char *vsperf_make_note(const struct vsperf *v)
{
    char *note = need_copy("imported from", 13);
    for (size_t i = 0; i < VSPERF_KINDS; i++) {
        if (!v->file_of[i])
            continue;
        char *longer = need_text("%s %s", note, v->file_of[i]);
        free(note);
        note = longer;
    }
    if (v->averaged) {
        char *longer = need_text("%s; times are averages, which are rounded, times calls", note);
        free(note);
        note = longer;
    }
    return note;
}

bool vsperf_write(struct vsperf *v, const struct vsperf_trees *trees, uint64_t resolution, const char *path)
{
    struct vsperf_reported *reported = need_memory(v->process_count, sizeof *reported);
    struct import_process *processes = need_memory(v->process_count, sizeof *processes);
    struct import_module *modules = need_memory(v->module_count, sizeof *modules);
    struct finish_module *symbol_modules = need_memory(v->module_count, sizeof *symbol_modules);
    struct import_node *nodes = vsperf_make_nodes(v, trees);
    struct finish_symbol *symbols = vsperf_make_symbols(v);
    char *note = vsperf_make_note(v);
    vsperf_collect_reported(v, trees->scaled, reported);
    for (size_t i = 0; i < v->module_count; i++) {
        modules[i] = (struct import_module){ v->modules[i], (uint64_t)(i + 1) << MODULE_SHIFT };
        symbol_modules[i] = (struct finish_module){ v->modules[i], (const uint8_t *)"", 0 };
    }
    for (size_t i = 0; i < v->process_count; i++)
        processes[i] = (struct import_process){
            .path = v->processes[i].name,
            .note = i == 0 ? note : NULL,
            .pid = v->processes[i].pid,
            .modules = modules,
            .module_count = v->module_count,
            .nodes = nodes + trees->first[i],
            .node_count = trees->first[i + 1] - trees->first[i],
            .reported = reported[i].list,
            .reported_count = reported[i].count,
        };
    const struct import_session session = {
        .ticks_per_second = resolution,
        .origin = DWELL_ORIGIN_IMPORTED | (trees->scaled ? DWELL_ORIGIN_SCALED : 0) |
                  (v->sampled ? DWELL_ORIGIN_SAMPLES : 0) |
                  (v->narrow_addresses && !v->wide_addresses ? DWELL_ORIGIN_NARROW : 0),
        .application_known = v->application_known && !v->application_missing,
        .processes = processes,
        .process_count = v->process_count,
        .symbol_modules = symbol_modules,
        .symbol_module_count = v->module_count,
        .symbols = symbols,
        .symbol_count = v->function_count,
    };
    const char *wrong = import_session(&session, path);
    for (size_t i = 0; i < v->process_count; i++)
        free(reported[i].list);
    free(reported);
    free(processes);
    free(modules);
    free(symbol_modules);
    free(nodes);
    free(symbols);
    free(note);
    return wrong ? error_set(v->error, "%s: %s", path, wrong) : true;
}

/* ---- the format ---- */

/* Reads all files. Sets *unused to the names of files that are not needed, if there are any. */
static bool vsperf_read_files(struct vsperf *v, char *const *files, size_t count, char **unused)
{
    for (size_t i = 0; i < count; i++) {
        size_t length;
        enum vsperf_kind kind;
        char *bytes = vsperf_input(files[i], &length, v->error);
        const bool good = bytes && vsperf_read(v, files[i], bytes, length, &kind);
        free(bytes);
        if (!good)
            return false;
        if (kind != VSPERF_OTHER)
            continue;
        char *longer = need_text("%s%s%s", *unused ? *unused : "", *unused ? ", " : "", files[i]);
        free(*unused);
        *unused = longer;
    }
    return true;
}

static bool vsperf_check(struct vsperf *v, const char *first, const struct import_options *options)
{
    struct error *error = v->error;
    if (!v->file_of[VSPERF_CALLER_CALLEE] && !v->file_of[VSPERF_FUNCTION] && !v->file_of[VSPERF_CALL_TREE])
        return error_set(error, "%s: has no functions; give a CallerCalleeSummary, CallTreeSummary or FunctionSummary",
                         first);
    if (v->sampled && options->resolution)
        return error_set(error, "%s: holds samples, not times; --resolution does not apply", first);
    return true;
}

/* Writes the session and reports what it lacks: the files that are not used, and call paths. */
static bool vsperf_make_session(struct vsperf *v, uint64_t resolution, const char *output, const char *unused)
{
    struct vsperf_trees trees = vsperf_make_trees(v);
    const bool good = vsperf_write(v, &trees, resolution, output);
    if (good && unused)
        say("nothing is taken from %s", unused);
    if (good && trees.scaled && !v->file_of[VSPERF_CALLER_CALLEE])
        say("%s: call paths are not known; a CallTreeSummary or a CallerCalleeSummary has them", output);
    vsperf_drop_trees(&trees);
    return good;
}

bool vsperf_import(char *const *files, size_t count, const struct import_options *options, const char *output,
                   struct error *error)
{
    struct vsperf *v = vsperf_new(error);
    char *unused = NULL;
    bool good = vsperf_read_files(v, files, count, &unused) && vsperf_check(v, files[0], options) &&
                vsperf_complete(v, files[0]);
    uint64_t resolution = options->resolution ? options->resolution : v->resolution;
    if (v->sampled || !resolution)
        resolution = NANOSECONDS;
    good = good && vsperf_make_session(v, resolution, output, unused);
    free(unused);
    vsperf_free(v);
    return good;
}
