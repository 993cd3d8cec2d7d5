/* Reads the variables of a symbol table once, and finds them by address. */
#include "symbols/variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

struct variable {
    uint64_t address, size;
    const char *name;
    int rank; /* if two are at one address, the one with the higher rank is shown */
};

struct variables {
    struct variable *list; /* by address, each once */
    size_t count, room;
};

static int variable_compare(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->rank != y->rank)
        return y->rank - x->rank;
    return strcmp(x->name, y->name);
}

static void variables_add(struct variables *v, Dwfl_Module *module, int number)
{
    GElf_Sym symbol;
    GElf_Addr address;
    GElf_Word section;
    const char *name = dwfl_module_getsym_info(module, number, &symbol, &address, &section, NULL, NULL);
    if (!name || !*name || section == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || !symbol.st_size)
        return;
    const int binding = GELF_ST_BIND(symbol.st_info);
    GROW(v->list, v->count, v->room);
    v->list[v->count++] =
        (struct variable){ address, symbol.st_size, name, binding == STB_GLOBAL ? 2 : binding == STB_WEAK };
}

static void variables_drop_others(struct variables *v)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->count; i++)
        if (!kept || v->list[kept - 1].address != v->list[i].address)
            v->list[kept++] = v->list[i];
    v->count = kept;
}

struct variables *variables_new(Dwfl_Module *module)
{
    struct variables *v = need_memory(1, sizeof *v);
    const int count = dwfl_module_getsymtab(module);
    for (int i = 0; i < count; i++)
        variables_add(v, module, i);
    if (v->count)
        qsort(v->list, v->count, sizeof *v->list, variable_compare);
    variables_drop_others(v);
    return v;
}

void variables_free(struct variables *v)
{
    if (!v)
        return;
    free(v->list);
    free(v);
}

const char *variables_find(const struct variables *v, uint64_t address, uint64_t *inside)
{
    /* the first one that begins later */
    const size_t place = LOWER_BOUND(variable, v->list, v->count, variable->address <= address);
    if (place == 0 || address - v->list[place - 1].address >= v->list[place - 1].size)
        return NULL;
    *inside = address - v->list[place - 1].address;
    return v->list[place - 1].name;
}
