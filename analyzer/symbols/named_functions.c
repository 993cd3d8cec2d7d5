/* The symbols are those of the file, or of its debug information if that is elsewhere. */
#include "symbols/named_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

static int functions_compare(const void *a, const void *b)
{
    const struct named_symbol *x = a, *y = b;
    return x->address != y->address ? ORDER(x->address, y->address) : strcmp(x->name, y->name);
}

static int functions_compare_names(const void *a, const void *b)
{
    const struct named_symbol *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : ORDER(x->address, y->address);
}

static void functions_take(struct named_functions *f, Dwfl_Module *module, uint64_t bias, int index)
{
    GElf_Sym symbol;
    GElf_Addr address;
    GElf_Word section;
    const char *name = dwfl_module_getsym_info(module, index, &symbol, &address, &section, NULL, NULL);
    const int type = name ? GELF_ST_TYPE(symbol.st_info) : STT_NOTYPE;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || section == SHN_UNDEF || !*name)
        return;
    GROW(f->list, f->count, f->room);
    f->list[f->count++] = (struct named_symbol){ address - bias, name, GELF_ST_BIND(symbol.st_info) == STB_LOCAL };
}

struct named_functions named_functions_find(Dwfl_Module *module)
{
    struct named_functions f = { .list = NULL };
    GElf_Addr bias;
    if (!dwfl_module_getelf(module, &bias))
        return f;
    const int symbols = dwfl_module_getsymtab(module);
    for (int i = 1; i < symbols; i++)
        functions_take(&f, module, bias, i);
    if (!f.count)
        return f;
    f.by_name = need_memory(f.count, sizeof *f.by_name);
    memcpy(f.by_name, f.list, f.count * sizeof *f.list);
    qsort(f.list, f.count, sizeof *f.list, functions_compare);
    qsort(f.by_name, f.count, sizeof *f.by_name, functions_compare_names);
    return f;
}

void named_functions_drop(struct named_functions *f)
{
    free(f->list);
    free(f->by_name);
}

size_t named_functions_at(const struct named_functions *f, uint64_t address)
{
    return LOWER_BOUND(function, f->list, f->count, function->address < address);
}

static size_t functions_whole_length(const char *name)
{
    return strcspn(name, ".");
}

bool named_symbol_is_part(const char *name)
{
    const size_t length = functions_whole_length(name);
    return length && name[length];
}

static int functions_compare_whole(const char *name, const char *part, size_t length)
{
    const int order = strncmp(name, part, length);
    return order ? order : name[length] != '\0';
}

static bool functions_take_whole(const struct named_functions *f, const char *part, named_symbol_taker *take,
                                 void *context)
{
    const size_t length = functions_whole_length(part);
    size_t i = LOWER_BOUND(w, f->by_name, f->count, functions_compare_whole(w->name, part, length) < 0);
    for (; i < f->count && functions_compare_whole(f->by_name[i].name, part, length) == 0; i++)
        if (take(context, f->by_name[i].address))
            return true;
    return false;
}

bool named_functions_each_whole(const struct named_functions *f, uint64_t address, named_symbol_taker *take,
                                void *context)
{
    for (size_t i = named_functions_at(f, address); i < f->count && f->list[i].address == address; i++)
        if (named_symbol_is_part(f->list[i].name) && functions_take_whole(f, f->list[i].name, take, context))
            return true;
    return false;
}
