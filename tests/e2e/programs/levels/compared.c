/* compared FILE...: finds the calls of the probes in programs and libraries as the runtime does, and in a plain way.
 * Says how many sites there are, and which differ. A file without probes is read as if the two functions that it calls
 * most were the probes. The files are mapped as the loader does, but nothing of them runs. */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plain_flow.h"

enum { PAGE_BYTES = 4096, STRANGER = 0x1000, MAX_TARGETS = 1 << 16 };

/* Where PIE programs and libraries are mapped: far from this one, so that jumps to its probes have no short form. */
#define BASE 0x200000000000ull

static uint64_t probes[HOOKS][2]; /* their addresses are those of the probes */

struct image {
    const char *file;
    uint64_t size, begin, end; /* of the file; of the mapped memory */
    struct dl_phdr_info info;
};

static const void *image_at(const struct image *image, uint64_t address)
{
    return (const void *)(image->info.dlpi_addr + address);
}

/* False if something is in the way. */
static bool image_map(struct image *image, const char *path)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        return false;
    *image = (struct image){ .size = (uint64_t)status.st_size, .begin = UINT64_MAX };
    image->file = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)image->file;
    if (image->file == MAP_FAILED || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_X86_64)
        return false;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(image->file + header->e_phoff);
    image->info.dlpi_phdr = segments;
    image->info.dlpi_phnum = header->e_phnum;
    image->info.dlpi_addr = header->e_type == ET_DYN ? BASE : 0;
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type != PT_LOAD)
            continue;
        const uint64_t end = segments[i].p_vaddr + segments[i].p_memsz;
        image->begin = segments[i].p_vaddr < image->begin ? segments[i].p_vaddr : image->begin;
        image->end = end > image->end ? end : image->end;
    }
    image->begin = (image->info.dlpi_addr + image->begin) & ~(uint64_t)(PAGE_BYTES - 1);
    image->end += image->info.dlpi_addr;
    if (mmap((void *)image->begin, image->end - image->begin, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)image->begin)
        return false;
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            memcpy((void *)image_at(image, segments[i].p_vaddr), image->file + segments[i].p_offset,
                   segments[i].p_filesz);
    return true;
}

static void image_drop(const struct image *image)
{
    munmap((void *)image->begin, image->end - image->begin);
    munmap((void *)image->file, image->size);
}

/* ---- relocations ---- */

static uint64_t image_dynamic(const struct image *image, int64_t tag)
{
    for (int i = 0; i < image->info.dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &image->info.dlpi_phdr[i];
        if (segment->p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *entry = image_at(image, segment->p_vaddr); entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == tag)
                return entry->d_un.d_val;
    }
    return 0;
}

static uint64_t image_symbol(const struct image *image, uint64_t number)
{
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)image_at(image, image_dynamic(image, DT_SYMTAB)) + number;
    const char *name = (const char *)image_at(image, image_dynamic(image, DT_STRTAB)) + symbol->st_name;
    if (strcmp(name, "__cyg_profile_func_enter") == 0)
        return (uint64_t)probes[HOOK_ENTER];
    if (strcmp(name, "__cyg_profile_func_exit") == 0)
        return (uint64_t)probes[HOOK_EXIT];
    return symbol->st_shndx ? (uint64_t)image_at(image, symbol->st_value) : STRANGER + number;
}

static void image_relocate_table(const struct image *image, uint64_t table, uint64_t size)
{
    const ElfW(Rela) *first = image_at(image, table);
    for (const ElfW(Rela) *r = first; r < first + size / sizeof *r; r++) {
        uint64_t *at = (uint64_t *)image_at(image, r->r_offset);
        const uint64_t type = ELF64_R_TYPE(r->r_info), symbol = ELF64_R_SYM(r->r_info);
        if (type == R_X86_64_RELATIVE)
            *at = (uint64_t)image_at(image, (uint64_t)r->r_addend);
        else if (symbol && (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT))
            *at = image_symbol(image, symbol);
    }
}

static void image_relocate(const struct image *image)
{
    image_relocate_table(image, image_dynamic(image, DT_JMPREL), image_dynamic(image, DT_PLTRELSZ));
    image_relocate_table(image, image_dynamic(image, DT_RELA), image_dynamic(image, DT_RELASZ));
}

/* ---- places ---- */

/* The two targets of most calls: the first of equal ones. */
static void compared_take_most_called(struct hook_places *places)
{
    static uint32_t counts[MAX_TARGETS];
    static uint64_t targets[MAX_TARGETS];
    const struct hook_code *code = &places->code[0];
    memset(counts, 0, sizeof counts);
    memset(targets, 0, sizeof targets);
    for (uint64_t at = code->begin; at + 5 <= code->end; at++) {
        int32_t distance;
        memcpy(&distance, (const void *)(at + 1), sizeof distance);
        const uint64_t target = at + 5 + (uint64_t)(int64_t)distance;
        const uint32_t place = (uint32_t)(target % MAX_TARGETS);
        if (*(const uint8_t *)at != 0xe8 || !hook_places_code(places, target) ||
            (targets[place] && targets[place] != target))
            continue;
        targets[place] = target;
        counts[place]++;
    }
    uint32_t best[HOOKS] = { 0, 0 };
    for (uint32_t i = 1; i < MAX_TARGETS; i++) {
        if (counts[i] > counts[best[HOOK_ENTER]]) {
            best[HOOK_EXIT] = best[HOOK_ENTER];
            best[HOOK_ENTER] = i;
        } else if (counts[i] > counts[best[HOOK_EXIT]]) {
            best[HOOK_EXIT] = i;
        }
    }
    for (int hook = 0; hook < HOOKS; hook++)
        places->probes[hook] = targets[best[hook]];
}

/* ---- comparison ---- */

/* The plain search does not follow addresses that are spilled. */
static bool compared_same(const struct call_site *quick, const struct call_site *plain)
{
    return quick->address == plain->address && (!plain->function || quick->function == plain->function) &&
           quick->length == plain->length && quick->hook == plain->hook && quick->jump == plain->jump &&
           memcmp(quick->original, plain->original, sizeof quick->original) == 0;
}

static unsigned compared_differences(const struct image *image, struct call_sites lists[2], uint32_t first)
{
    const uint32_t count = lists[0].count < lists[1].count ? lists[0].count : lists[1].count;
    unsigned differences = lists[0].count != lists[1].count || lists[0].more_enters != lists[1].more_enters;
    for (uint32_t i = first; i < count; i++) {
        const struct call_site *quick = &lists[0].list[i], *plain = &lists[1].list[i];
        if (compared_same(quick, plain))
            continue;
        differences++;
        printf("%lx of %lx, plain %lx of %lx\n", quick->address - image->info.dlpi_addr, quick->function,
               plain->address - image->info.dlpi_addr, plain->function);
    }
    return differences;
}

static void compared_file(const char *path)
{
    struct image image;
    if (!image_map(&image, path)) {
        printf("%s: cannot be mapped\n", path);
        return;
    }
    image_relocate(&image);
    struct hook_places places = { .probes = { (uint64_t)probes[HOOK_ENTER], (uint64_t)probes[HOOK_EXIT] } };
    hook_places_find(&places, &image.info);
    const bool probed = places.slot_count[HOOK_ENTER] || places.slot_count[HOOK_EXIT];
    if (!probed && places.code_count)
        compared_take_most_called(&places);
    struct call_sites lists[2] = { { .complete = true }, { .complete = true } };
    struct unwind_ranges ranges;
    unsigned differences = 0, known = 0;
    if (!unwind_ranges_begin(&ranges, &image.info))
        ranges.count = 0;
    for (uint32_t i = 0; i < ranges.count && differences < 10; i++) {
        struct unwind_range range;
        const uint32_t first = lists[0].count;
        const struct hook_code *code;
        if (!unwind_range_at(&ranges, i, &range) || !(code = hook_places_code(&places, range.begin)) ||
            range.end > code->end || range.end <= range.begin)
            continue;
        if (!call_sites_in_range(&lists[0], &places, &range) || !plain_sites_in_range(&lists[1], &places, &range))
            abort();
        differences += compared_differences(&image, lists, first);
    }
    for (uint32_t i = 0; i < lists[0].count; i++)
        known += lists[0].list[i].function != 0;
    printf("%s: probes %d sites %u known %u differences %u\n", path, probed, lists[0].count, known, differences);
    for (int i = 0; i < 2; i++)
        call_sites_drop(&lists[i]);
    image_drop(&image);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        compared_file(argv[i]);
    return 0;
}
