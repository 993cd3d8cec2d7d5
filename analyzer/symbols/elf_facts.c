/* Facts about an ELF file: its build-id, its loader, and whether it has the runtime. */
#include "symbols/elf_facts.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static bool elf_find_segment(Elf *elf, uint32_t type, GElf_Phdr *segment)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, segment) && segment->p_type == type)
            return true;
    return false;
}

bool elf_has_segment(Elf *elf, uint32_t type)
{
    GElf_Phdr segment;
    return elf_find_segment(elf, type, &segment);
}

bool elf_has_section(Elf *elf, const char *name, GElf_Word type)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) < 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        const char *found = elf_strptr(elf, names, header.sh_name);
        if (name ? found && strcmp(found, name) == 0 : header.sh_type == type)
            return true;
    }
    return false;
}

Elf_Scn *elf_section_of(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    return NULL;
}

const char *elf_dynamic_text(Elf *elf, int64_t tag, size_t index)
{
    GElf_Shdr header;
    GElf_Dyn entry;
    Elf_Scn *section = elf_section_of(elf, SHT_DYNAMIC, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
        if (entry.d_tag == tag && index-- == 0)
            return elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    return NULL;
}

/* Its name as a library is ld-linux-x86-64.so.2 or the like. */
bool elf_is_loader(Elf *elf)
{
    const char *name = elf_has_segment(elf, PT_INTERP) ? NULL : elf_dynamic_text(elf, DT_SONAME, 0);
    return name && (strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0 || strncmp(name, "ld64.", 5) == 0);
}

bool elf_needs_musl(Elf *elf)
{
    static const char name[] = "ld-musl-";
    GElf_Phdr segment;
    if (!elf_find_segment(elf, PT_INTERP, &segment))
        return false;
    const Elf_Data *path = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz, ELF_T_BYTE);
    return path && memmem(path->d_buf, path->d_size, name, sizeof name - 1);
}

bool elf_has_runtime(Elf *elf)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_NOTE)
            continue;
        Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz,
                                              segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        GElf_Nhdr note;
        size_t offset = 0, name, description;
        while (data && (offset = gelf_getnote(data, offset, &note, &name, &description)) > 0)
            if (note.n_namesz == sizeof "dwell" && memcmp((char *)data->d_buf + name, "dwell", sizeof "dwell") == 0)
                return true;
    }
    return false;
}

bool elf_is_runtime(Elf *elf)
{
    static const char begin[] = "libdwell.so.";
    const char *name = elf_has_runtime(elf) ? elf_dynamic_text(elf, DT_SONAME, 0) : NULL;
    return name && strncmp(name, begin, sizeof begin - 1) == 0;
}

static bool elf_table_defines(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name, int type)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i <= INT_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != type)
            continue;
        const char *found = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (found && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

bool elf_defines(const char *path, const char *name)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool found = false;
    for (Elf_Scn *section = NULL; elf && !found && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            found = elf_table_defines(elf, section, &header, name, STT_FUNC);
    }
    elf_end(elf);
    close(fd);
    return found;
}

bool elf_has_versions_of(Elf *elf, const char *name)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_section_of(elf, SHT_DYNSYM, &header);
    return section && elf_table_defines(elf, section, &header, name, STT_GNU_IFUNC);
}

size_t elf_build_id_of(const char *path, uint8_t *id, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *found = NULL;
    ssize_t length = elf ? dwelf_elf_gnu_build_id(elf, &found) : 0;
    const size_t usable = length > 0 && (size_t)length <= room ? (size_t)length : 0;
    if (usable)
        memcpy(id, found, usable);
    elf_end(elf);
    close(fd);
    return usable;
}

bool elf_has_build_id(const char *path, const uint8_t *id, size_t length)
{
    uint8_t found[64];
    return elf_build_id_of(path, found, sizeof found) == length && (!length || memcmp(found, id, length) == 0);
}
