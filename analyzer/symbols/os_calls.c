/* Finds the functions of libc, and of libraries for OpenMP, that have rows as calls of the operating system. */
#include "symbols/os_calls.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "base/sorted.h"
#include "oscalls_names.h"
#include "symbols/elf_facts.h"

static const char *const names[] = {
#define OS_CALL_NAME(name) #name,
    OS_CALLS(OS_CALL_NAME)
#undef OS_CALL_NAME
};
enum { NAME_COUNT = sizeof names / sizeof *names };

bool os_calls_is_library(const char *path)
{
    static const char *const libraries[] = { "libc.so", "libgomp.so", "libomp.so", "libomp-", "libiomp5.so" };
    const char *name = path_file_name(path);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

static int os_calls_compare_names(const void *a, const void *b)
{
    return strcmp(names[*(const int *)a], names[*(const int *)b]);
}

/* The list in the order of names, since thousands of libc's symbols are looked up in it. */
static const int *os_calls_sorted_names(void)
{
    static int sorted[NAME_COUNT];
    static bool done;
    for (int i = 0; i < NAME_COUNT && !done; i++)
        sorted[i] = i;
    if (!done)
        qsort(sorted, NAME_COUNT, sizeof *sorted, os_calls_compare_names);
    done = true;
    return sorted;
}

int os_calls_number(const char *name)
{
    const size_t length = strcspn(name, "@");
    const int *sorted = os_calls_sorted_names();
    const size_t place = LOWER_BOUND(number, sorted, NAME_COUNT, strncmp(names[*number], name, length) < 0);
    if (place == NAME_COUNT)
        return -1;
    const char *found = names[sorted[place]];
    return strncmp(found, name, length) == 0 && found[length] == '\0' ? sorted[place] : -1;
}

const char *os_calls_name(int number)
{
    return names[number];
}

static int os_calls_compare_symbols(const void *a, const void *b)
{
    const struct os_call_symbol *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->number - y->number;
}

static struct os_call_symbol *os_calls_read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, size_t *count)
{
    Elf_Data *data = elf_getdata(section, NULL);
    struct os_call_symbol *found = NULL;
    size_t room = 0;
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        const int number = symbol.st_shndx != SHN_UNDEF && name ? os_calls_number(name) : -1;
        if (number < 0)
            continue;
        GROW(found, *count, room);
        found[(*count)++] = (struct os_call_symbol){ symbol.st_value, number };
    }
    return found;
}

static struct os_call_symbol *os_calls_read_file(int fd, size_t *count)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Shdr header;
    Elf_Scn *section = elf ? elf_section_of(elf, SHT_DYNSYM, &header) : NULL;
    struct os_call_symbol *found = section ? os_calls_read_table(elf, section, &header, count) : NULL;
    elf_end(elf);
    return found;
}

struct os_call_symbol *os_calls_of(const struct symbol_module *module, size_t *count)
{
    *count = 0;
    const int fd =
        os_calls_is_library(module->path) && elf_has_build_id(module->path, module->build_id, module->build_id_length)
            ? open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            : -1;
    if (fd < 0)
        return NULL;
    size_t all = 0;
    struct os_call_symbol *found = os_calls_read_file(fd, &all);
    close(fd);
    if (all)
        qsort(found, all, sizeof *found, os_calls_compare_symbols);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || found[i].offset != found[i - 1].offset)
            found[(*count)++] = found[i];
    return found;
}
