/* Reads the dynamic tables of modules' files. */
#include "recorder/calling_modules.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "base/sorted.h"
#include "symbols/elf_facts.h"
#include "symbols/probe_targets.h"

/* ---- functions ---- */

/* A symbol of a module's dynamic table. */
static void calling_take_symbol(struct calling_modules *c, uint32_t module, const GElf_Sym *symbol, const char *name)
{
    const int type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF) {
        c->list[module]->opens |= strcmp(name, "dlopen") == 0 || strcmp(name, "dlmopen") == 0;
        return;
    }
    if (type != STT_FUNC && type != STT_GNU_IFUNC)
        return;
    GROW(c->functions, c->function_count, c->function_room);
    c->functions[c->function_count++] = (struct called_function){ name, symbol->st_value, module };
}

static void calling_take_symbols(struct calling_modules *c, Elf *elf, uint32_t module)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = elf_section_of(elf, SHT_DYNSYM, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name)
            calling_take_symbol(c, module, &symbol, name);
    }
    c->sorted = false;
}

static int calling_compare(const void *a, const void *b)
{
    const struct called_function *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : ORDER_BY(x, y, module);
}

static void calling_sort(struct calling_modules *c)
{
    if (!c->sorted && c->function_count)
        qsort(c->functions, c->function_count, sizeof *c->functions, calling_compare);
    c->sorted = true;
}

/* The index of the first function of that name, if there is any. */
static size_t calling_first(struct calling_modules *c, const char *name)
{
    calling_sort(c);
    return LOWER_BOUND(f, c->functions, c->function_count, strcmp(f->name, name) < 0);
}

static bool calling_is_named(const struct calling_modules *c, size_t i, const char *name)
{
    return i < c->function_count && strcmp(c->functions[i].name, name) == 0;
}

const struct calling_module *calling_modules_find(struct calling_modules *c, const uint32_t *order, const char *name)
{
    uint32_t best = CALLING_NONE, found = CALLING_NONE;
    for (size_t i = calling_first(c, name); calling_is_named(c, i, name); i++) {
        const uint32_t module = c->functions[i].module, place = order ? order[module] : module;
        if (place >= best || c->list[module]->is_runtime)
            continue;
        best = place;
        found = module;
    }
    return found == CALLING_NONE ? NULL : c->list[found];
}

bool calling_modules_interpose(struct calling_modules *c, const char *name)
{
    bool any = false;
    for (size_t i = calling_first(c, name); calling_is_named(c, i, name); i++)
        any |= c->list[c->functions[i].module]->is_runtime;
    return any;
}

/* ---- modules ---- */

static struct calling_module *calling_open(char *path)
{
    struct calling_module *m = need_memory(1, sizeof *m);
    GElf_Addr bias;
    m->path = path;
    m->symbols = (struct symbol_module){ path, m->id, elf_build_id_of(path, m->id, sizeof m->id) };
    m->binaries = binaries_new_quiet();
    if (binaries_parts(m->binaries, &m->symbols, &m->parts))
        m->elf = dwfl_module_getelf(m->parts.module, &bias);
    m->probes = m->elf && probe_targets_any(m->elf);
    m->is_runtime = m->elf && elf_is_runtime(m->elf);
    m->has_runtime = m->elf && elf_has_runtime(m->elf) && !m->is_runtime;
    return m;
}

static bool calling_is(const struct calling_module *m, const char *path)
{
    return strcmp(m->path, path) == 0 && elf_has_build_id(path, m->id, m->symbols.build_id_length);
}

uint32_t calling_modules_add(struct calling_modules *c, const char *path)
{
    char *whole = realpath(path, NULL);
    if (!whole)
        return CALLING_NONE;
    for (uint32_t i = 0; i < c->count; i++)
        if (calling_is(c->list[i], whole)) {
            free(whole);
            return i;
        }
    const uint32_t index = (uint32_t)c->count;
    GROW(c->list, c->count, c->room);
    c->list[c->count++] = calling_open(whole);
    if (c->list[index]->elf)
        calling_take_symbols(c, c->list[index]->elf, index);
    return index;
}

void calling_modules_drop(struct calling_modules *c)
{
    for (size_t i = 0; i < c->count; i++) {
        binaries_free(c->list[i]->binaries);
        free(c->list[i]->path);
        free(c->list[i]);
    }
    free(c->list);
    free(c->functions);
}

/* ---- the order ---- */

/* A library without a name of its own is needed by the path that was given to the linker. */
static bool calling_has_name(const struct calling_module *m, const char *library)
{
    const char *name = m->elf ? elf_dynamic_text(m->elf, DT_SONAME, 0) : NULL;
    return strcmp(name ? name : path_file_name(m->path), name ? library : path_file_name(library)) == 0;
}

/* Gives the next number to the module of that name. */
static uint32_t calling_order_library(const struct calling_modules *c, const char *library, uint32_t *order,
                                      uint32_t next)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (order[i] == CALLING_NONE && calling_has_name(c->list[i], library)) {
            order[i] = next;
            return next + 1;
        }
    return next;
}

static uint32_t calling_order_libraries(const struct calling_modules *c, Elf *elf, uint32_t *order, uint32_t next)
{
    const char *library;
    for (size_t i = 0; elf && (library = elf_dynamic_text(elf, DT_NEEDED, i)); i++)
        next = calling_order_library(c, library, order, next);
    return next;
}

uint32_t calling_modules_order(const struct calling_modules *c, uint32_t first, uint32_t *order, uint32_t next)
{
    uint32_t at = next;
    if (order[first] == CALLING_NONE)
        order[first] = next++;
    else
        at = order[first];
    for (; at < next; at++)
        for (uint32_t i = 0; i < c->count; i++)
            if (order[i] == at)
                next = calling_order_libraries(c, c->list[i]->elf, order, next);
    return next;
}
