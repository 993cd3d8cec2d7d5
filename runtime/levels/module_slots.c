/* Reads the relocations, symbols and versions of a loaded module. */
#include "levels/module_slots.h"

#include <string.h>

#include "levels/machine.h"

struct module_dynamic {
    const char *names;
    const ElfW(Sym) * symbols;
    const uint16_t *versions;     /* of the symbols; NULL if they have none */
    const char *needed;           /* versions of other modules; NULL if there are none */
    const char *own;              /* its own versions; NULL if there are none */
    const uint32_t *hash;         /* DT_GNU_HASH; NULL if there is none */
    const uint32_t *old_hash;     /* DT_HASH; NULL if there is none */
    uint64_t tables[2], sizes[2]; /* of relocations */
    uint64_t nameless;            /* the first ones of the second table: they move addresses only */
};

/* The loader stores addresses in place of offsets, but not on every machine. */
static uint64_t module_dynamic_address(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
    return entry->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr + entry->d_un.d_ptr : entry->d_un.d_ptr;
}

static void module_dynamic_take(struct module_dynamic *dynamic, const struct dl_phdr_info *info,
                                const ElfW(Dyn) * entry)
{
    const uint64_t address = module_dynamic_address(info, entry);
    switch (entry->d_tag) {
    case DT_STRTAB:
        dynamic->names = (const char *)address;
        break;
    case DT_SYMTAB:
        dynamic->symbols = (const ElfW(Sym) *)address;
        break;
    case DT_VERSYM:
        dynamic->versions = (const uint16_t *)address;
        break;
    case DT_VERNEED:
        dynamic->needed = (const char *)address;
        break;
    case DT_VERDEF:
        dynamic->own = (const char *)address;
        break;
    case DT_GNU_HASH:
        dynamic->hash = (const uint32_t *)address;
        break;
    case DT_HASH:
        dynamic->old_hash = (const uint32_t *)address;
        break;
    case DT_JMPREL:
        dynamic->tables[0] = address;
        break;
    case DT_PLTRELSZ:
        dynamic->sizes[0] = entry->d_un.d_val;
        break;
    case DT_RELA:
        dynamic->tables[1] = address;
        break;
    case DT_RELASZ:
        dynamic->sizes[1] = entry->d_un.d_val;
        break;
    case DT_RELACOUNT:
        dynamic->nameless = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

static const ElfW(Dyn) * module_dynamic_entries(const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *entries = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entries = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return entries;
}

static bool module_dynamic_read(struct module_dynamic *dynamic, const struct dl_phdr_info *info)
{
    *dynamic = (struct module_dynamic){ .names = NULL };
    const ElfW(Dyn) *entry = module_dynamic_entries(info);
    for (; entry && entry->d_tag != DT_NULL; entry++)
        module_dynamic_take(dynamic, info, entry);
    return dynamic->names && dynamic->symbols;
}

/* The name of the version with that number, among those that other modules must have. */
static const char *module_version_of(const struct module_dynamic *dynamic, uint64_t symbol)
{
    enum { NUMBER = 0x7fff };
    const unsigned number = dynamic->versions ? dynamic->versions[symbol] & NUMBER : VER_NDX_GLOBAL;
    if (number <= VER_NDX_GLOBAL || !dynamic->needed)
        return NULL;
    const char *at = dynamic->needed;
    for (;;) {
        const ElfW(Verneed) *file = (const ElfW(Verneed) *)at;
        const char *version_at = at + file->vn_aux;
        for (unsigned i = 0; i < file->vn_cnt; i++) {
            const ElfW(Vernaux) *version = (const ElfW(Vernaux) *)version_at;
            if ((version->vna_other & NUMBER) == number)
                return dynamic->names + version->vna_name;
            version_at += version->vna_next;
        }
        if (!file->vn_next)
            return NULL;
        at += file->vn_next;
    }
}

static void module_slots_take(const struct module_dynamic *dynamic, const struct dl_phdr_info *info,
                              const ElfW(Rela) * relocation, module_slot_taker *take, void *to)
{
    const uint64_t type = ELF64_R_TYPE(relocation->r_info), symbol = ELF64_R_SYM(relocation->r_info);
    if ((type != MACHINE_JUMP_SLOT && type != MACHINE_GLOB_DAT) || !symbol)
        return;
    const ElfW(Sym) *named = &dynamic->symbols[symbol];
    const bool defined = named->st_shndx != SHN_UNDEF;
    take(to, &(struct module_slot){ .address = info->dlpi_addr + relocation->r_offset,
                                    .name = dynamic->names + named->st_name,
                                    .version = defined ? NULL : module_version_of(dynamic, symbol),
                                    .defined = defined });
}

void module_slots_each(const struct dl_phdr_info *info, module_slot_taker *take, void *to)
{
    struct module_dynamic dynamic;
    if (!module_dynamic_read(&dynamic, info))
        return;
    for (int table = 0; table < 2; table++) {
        const ElfW(Rela) *relocations = (const ElfW(Rela) *)dynamic.tables[table];
        const uint64_t count = relocations ? dynamic.sizes[table] / sizeof *relocations : 0;
        for (uint64_t i = table == 1 ? dynamic.nameless : 0; i < count; i++)
            module_slots_take(&dynamic, info, &relocations[i], take, to);
    }
}

/* ---- functions ---- */

static uint32_t module_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

static uint32_t module_old_hash_of(const char *name)
{
    uint32_t hash = 0;
    for (; *name; name++) {
        hash = (hash << 4) + (uint8_t)*name;
        hash = (hash ^ ((hash & 0xf0000000) >> 24)) & 0x0fffffff;
    }
    return hash;
}

/* What a search takes: a symbol of the name. */
struct module_symbol_search {
    const char *name;
    const char *version; /* that it must have; NULL for the default one */
    bool indirect;       /* only such functions, of any version */
};

/* A version of the module's own, with that number. */
static bool module_version_is(const struct module_dynamic *dynamic, unsigned number, const char *version)
{
    for (const char *at = dynamic->own; at;) {
        const ElfW(Verdef) *definition = (const ElfW(Verdef) *)at;
        const ElfW(Verdaux) *name = (const ElfW(Verdaux) *)(at + definition->vd_aux);
        if (definition->vd_ndx == number)
            return strcmp(dynamic->names + name->vda_name, version) == 0;
        at = definition->vd_next ? at + definition->vd_next : NULL;
    }
    return false;
}

static bool module_version_fits(const struct module_dynamic *dynamic, uint32_t symbol, const char *version)
{
    enum { HIDDEN = 0x8000 };
    if (!dynamic->versions)
        return true;
    const unsigned number = dynamic->versions[symbol];
    const bool usual = !(number & HIDDEN);
    return version ? (usual && number <= VER_NDX_GLOBAL) || module_version_is(dynamic, number & ~HIDDEN, version)
                   : usual;
}

static bool module_symbol_fits(const struct module_dynamic *dynamic, uint32_t i,
                               const struct module_symbol_search *search)
{
    const ElfW(Sym) *symbol = &dynamic->symbols[i];
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
        strcmp(dynamic->names + symbol->st_name, search->name) != 0)
        return false;
    if (search->indirect)
        return type == STT_GNU_IFUNC;
    return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
           module_version_fits(dynamic, i, search->version);
}

static const ElfW(Sym) *
    module_symbol_find(const struct module_dynamic *dynamic, const struct module_symbol_search *search)
{
    const uint32_t buckets = dynamic->hash[0], first = dynamic->hash[1], bloom_words = dynamic->hash[2];
    const uint32_t *bucket = dynamic->hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof *bucket);
    const uint32_t *chain = bucket + buckets;
    const uint32_t hash = module_hash_of(search->name);
    for (uint32_t i = buckets ? bucket[hash % buckets] : 0; i && i >= first; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && module_symbol_fits(dynamic, i, search))
            return &dynamic->symbols[i];
        if (chain[i - first] & 1)
            break;
    }
    return NULL;
}

static const ElfW(Sym) *
    module_symbol_find_old(const struct module_dynamic *dynamic, const struct module_symbol_search *search)
{
    const uint32_t buckets = dynamic->old_hash[0];
    const uint32_t *bucket = dynamic->old_hash + 2, *chain = bucket + buckets;
    for (uint32_t i = buckets ? bucket[module_old_hash_of(search->name) % buckets] : 0; i; i = chain[i])
        if (module_symbol_fits(dynamic, i, search))
            return &dynamic->symbols[i];
    return NULL;
}

static const ElfW(Sym) * module_symbol(const struct dl_phdr_info *info, const struct module_symbol_search *search)
{
    struct module_dynamic dynamic;
    if (!module_dynamic_read(&dynamic, info))
        return NULL;
    return dynamic.hash       ? module_symbol_find(&dynamic, search)
           : dynamic.old_hash ? module_symbol_find_old(&dynamic, search)
                              : NULL;
}

uint64_t module_slots_indirect(const struct dl_phdr_info *info, const char *name)
{
    const ElfW(Sym) *symbol = module_symbol(info, &(struct module_symbol_search){ .name = name, .indirect = true });
    return symbol ? info->dlpi_addr + symbol->st_value : 0;
}

struct module_function module_slots_function(const struct dl_phdr_info *info, const char *name, const char *version)
{
    const ElfW(Sym) *symbol = module_symbol(info, &(struct module_symbol_search){ .name = name, .version = version });
    return symbol ? (struct module_function){ info->dlpi_addr + symbol->st_value,
                                              ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC }
                  : (struct module_function){ 0, false };
}

/* ---- other modules ---- */

bool module_slots_needs(const struct dl_phdr_info *info, const char *library)
{
    struct module_dynamic dynamic;
    if (!module_dynamic_read(&dynamic, info))
        return false;
    for (const ElfW(Dyn) *entry = module_dynamic_entries(info); entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strcmp(dynamic.names + entry->d_un.d_val, library) == 0)
            return true;
    return false;
}

const char *module_slots_library(const struct dl_phdr_info *info)
{
    struct module_dynamic dynamic;
    if (!module_dynamic_read(&dynamic, info))
        return NULL;
    for (const ElfW(Dyn) *entry = module_dynamic_entries(info); entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME)
            return dynamic.names + entry->d_un.d_val;
    const char *name = info->dlpi_name, *slash = name ? strrchr(name, '/') : NULL;
    return slash ? slash + 1 : name;
}
