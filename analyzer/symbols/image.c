/* Reads the segments, the unwind table's index and the sections of stubs of an ELF file. */
#include "symbols/image.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    ENTRY_SIZE = 8,
    TABLE_AT = 12,        /* offset of the index in .eh_frame_hdr */
    USUAL_COUNT = 0x03,   /* the number of entries has 4 bytes */
    USUAL_ENTRIES = 0x3b, /* two signed distances of 4 bytes from the header */
};

static void image_add_segment(struct image *image, const GElf_Phdr *header, const uint8_t *file, size_t size)
{
    if (header->p_type != PT_LOAD || header->p_offset > size || header->p_filesz > size - header->p_offset)
        return;
    image->segments[image->segment_count++] =
        (struct image_segment){ header->p_vaddr, header->p_filesz, file + header->p_offset, header->p_flags & PF_X };
}

static void image_find_table(struct image *image, const GElf_Phdr *header)
{
    uint8_t head[TABLE_AT];
    if (header->p_type != PT_GNU_EH_FRAME || header->p_filesz < sizeof head ||
        !image_read(image, header->p_vaddr, head, sizeof head) || head[2] != USUAL_COUNT || head[3] != USUAL_ENTRIES)
        return;
    memcpy(&image->table_count, head + 8, sizeof image->table_count);
    if (image->table_count > (header->p_filesz - TABLE_AT) / ENTRY_SIZE)
        image->table_count = 0;
    image->table_header = image->table_count ? header->p_vaddr : 0;
}

static void image_find_stubs(struct image *image, Elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) && image->stub_count < 8;) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || (strncmp(name, ".plt", 4) != 0 && strcmp(name, ".iplt") != 0) ||
            !(header.sh_flags & SHF_EXECINSTR))
            continue;
        image->stubs[image->stub_count++] = header.sh_addr;
        image->stubs[image->stub_count++] = header.sh_addr + header.sh_size;
    }
}

struct image image_of(Elf *elf)
{
    struct image image = { .segments = NULL };
    size_t count, size;
    const uint8_t *file = (const uint8_t *)elf_rawfile(elf, &size);
    if (!file || elf_getphdrnum(elf, &count) != 0)
        return image;
    image.segments = need_memory(count, sizeof *image.segments);
    GElf_Phdr header;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &header))
            image_add_segment(&image, &header, file, size);
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &header))
            image_find_table(&image, &header);
    image_find_stubs(&image, elf);
    return image;
}

void image_drop(struct image *image)
{
    free(image->segments);
}

bool image_read(const struct image *image, uint64_t address, void *into, size_t size)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct image_segment *s = &image->segments[i];
        if (address < s->address || address - s->address > s->size || size > s->size - (address - s->address))
            continue;
        memcpy(into, s->bytes + (address - s->address), size);
        return true;
    }
    return false;
}

bool image_table_entry(const struct image *image, uint32_t i, uint64_t *begin)
{
    int32_t distance;
    if (!image_read(image, image->table_header + TABLE_AT + (uint64_t)i * ENTRY_SIZE, &distance, sizeof distance))
        return false;
    *begin = image->table_header + (uint64_t)(int64_t)distance;
    return true;
}

/* The end of a function, as its entry of the unwind table says: a length of four bytes, a number of four bytes, and
 * then the beginning and the size. Their form is another entry's matter, but only one form gives the known begin.
 * Without one, the function reaches to the next. */
static uint64_t image_end(const struct image *image, uint64_t entry, uint64_t begin)
{
    const uint64_t at = entry + 8;
    int32_t near[2];
    uint64_t wide[2];
    if (image_read(image, at, near, sizeof near) && at + (uint64_t)(int64_t)near[0] == begin)
        return begin + (uint32_t)near[1];
    if (image_read(image, at, wide, sizeof wide) && (wide[0] == begin || at + wide[0] == begin))
        return begin + wide[1];
    return UINT64_MAX;
}

bool image_function(const struct image *image, uint64_t address, uint64_t *begin, uint64_t *end)
{
    uint32_t low = 0, high = image->table_header ? image->table_count : 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (!image_table_entry(image, middle, begin))
            return false;
        if (*begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    int32_t distance;
    const uint64_t last = image->table_header + TABLE_AT + (uint64_t)(low - 1) * ENTRY_SIZE;
    if (!low || !image_table_entry(image, low - 1, begin) ||
        !image_read(image, last + sizeof distance, &distance, sizeof distance))
        return false;
    *end = image_end(image, image->table_header + (uint64_t)(int64_t)distance, *begin);
    return true;
}

bool image_is_stub(const struct image *image, uint64_t address)
{
    for (unsigned i = 0; i + 1 < image->stub_count; i += 2)
        if (address >= image->stubs[i] && address < image->stubs[i + 1])
            return true;
    return false;
}
