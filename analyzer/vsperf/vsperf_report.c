/* The contents of an imported run: modules, functions, processes, and their callers and callees, each once. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "vsperf/vsperf_import.h"

struct vsperf *vsperf_new(struct error *error)
{
    struct vsperf *v = need_memory(1, sizeof *v);
    v->error = error;
    v->names = index_new();
    v->row_table = index_new();
    v->edge_table = index_new();
    return v;
}

void vsperf_free(struct vsperf *v)
{
    for (size_t i = 0; i < v->function_count; i++) {
        free(v->functions[i].name);
        free(v->functions[i].file);
    }
    for (size_t i = 0; i < v->process_count; i++)
        free(v->processes[i].name);
    for (size_t i = 0; i < v->module_count; i++)
        free(v->modules[i]);
    for (size_t i = 0; i < VSPERF_KINDS; i++)
        free(v->file_of[i]);
    index_free(v->names);
    index_free(v->row_table);
    index_free(v->edge_table);
    free(v->functions);
    free(v->processes);
    free(v->modules);
    intern_drop(&v->process_numbers);
    intern_drop(&v->module_numbers);
    free(v->rows);
    free(v->edges);
    free(v->paths);
    free(v->module_rows);
    free(v);
}

/* ---- processes and modules ---- */

uint32_t vsperf_find_process(struct vsperf *v, const char *name, uint32_t pid)
{
    const uint32_t number = intern_pair(&v->process_numbers, name, &pid, sizeof pid);
    if (number < v->process_count)
        return number;
    GROW(v->processes, v->process_count, v->process_room);
    v->processes[v->process_count++] = (struct vsperf_process){ need_copy(name, strlen(name)), pid };
    return number;
}

uint32_t vsperf_find_module(struct vsperf *v, const struct vsperf_place *place)
{
    const char *path = place->module_path[0] ? place->module_path : place->module_name;
    if (strcmp(path, "[unknown]") == 0)
        path = "";
    const uint32_t number = intern(&v->module_numbers, path, strlen(path));
    if (number < v->module_count)
        return number;
    GROW(v->modules, v->module_count, v->module_room);
    v->modules[v->module_count++] = need_copy(path, strlen(path));
    return number;
}

/* ---- functions ---- */

/*
 * Functions are identified by name, module and address. A row without an address means the first function of that name
 * and module. A row without a module means the first function of that name.
 */
enum known_by { BY_ALL = 1, BY_MODULE_AND_NAME = 2, BY_NAME = 3 };

static uint64_t vsperf_hash_function(const char *name, enum known_by by, uint32_t module, uint64_t address)
{
    uint64_t hash = index_bytes_key(name, strlen(name)) + (uint64_t)by;
    if (by != BY_NAME)
        hash = index_fold(hash ^ module, index_seeds[1]);
    if (by == BY_ALL)
        hash = index_fold(hash ^ address, index_seeds[1]);
    return hash;
}

static bool vsperf_function_matches(const struct vsperf_function *f, const char *name, enum known_by by,
                                    uint32_t module, uint64_t address)
{
    return strcmp(f->name, name) == 0 && (by == BY_NAME || f->module == module) &&
           (by != BY_ALL || (f->has_address && f->address == address));
}

static struct index_slot *vsperf_find_slot(struct vsperf *v, uint64_t *key, const char *name, enum known_by by,
                                           uint32_t module, uint64_t address)
{
    *key = vsperf_hash_function(name, by, module, address);
    for (;; ++*key) {
        struct index_slot *slot = index_find(v->names, *key, (uint32_t)by);
        if (!slot->value_plus_1 ||
            vsperf_function_matches(&v->functions[slot->value_plus_1 - 1], name, by, module, address))
            return slot;
    }
}

static void vsperf_index_function(struct vsperf *v, uint32_t function, enum known_by by)
{
    const struct vsperf_function *f = &v->functions[function];
    uint64_t key;
    struct index_slot *slot = vsperf_find_slot(v, &key, f->name, by, f->module, f->address);
    if (!slot->value_plus_1)
        index_set(v->names, slot, key, (uint32_t)by, function);
}

static uint32_t vsperf_add_function(struct vsperf *v, const struct vsperf_place *place, uint32_t module)
{
    GROW(v->functions, v->function_count, v->function_room);
    const uint32_t function = (uint32_t)v->function_count++;
    v->functions[function] = (struct vsperf_function){
        .name = need_copy(place->name, strlen(place->name)),
        .module = module,
        .address = place->address,
        .has_address = place->has_address,
    };
    if (place->has_address)
        vsperf_index_function(v, function, BY_ALL);
    vsperf_index_function(v, function, BY_MODULE_AND_NAME);
    vsperf_index_function(v, function, BY_NAME);
    return function;
}

static uint32_t vsperf_find_function(struct vsperf *v, const struct vsperf_place *place)
{
    const bool has_module = place->module_name[0] || place->module_path[0];
    const uint32_t module = vsperf_find_module(v, place);
    const enum known_by by = place->has_address ? BY_ALL : has_module ? BY_MODULE_AND_NAME : BY_NAME;
    uint64_t key;
    const struct index_slot *slot = vsperf_find_slot(v, &key, place->name, by, module, place->address);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    if (by == BY_ALL) { /* it may have been read without its address */
        slot = vsperf_find_slot(v, &key, place->name, BY_MODULE_AND_NAME, module, 0);
        if (slot->value_plus_1 && !v->functions[slot->value_plus_1 - 1].has_address) {
            const uint32_t function = slot->value_plus_1 - 1;
            v->functions[function].address = place->address;
            v->functions[function].has_address = true;
            vsperf_index_function(v, function, BY_ALL);
            return function;
        }
    }
    return vsperf_add_function(v, place, module);
}

uint32_t vsperf_find_row(struct vsperf *v, uint32_t process, const struct vsperf_place *place)
{
    const uint32_t function = vsperf_find_function(v, place);
    struct vsperf_function *f = &v->functions[function];
    if (!f->file && place->file[0]) {
        f->file = need_copy(place->file, strlen(place->file));
        f->line = place->line;
    }
    struct index_slot *slot = index_find(v->row_table, function, process);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(v->rows, v->row_count, v->row_room);
    const struct times none = { .shortest = UINT64_MAX };
    v->rows[v->row_count] =
        (struct vsperf_row){ .process = process, .function = function, .root = none, .summed = none, .times = none };
    index_set(v->row_table, slot, function, process, (uint32_t)v->row_count);
    return (uint32_t)v->row_count++;
}

uint32_t vsperf_find_edge(struct vsperf *v, uint32_t caller, uint32_t callee)
{
    struct index_slot *slot = index_find(v->edge_table, caller, callee);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(v->edges, v->edge_count, v->edge_room);
    const struct times none = { .shortest = UINT64_MAX };
    v->edges[v->edge_count] =
        (struct vsperf_edge){ .caller = caller, .callee = callee, .as_caller = none, .as_callee = none };
    index_set(v->edge_table, slot, caller, callee, (uint32_t)v->edge_count);
    return (uint32_t)v->edge_count++;
}

uint32_t vsperf_elsewhere(struct vsperf *v, uint32_t process)
{
    const struct vsperf_place place = {
        .name = "(not in the report)", .module_name = "", .module_path = "", .file = ""
    };
    return vsperf_find_row(v, process, &place);
}

/* ---- completing ---- */

static void vsperf_add_exclusive(struct times *into, const struct times *from)
{
    into->elapsed_exclusive += from->elapsed_exclusive;
    into->application_exclusive += from->application_exclusive;
    into->calls += from->calls;
}

static void vsperf_add_inclusive(struct times *into, const struct times *from)
{
    into->elapsed_inclusive += from->elapsed_inclusive;
    into->application_inclusive += from->application_inclusive;
}

/*
 * Estimates the times of rows that a file has only as callers or callees of others. The times from a function's callers
 * add up to its times. It has at least its exclusive time and the times of its callees.
 */
static void vsperf_estimate_rows(struct vsperf *v)
{
    struct times *callees = need_memory(v->row_count, sizeof *callees);
    for (size_t i = 0; i < v->row_count; i++) {
        struct vsperf_row *row = &v->rows[i];
        if (row->has_root || row->has_summed)
            row->times = row->has_root ? row->root : row->summed;
    }
    for (size_t i = 0; i < v->edge_count; i++) {
        const struct vsperf_edge *e = &v->edges[i];
        struct vsperf_row *callee = &v->rows[e->callee];
        if (e->caller != e->callee)
            vsperf_add_inclusive(&callees[e->caller], &e->as_callee);
        if (callee->has_root || callee->has_summed)
            continue;
        vsperf_add_exclusive(&callee->times, &e->as_caller);
        if (e->caller != e->callee)
            vsperf_add_inclusive(&callee->times, &e->as_caller);
    }
    for (size_t i = 0; i < v->row_count; i++) {
        struct vsperf_row *row = &v->rows[i];
        struct times *t = &row->times;
        if (row->has_root || row->has_summed)
            continue;
        t->elapsed_inclusive = larger(t->elapsed_inclusive, t->elapsed_exclusive + callees[i].elapsed_inclusive);
        t->application_inclusive =
            larger(t->application_inclusive, t->application_exclusive + callees[i].application_inclusive);
        t->elapsed_inclusive = larger(t->elapsed_inclusive, t->application_inclusive);
    }
    free(callees);
}

/* The address becomes the offset in the module. A function without one has no address in reports and exports. So has a
 * function whose address another one has, or whose address is impossible. */
static void vsperf_place_functions(struct vsperf *v)
{
    struct number_index *taken = index_new();
    uint64_t next = IMPORT_NO_ADDRESS;
    for (uint32_t i = 0; i < v->function_count; i++) {
        struct vsperf_function *f = &v->functions[i];
        f->offset = f->address;
        struct index_slot *slot = index_find(taken, f->offset, f->module);
        if (!f->has_address || f->address >= IMPORT_NO_ADDRESS || slot->value_plus_1) {
            f->offset = next;
            next += 16;
            slot = index_find(taken, f->offset, f->module);
        }
        index_set(taken, slot, f->offset, f->module, i);
    }
    index_free(taken);
}

bool vsperf_complete(struct vsperf *v, const char *name)
{
    for (size_t i = 0; i < v->edge_count; i++) {
        struct vsperf_edge *e = &v->edges[i];
        if (!e->has_caller)
            e->as_caller = e->as_callee;
        if (!e->has_callee)
            e->as_callee = e->as_caller;
    }
    vsperf_estimate_rows(v);
    if (v->path_count == 0 && v->row_count == 0)
        return error_set(v->error, "%s: has no functions", name);
    for (uint32_t i = 0; i < v->process_count; i++)
        vsperf_elsewhere(v, i);
    vsperf_place_functions(v);
    return true;
}
