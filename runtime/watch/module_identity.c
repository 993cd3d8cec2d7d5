/* Reads the build-id of a loaded module. */
#include "module_identity.h"

#include <elf.h>
#include <string.h>

enum { LONGEST_BUILD_ID = 64 };

static struct text module_search_notes(const char *at, size_t size, size_t align)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        size_t name = (note->n_namesz + align - 1) & ~(align - 1);
        size_t description = (note->n_descsz + align - 1) & ~(align - 1);
        size_t total = sizeof *note + name + description;
        if (total > size)
            break;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(note + 1, "GNU", 4) == 0 &&
            note->n_descsz <= LONGEST_BUILD_ID)
            return (struct text){ (const char *)(note + 1) + name, note->n_descsz };
        at += total;
        size -= total;
    }
    return (struct text){ "", 0 };
}

struct text module_build_id(const struct dl_phdr_info *info)
{
    struct text found = { "", 0 };
    for (int i = 0; i < info->dlpi_phnum && !found.length; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            found = module_search_notes((const char *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz,
                                        segment->p_align == 8 ? 8 : 4);
    }
    return found;
}

struct text module_name(const struct dl_phdr_info *info)
{
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    return (struct text){ name, strlen(name) };
}
