/* Finds the functions of an earlier recording's levels again: by their offset in the same build of a module, or else by
 * their names in a module of the same file name. */
#include "recorder/earlier_levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/path_text.h"
#include "recorder/function_set.h"
#include "recorder/module_numbers.h"
#include "trace/session_file.h"
#include "trace/symbol_table.h"

struct earlier_function {
    uint32_t module;
    uint64_t offset;
    enum dwell_level_of_probes level;
    bool is_found;
};

struct earlier_levels {
    struct module_numbers modules;
    bool *has_names; /* by module: of functions */
    struct earlier_function *functions;
    size_t function_count;
    struct number_index *by_offset, *by_name; /* and by the module's number */
    size_t leveled, found; /* functions that were not timed at the end; those that were found again */
    struct function_set *applied;
};

/* ---- reading ---- */

static void earlier_read_level(struct earlier_levels *e, const struct session_file *file, const struct trace_level *l)
{
    const struct trace_process *process = session_file_process(file, l->process);
    const struct trace_module *loaded = process ? trace_module_at(process, l->function, l->time) : NULL;
    if (!loaded)
        return;
    const struct symbol_module m = { loaded->path, loaded->build_id, loaded->build_id_length };
    const uint32_t module = module_numbers_add(&e->modules, &m);
    const uint64_t offset = l->function - loaded->bias;
    struct index_slot *slot = index_find(e->by_offset, offset, module);
    if (!slot->value_plus_1) {
        e->functions[e->function_count] = (struct earlier_function){ .module = module, .offset = offset };
        index_set(e->by_offset, slot, offset, module, (uint32_t)e->function_count++);
        slot = index_find(e->by_offset, offset, module);
    }
    e->functions[slot->value_plus_1 - 1].level =
        l->level <= DWELL_PROBES_OUT ? (enum dwell_level_of_probes)l->level : DWELL_PROBES_TIMED;
}

/* Only functions that were not timed at the end need a name. */
static void earlier_read_symbol(struct earlier_levels *e, const struct session_file *file, const struct trace_symbol *s)
{
    const struct trace_symbol_module *of = &file->code.symbol_modules[s->module];
    const struct symbol_module m = { of->path, of->build_id, of->build_id_length };
    const size_t module = module_numbers_find(&e->modules, &m);
    if (module == e->modules.count || !*s->name)
        return;
    e->has_names[module] = true;
    const struct index_slot *function = index_find(e->by_offset, s->offset, (uint32_t)module);
    if (!function->value_plus_1 || e->functions[function->value_plus_1 - 1].level == DWELL_PROBES_TIMED)
        return;
    const uint64_t key = index_bytes_key(s->name, strlen(s->name));
    struct index_slot *slot = index_find(e->by_name, key, (uint32_t)module);
    if (!slot->value_plus_1)
        index_set(e->by_name, slot, key, (uint32_t)module, function->value_plus_1 - 1);
}

/* Levels are sorted by time, so the last one of a function is valid. */
struct earlier_levels *earlier_levels_read(const char *path, struct error *error)
{
    const char *wrong;
    struct session_file *file = session_file_open(path, &wrong);
    if (!file) {
        error_set(error, "%s: %s", path, wrong);
        return NULL;
    }
    struct earlier_levels *e = need_memory(1, sizeof *e);
    *e = (struct earlier_levels){
        .functions = need_memory(file->levels.change_count + 1, sizeof *e->functions),
        .by_offset = index_new(),
        .by_name = index_new(),
        .applied = function_set_new(),
    };
    for (size_t i = 0; i < file->levels.change_count; i++)
        earlier_read_level(e, file, &file->levels.changes[i]);
    e->has_names = need_memory(e->modules.count + 1, sizeof *e->has_names);
    for (size_t i = 0; i < file->code.symbol_count; i++)
        earlier_read_symbol(e, file, &file->code.symbols[i]);
    for (size_t i = 0; i < e->function_count; i++)
        e->leveled += e->functions[i].level != DWELL_PROBES_TIMED;
    const int failed = session_file_take_error(file);
    session_file_close(file);
    if (!failed)
        return e;
    error_set(error, "%s: %s", path, strerror(failed));
    earlier_levels_free(e);
    return NULL;
}

void earlier_levels_free(struct earlier_levels *e)
{
    if (!e)
        return;
    module_numbers_drop(&e->modules);
    free(e->has_names);
    free(e->functions);
    index_free(e->by_offset);
    index_free(e->by_name);
    function_set_free(e->applied);
    free(e);
}

size_t earlier_levels_count(const struct earlier_levels *e)
{
    return e->leveled;
}

size_t earlier_levels_missing(const struct earlier_levels *e)
{
    return e->leveled - e->found;
}

/* ---- finding ---- */

static enum dwell_level_of_probes earlier_take(struct earlier_levels *e, const struct index_slot *slot)
{
    if (!slot->value_plus_1)
        return DWELL_PROBES_TIMED;
    struct earlier_function *f = &e->functions[slot->value_plus_1 - 1];
    if (f->level != DWELL_PROBES_TIMED && !f->is_found) {
        f->is_found = true;
        e->found++;
    }
    return f->level;
}

enum dwell_level_of_probes earlier_levels_find(struct earlier_levels *e, const struct symbol_module *module,
                                               uint64_t offset, const char *name)
{
    const size_t same = module_numbers_find(&e->modules, module);
    const bool is_sure = same < e->modules.count && (module->build_id_length || !e->has_names[same]);
    if (is_sure)
        return earlier_take(e, index_find(e->by_offset, offset, (uint32_t)same));
    enum dwell_level_of_probes level = DWELL_PROBES_TIMED;
    const uint64_t key = name ? index_bytes_key(name, strlen(name)) : 0;
    for (size_t i = 0; name && level == DWELL_PROBES_TIMED && i < e->modules.count; i++)
        if (strcmp(path_file_name(e->modules.list[i].path), path_file_name(module->path)) == 0)
            level = earlier_take(e, index_find(e->by_name, key, (uint32_t)i));
    return level;
}

enum dwell_level_of_probes earlier_levels_next(struct earlier_levels *e, const struct symbol_module *module,
                                               size_t *place, uint64_t *offset)
{
    const size_t same = module_numbers_find(&e->modules, module);
    if (!module->build_id_length)
        return DWELL_PROBES_TIMED;
    while (*place < e->function_count) {
        struct earlier_function *f = &e->functions[(*place)++];
        if (f->module != same || f->is_found || f->level == DWELL_PROBES_TIMED)
            continue;
        *offset = f->offset;
        f->is_found = true;
        e->found++;
        return f->level;
    }
    return DWELL_PROBES_TIMED;
}

/* ---- for the budget ---- */

void earlier_levels_apply(struct earlier_levels *e, const struct symbol_module *module, uint64_t offset)
{
    function_set_add(e->applied, module, offset);
}

bool earlier_levels_applied(struct earlier_levels *e, const struct symbol_module *module, uint64_t offset)
{
    return function_set_has(e->applied, module, offset);
}
