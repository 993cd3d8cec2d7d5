/* Reading the loader's list of libraries. */
#include "loaded.h"

#include <elf.h>
#include <string.h>

#pragma weak _r_debug /* the loader's, where there is one */
#pragma weak _DYNAMIC /* no static program has it */

/* The loader has added the base to addresses, if it could write there. */
static const void *loaded_table(const struct link_map *map, const ElfW(Dyn) * entry)
{
    const uint64_t at = entry->d_un.d_ptr;
    return (const void *)(at < map->l_addr ? at + map->l_addr : at);
}

struct loaded loaded_read(const struct link_map *map)
{
    struct loaded l = { .base = map->l_addr };
    uint64_t soname = 0;
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            l.names = loaded_table(map, entry);
        else if (entry->d_tag == DT_SYMTAB)
            l.symbols = loaded_table(map, entry);
        else if (entry->d_tag == DT_VERSYM)
            l.versions = loaded_table(map, entry);
        else if (entry->d_tag == DT_GNU_HASH)
            l.hash = loaded_table(map, entry);
        else if (entry->d_tag == DT_HASH)
            l.old_hash = loaded_table(map, entry);
        else if (entry->d_tag == DT_SONAME)
            soname = entry->d_un.d_val;
    }
    l.soname = l.names && soname ? l.names + soname : "";
    return l;
}

static uint32_t loaded_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

void *loaded_function(const struct loaded *l, const char *name)
{
    enum { HIDDEN_VERSION = 0x8000 };
    if (!l->names || !l->symbols || !l->hash)
        return NULL;
    const uint32_t hash = loaded_hash(name), buckets = l->hash[0], first = l->hash[1];
    const uint32_t *bucket = l->hash + 4 + l->hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    for (; i >= first && i; i++) {
        const ElfW(Sym) *symbol = &l->symbols[i];
        if ((chain[i - first] | 1) == (hash | 1) && strcmp(l->names + symbol->st_name, name) == 0 &&
            symbol->st_shndx != SHN_UNDEF && !(l->versions && l->versions[i] & HIDDEN_VERSION))
            return (void *)(l->base + symbol->st_value);
        if (chain[i - first] & 1)
            break;
    }
    return NULL;
}

/* Each namespace has a libc of its own. */
const struct link_map *loaded_maps(void)
{
    if (!&_r_debug)
        return NULL;
#if __GLIBC_PREREQ(2, 35)
    const struct r_debug_extended *one = (const struct r_debug_extended *)&_r_debug;
    for (; one; one = one->base.r_version >= 2 ? one->r_next : NULL)
        for (const struct link_map *map = one->base.r_map; map; map = map->l_next)
            if (map->l_ld == _DYNAMIC)
                return one->base.r_map;
#endif
    return _r_debug.r_map;
}

/* The symbols that a library needs of others come before those of its table for searches. */
static uint32_t loaded_needed_symbols(const struct loaded *l)
{
    if (!l->symbols || !l->names)
        return 0;
    return l->hash ? l->hash[1] : l->old_hash ? l->old_hash[1] : 0;
}

static bool loaded_is_of_runtime(const char *name)
{
    static const char probes[] = "__cyg_profile_func_", interface[] = "dwell_";
    return strncmp(name, probes, sizeof probes - 1) == 0 || strncmp(name, interface, sizeof interface - 1) == 0;
}

bool loaded_need_runtime(void)
{
    for (const struct link_map *map = loaded_maps(); map; map = map->l_next) {
        const struct loaded l = loaded_read(map);
        const uint32_t count = loaded_needed_symbols(&l);
        for (uint32_t i = 1; i < count; i++)
            if (l.symbols[i].st_shndx == SHN_UNDEF && loaded_is_of_runtime(l.names + l.symbols[i].st_name))
                return true;
    }
    return false;
}
