/* Reads the relocations, symbols and versions of a loaded module. */
#include "levels/module_slots.h"

#include <string.h>

#include "levels/machine.h"

struct module_dynamic {
    const char *names;
    const ElfW(Sym) * symbols;
    const uint16_t *versions;     /* of the symbols; NULL if they have none */
    const char *needed;           /* versions of other modules; NULL if there are none */
    const uint32_t *hash;         /* DT_GNU_HASH; NULL if there is none */
    uint64_t tables[2], sizes[2]; /* of relocations */
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
    case DT_GNU_HASH:
        dynamic->hash = (const uint32_t *)address;
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
    default:
        break;
    }
}

static bool module_dynamic_read(struct module_dynamic *dynamic, const struct dl_phdr_info *info)
{
    *dynamic = (struct module_dynamic){ .names = NULL };
    const ElfW(Dyn) *entry = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
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
        const ElfW(Rela) *relocation = (const ElfW(Rela) *)dynamic.tables[table];
        const ElfW(Rela) *end = relocation ? relocation + dynamic.sizes[table] / sizeof *relocation : NULL;
        for (; relocation < end; relocation++)
            module_slots_take(&dynamic, info, relocation, take, to);
    }
}

static uint32_t module_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

uint64_t module_slots_indirect(const struct dl_phdr_info *info, const char *name)
{
    struct module_dynamic dynamic;
    if (!module_dynamic_read(&dynamic, info) || !dynamic.hash || !dynamic.hash[0])
        return 0;
    const uint32_t buckets = dynamic.hash[0], first = dynamic.hash[1], bloom_words = dynamic.hash[2];
    const uint32_t *bucket = dynamic.hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof *bucket);
    const uint32_t *chain = bucket + buckets;
    const uint32_t hash = module_hash_of(name);
    for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
        const ElfW(Sym) *symbol = &dynamic.symbols[i];
        if ((chain[i - first] | 1) == (hash | 1) && ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC &&
            strcmp(dynamic.names + symbol->st_name, name) == 0)
            return info->dlpi_addr + symbol->st_value;
        if (chain[i - first] & 1)
            break;
    }
    return 0;
}
