/* The names of functions: from the symbols that the session records, from the binaries, or module and address. */
#include "analysis/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/path_text.h"
#include "base/sorted.h"
#include "symbols/symbols.h"
#include "trace/symbol_table.h"

/* The session's own symbols, in the order of their modules' identities, offsets and modules. */
struct recorded_symbols {
    const struct session_file *file;
    const struct trace_symbol **sorted;
};

static int names_compare_place(const struct session_file *file, const struct trace_symbol *x, uint32_t identity,
                               uint64_t offset)
{
    const uint32_t own = symbol_table_identity_of(file->code.symbol_table, x->module);
    if (own != identity)
        return own < identity ? -1 : 1;
    return ORDER(x->offset, offset);
}

static int names_compare_symbols(const void *a, const void *b, void *context)
{
    const struct trace_symbol *x = *(const struct trace_symbol *const *)a;
    const struct trace_symbol *y = *(const struct trace_symbol *const *)b;
    const struct session_file *file = context;
    const int order =
        names_compare_place(file, x, symbol_table_identity_of(file->code.symbol_table, y->module), y->offset);
    if (order)
        return order;
    return x->module != y->module ? (x->module < y->module ? -1 : 1) : ORDER(x, y);
}

static struct recorded_symbols names_sort_recorded(const struct session_file *file)
{
    struct recorded_symbols b = { file, need_memory(file->code.symbol_count, sizeof *b.sorted) };
    for (size_t i = 0; i < file->code.symbol_count; i++)
        b.sorted[i] = &file->code.symbols[i];
    if (file->code.symbol_count)
        qsort_r(b.sorted, file->code.symbol_count, sizeof *b.sorted, names_compare_symbols, (void *)file);
    return b;
}

static bool names_find_recorded(const struct recorded_symbols *b, const struct profile_module *m, uint64_t offset,
                                struct symbol *found)
{
    const struct session_file *file = b->file;
    const uint32_t identity = symbol_table_identity(file->code.symbol_table, m->path, m->build_id, m->build_id_length);
    const size_t place = LOWER_BOUND(recorded, b->sorted, identity == SYMBOL_TABLE_NONE ? 0 : file->code.symbol_count,
                                     names_compare_place(file, *recorded, identity, offset) < 0);
    if (identity == SYMBOL_TABLE_NONE || place == file->code.symbol_count ||
        names_compare_place(file, b->sorted[place], identity, offset) != 0)
        return false;
    const struct trace_symbol *s = b->sorted[place];
    *found = (struct symbol){ .linkage_name = s->name, .file = symbol_table_path(file, s->file), .line = s->line };
    return true;
}

/* Whether the session names functions of the module, and none with a source line: a library without probes, whose lines
 * `dwell record` does not look up. */
static bool names_lack_lines(const struct recorded_symbols *b, const struct profile_module *m)
{
    const struct session_file *file = b->file;
    const uint32_t identity = symbol_table_identity(file->code.symbol_table, m->path, m->build_id, m->build_id_length);
    const size_t count = identity == SYMBOL_TABLE_NONE ? 0 : file->code.symbol_count,
                 first = LOWER_BOUND(recorded, b->sorted, count, names_compare_place(file, *recorded, identity, 0) < 0);
    size_t i = first;
    while (i < count && symbol_table_identity_of(file->code.symbol_table, b->sorted[i]->module) == identity &&
           !b->sorted[i]->line)
        i++;
    return i > first &&
           (i == count || symbol_table_identity_of(file->code.symbol_table, b->sorted[i]->module) != identity);
}

char *names_module(const char *path)
{
    if (!path[0])
        return need_copy("[unknown]", 9);
    const char *name = path_file_name(path);
    return need_copy(name, strlen(name));
}

static char *names_from_address(const char *module, uint64_t offset)
{
    char *name = need_memory(strlen(module) + 32, 1);
    sprintf(name, "%s+0x%" PRIx64, module, offset);
    return name;
}

static char *names_of_symbol(const struct symbol *symbol, const char *module, uint64_t offset)
{
    if (symbol->linkage_name && symbol->linkage_name[0])
        return symbol_demangle_of_file(symbol->linkage_name, symbol->file);
    return names_from_address(module, offset);
}

static const char no_module[] = "(code in no module)"; /* such as that of a compiler that runs in the program */

static struct function_name names_of(const struct recorded_symbols *recorded, struct binaries *binaries,
                                     const struct profile_module *m, uint64_t offset)
{
    struct symbol symbol;
    if (!names_find_recorded(recorded, m, offset, &symbol)) {
        const struct symbol_module module = { m->path, m->build_id, m->build_id_length };
        symbol = binaries_find(binaries, &module, offset);
        if (names_lack_lines(recorded, m)) { /* as the others of the module */
            symbol.file = NULL;
            symbol.line = 0;
        }
    }
    const bool linked = symbol.linkage_name && symbol.linkage_name[0];
    const bool in_no_module = !m->path[0] && !offset; /* of samples: all such code is one function */
    struct function_name name = { .module = names_module(m->path), .line = symbol.line };
    name.name = in_no_module ? need_copy(no_module, strlen(no_module)) : names_of_symbol(&symbol, name.module, offset);
    name.linkage_name = linked ? need_copy(symbol.linkage_name, strlen(symbol.linkage_name)) : NULL;
    name.file = symbol.file ? need_copy(symbol.file, strlen(symbol.file)) : NULL;
    return name;
}

void names_extend(struct function_name **names, size_t *count, const struct session_file *file,
                  const struct profile *profile, struct binaries *binaries)
{
    if (*count >= profile->function_count)
        return;
    struct recorded_symbols recorded = names_sort_recorded(file);
    *names = need_more(*names, profile->function_count, sizeof **names);
    for (size_t i = *count; i < profile->function_count; i++) {
        const struct profile_function *f = &profile->functions[i];
        (*names)[i] = names_of(&recorded, binaries, &profile->modules[f->module], f->offset);
    }
    *count = profile->function_count;
    free(recorded.sorted);
}

struct function_name *names_find(const struct session_file *file, const struct profile *profile)
{
    struct function_name *names = need_memory(1, sizeof *names);
    size_t count = 0;
    struct binaries *binaries = binaries_new();
    names_extend(&names, &count, file, profile, binaries);
    binaries_free(binaries);
    return names;
}

void names_drop(struct function_name *name)
{
    free(name->name);
    free(name->linkage_name);
    free(name->module);
    free(name->file);
}

void names_free(struct function_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        names_drop(&names[i]);
    free(names);
}

bool names_is_nameless(const struct function_name *name)
{
    static const char begin[] = "[unknown]+";
    return strncmp(name->name, begin, sizeof begin - 1) == 0;
}

/* ---- single addresses ---- */

struct namer {
    const struct session_file *file;
    struct binaries *binaries;
    struct recorded_symbols recorded;
    struct number_index *known; /* (offset, number of the module in memory) to an index into names */
    struct function_name **names;
    size_t count, room;
};

struct namer *namer_new(const struct session_file *file)
{
    struct namer *n = need_memory(1, sizeof *n);
    n->file = file;
    n->binaries = binaries_new();
    n->recorded = names_sort_recorded(file);
    n->known = index_new();
    return n;
}

void namer_free(struct namer *n)
{
    for (size_t i = 0; i < n->count; i++)
        names_free(n->names[i], 1);
    free(n->names);
    index_free(n->known);
    free(n->recorded.sorted);
    binaries_free(n->binaries);
    free(n);
}

static struct function_name *namer_make_name(const struct namer *n, const struct trace_module *m, uint64_t address)
{
    struct function_name *name = need_memory(1, sizeof *name);
    const struct profile_module unknown = { .path = "" };
    const struct profile_module module = { .path = m ? m->path : NULL,
                                           .build_id = m ? m->build_id : NULL,
                                           .build_id_length = m ? m->build_id_length : 0 };
    *name = names_of(&n->recorded, n->binaries, m ? &module : &unknown, m ? address - m->bias : address);
    return name;
}

const struct function_name *namer_find_function(struct namer *n, uint32_t process, uint64_t address, uint64_t time)
{
    const struct trace_process *p = session_file_process(n->file, process);
    const struct trace_module *m = p ? trace_module_at(p, address, time) : NULL;
    const uint32_t module = m ? (uint32_t)((uintptr_t)m / sizeof *m) : 0;
    struct index_slot *slot = index_find(n->known, m ? address - m->bias : address, module);
    if (!slot->value_plus_1) {
        GROW(n->names, n->count, n->room);
        n->names[n->count] = namer_make_name(n, m, address);
        index_set(n->known, slot, m ? address - m->bias : address, module, (uint32_t)n->count++);
        return n->names[n->count - 1];
    }
    return n->names[slot->value_plus_1 - 1];
}

const char *namer_find(struct namer *n, uint32_t process, uint64_t address, uint64_t time)
{
    return namer_find_function(n, process, address, time)->name;
}
