/* Finds the names, lines and functions of the binaries on this machine with libdw. */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "symbols/binary_parts.h"
#include "symbols/elf_facts.h"
#include "symbols/image.h"
#include "symbols/kept_files.h"
#include "symbols/kernels_module.h"
#include "symbols/os_calls.h"
#include "symbols/scopes.h"
#include "symbols/symbols.h"
#include "symbols/variables.h"

struct binary_entry { /* a symbol of the symbol table */
    uint64_t address;
    const char *name; /* owned by libdw */
    int rank;         /* if two are at one address, the one with the higher rank is shown */
    uint64_t size;    /* bytes; zero if unknown */
};

struct binary {
    char *path;
    uint8_t *build_id;
    size_t build_id_length;
    Dwfl *dwfl;
    Dwfl_Module *module;          /* NULL if the file cannot be used */
    char *wrong;                  /* why; NULL if that was reported */
    struct binary_entry *entries; /* functions, by address and rank */
    size_t entry_count, entry_room;
    bool entries_read;
    struct image image;
    bool image_read;
    struct units *units;         /* of the module; NULL without one */
    struct variables *variables; /* NULL if they are not read */
};

struct binaries {
    bool quiet;
    struct binary *list;
    size_t count, room;
    struct intern numbers; /* path and build-id to place in the list */
};

static char *debug_path; /* NULL for libdw's usual places */

/* libdw's search ends at debuginfod. It loads some thirty libraries for that, even if no server is set. The search is
 * needed for a server, or if the binary names its debug file. Otherwise the path of the build-id is enough. */
static int binary_find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                                 const char *link, GElf_Word crc, char **found)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (link || (servers && *servers))
        return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, found);
    return dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc, found);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = binary_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

struct binaries *binaries_new(void)
{
    debug_path = getenv("DWELL_DEBUG_PATH");
    return need_memory(1, sizeof(struct binaries));
}

struct binaries *binaries_new_quiet(void)
{
    struct binaries *b = binaries_new();
    b->quiet = true;
    return b;
}

void binaries_be_quiet(struct binaries *b, bool quiet)
{
    b->quiet = quiet;
}

void binaries_free(struct binaries *b)
{
    for (size_t i = 0; i < b->count; i++) {
        units_free(b->list[i].units);
        variables_free(b->list[i].variables);
        image_drop(&b->list[i].image);
        if (b->list[i].dwfl)
            dwfl_end(b->list[i].dwfl);
        free(b->list[i].path);
        free(b->list[i].wrong);
        free(b->list[i].build_id);
        free(b->list[i].entries);
    }
    intern_drop(&b->numbers);
    free(b->list);
    free(b);
}

static bool binary_build_id_matches(Dwfl_Module *module, const struct binary *binary)
{
    const unsigned char *id;
    GElf_Addr where;
    int length = dwfl_module_build_id(module, &id, &where);
    if (length <= 0 || binary->build_id_length == 0)
        return length <= 0 && binary->build_id_length == 0;
    return (size_t)length == binary->build_id_length && memcmp(id, binary->build_id, binary->build_id_length) == 0;
}

static int binary_compare_entries(const void *a, const void *b)
{
    const struct binary_entry *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->rank != y->rank)
        return y->rank - x->rank;
    return strcmp(x->name, y->name);
}

enum { RANK_OF_OS_CALLS = 1000 };

/* libc has most of these functions under several names. The first name in the list is shown. */
static struct binary_entry binary_os_call_entry(uint64_t address, int number, uint64_t size)
{
    return (struct binary_entry){ address, os_calls_name(number), RANK_OF_OS_CALLS - number, size };
}

/* Names of the implementation: malloc is also __libc_malloc, and free was cfree@GLIBC_2.2.5. Those of C++ begin with an
 * underscore, too. */
static bool binary_is_reserved(const char *name)
{
    return (name[0] == '_' && name[1] != 'Z') || strchr(name, '@');
}

/* Reads the symbol table once, since libdw's search reads the whole table for each address. */
static void binary_read_symbols(struct binary *binary)
{
    if (binary->entries_read)
        return;
    binary->entries_read = true;
    const bool libc = os_calls_is_library(binary->path);
    int count = dwfl_module_getsymtab(binary->module);
    for (int i = 0; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        const char *name = dwfl_module_getsym_info(binary->module, i, &symbol, &address, &section, NULL, NULL);
        const int type = GELF_ST_TYPE(symbol.st_info), binding = GELF_ST_BIND(symbol.st_info);
        if (!name || !*name || section == SHN_UNDEF ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
            continue;
        const int os_call = libc ? os_calls_number(name) : -1;
        const int rank = (type != STT_NOTYPE) * 8 + !binary_is_reserved(name) * 4 +
                         (binding == STB_GLOBAL ? 2 : binding == STB_WEAK);
        GROW(binary->entries, binary->entry_count, binary->entry_room);
        binary->entries[binary->entry_count++] = os_call < 0
                                                     ? (struct binary_entry){ address, name, rank, symbol.st_size }
                                                     : binary_os_call_entry(address, os_call, symbol.st_size);
    }
    if (binary->entry_count)
        qsort(binary->entries, binary->entry_count, sizeof *binary->entries, binary_compare_entries);
}

/* The first entry that is not below the address. */
static size_t binary_first_entry_from(struct binary *binary, uint64_t address)
{
    binary_read_symbols(binary);
    return LOWER_BOUND(entry, binary->entries, binary->entry_count, entry->address < address);
}

/* A probe reports the first address of the function. */
static const char *binary_name_at(struct binary *binary, uint64_t address)
{
    const size_t i = binary_first_entry_from(binary, address);
    return i < binary->entry_count && binary->entries[i].address == address ? binary->entries[i].name : NULL;
}

static uint64_t binary_size_at(struct binary *binary, uint64_t address)
{
    const size_t i = binary_first_entry_from(binary, address);
    return i < binary->entry_count && binary->entries[i].address == address ? binary->entries[i].size : 0;
}

static const char *binary_name_around(struct binary *binary, uint64_t address)
{
    const size_t next = binary_first_entry_from(binary, address + 1);
    if (next == 0)
        return NULL;
    const struct binary_entry *entry =
        &binary->entries[binary_first_entry_from(binary, binary->entries[next - 1].address)];
    return address - entry->address < entry->size ? entry->name : NULL;
}

static struct binary *binary_report(struct binary *binary, bool quiet)
{
    if (binary->wrong && !quiet) {
        say("%s: %s: its functions are shown by address", binary->path, binary->wrong);
        free(binary->wrong);
        binary->wrong = NULL;
    }
    return binary;
}

/* Reads the file at base zero, so that libdw's addresses are those in the file. Returns what is wrong, or NULL. */
static const char *binary_read(struct binary *binary, int fd)
{
    binary->dwfl = dwfl_begin(&callbacks);
    if (!binary->dwfl) {
        close(fd);
        return dwfl_errmsg(-1);
    }
    dwfl_report_begin(binary->dwfl);
    Dwfl_Module *module = dwfl_report_elf(binary->dwfl, binary->path, binary->path, fd, 0, true);
    dwfl_report_end(binary->dwfl, NULL, NULL);
    if (!module) {
        close(fd);
        return dwfl_errmsg(-1);
    }
    if (!binary_build_id_matches(module, binary))
        return "changed since the recording";
    binary->module = module;
    binary->units = units_new(module);
    return NULL;
}

/* The file may have been removed or replaced. If it was kept open before, that one is read. */
static void binary_open(struct binary *binary)
{
    const bool kernels = kernels_module_is(binary->path);
    int fd = kernels ? kernels_module_open() : open(binary->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *wrong = fd < 0 ? strerror(errno) : binary_read(binary, fd);
    if (!wrong || kernels) /* that a session is of another kernel is nothing to tell */
        return;
    binary->wrong = need_copy(wrong, strlen(wrong));
    fd = kept_file_open(&(struct symbol_module){ binary->path, binary->build_id, binary->build_id_length });
    if (fd < 0)
        return;
    if (binary->dwfl)
        dwfl_end(binary->dwfl);
    if (!binary_read(binary, fd)) {
        free(binary->wrong);
        binary->wrong = NULL;
    }
}

static struct binary *binaries_find_or_open(struct binaries *b, const struct symbol_module *m)
{
    const uint32_t number = intern_pair(&b->numbers, m->path, m->build_id, m->build_id_length);
    if (number < b->count)
        return binary_report(&b->list[number], b->quiet);
    GROW(b->list, b->count, b->room);
    struct binary *binary = &b->list[b->count++];
    *binary = (struct binary){
        .path = need_copy(m->path, strlen(m->path)),
        .build_id = (uint8_t *)need_copy((const char *)m->build_id, m->build_id_length),
        .build_id_length = m->build_id_length,
    };
    binary_open(binary);
    return binary_report(binary, b->quiet);
}

const char *binaries_variable(struct binaries *b, const struct symbol_module *m, uint64_t address, uint64_t *inside)
{
    struct binary *binary = binaries_find_or_open(b, m);
    if (!binary->module)
        return NULL;
    if (!binary->variables)
        binary->variables = variables_new(binary->module);
    return variables_find(binary->variables, address, inside);
}

struct symbol binaries_find_name(struct binaries *b, const struct symbol_module *m, uint64_t offset)
{
    struct binary *binary = m->path[0] ? binaries_find_or_open(b, m) : NULL;
    if (!binary || !binary->module)
        return (struct symbol){ NULL, NULL, 0, 0 };
    return (struct symbol){ .linkage_name = binary_name_at(binary, offset), .size = binary_size_at(binary, offset) };
}

struct symbol binaries_find(struct binaries *b, const struct symbol_module *m, uint64_t offset)
{
    struct symbol symbol = binaries_find_name(b, m, offset);
    struct binary *binary = m->path[0] ? binaries_find_or_open(b, m) : NULL;
    const struct unit *unit = binary && binary->module ? units_find(binary->units, offset) : NULL;
    if (unit)
        symbol.file = unit_line_at(unit, offset, &symbol.line);
    return symbol;
}

struct symbol_site binaries_site(struct binaries *b, const struct symbol_module *m, uint64_t offset, bool inlined)
{
    struct binary *binary = m->path[0] ? binaries_find_or_open(b, m) : NULL;
    if (!binary || !binary->module || offset == 0)
        return (struct symbol_site){ 0 };
    struct scopes_site found = scopes_find(binary->units, offset - 1, inlined);
    const char *function = found.function_at ? binary_name_at(binary, found.function_at) : NULL;
    const char *outer = found.site.outer && found.outer_at ? binary_name_at(binary, found.outer_at) : NULL;
    if (!function && !found.site.function)
        function = binary_name_around(binary, offset - 1);
    if (function)
        found.site.function = function;
    if (outer)
        found.site.outer = outer;
    return found.site;
}

bool binaries_has_lines(struct binaries *b, const struct symbol_module *m)
{
    GElf_Addr bias;
    struct binary *binary = m->path[0] ? binaries_find_or_open(b, m) : NULL;
    Elf *elf = binary && binary->module ? dwfl_module_getelf(binary->module, &bias) : NULL;
    return elf && elf_has_section(elf, ".debug_line", 0);
}

/* ---- code ---- */

/* NULL if the binary cannot be used. */
static const struct image *binaries_image(struct binaries *b, const struct symbol_module *m)
{
    struct binary *binary = m->path[0] ? binaries_find_or_open(b, m) : NULL;
    GElf_Addr bias;
    if (!binary || !binary->module)
        return NULL;
    Elf *elf = binary->image_read ? NULL : dwfl_module_getelf(binary->module, &bias);
    if (elf)
        binary->image = image_of(elf);
    binary->image_read = true;
    return &binary->image;
}

bool binaries_parts(struct binaries *b, const struct symbol_module *m, struct binary_parts *parts)
{
    const struct image *image = binaries_image(b, m);
    if (!image)
        return false;
    const struct binary *binary = binaries_find_or_open(b, m);
    *parts = (struct binary_parts){ binary->module, binary->units, image };
    return true;
}

bool binaries_unwind_table(struct binaries *b, const struct symbol_module *m, uint64_t *address, uint32_t *count)
{
    const struct image *image = binaries_image(b, m);
    *address = image ? image->table_header : 0;
    *count = image ? image->table_count : 0;
    return *address != 0;
}

bool binaries_read(struct binaries *b, const struct symbol_module *m, uint64_t address, void *into, size_t size)
{
    const struct image *image = binaries_image(b, m);
    return image && image_read(image, address, into, size);
}

struct binary_part {
    uint64_t begin, end;
};

/* The last symbol that does not begin behind the address, or zeros. It ends where it begins if its size is unknown. Of
 * several names, the largest has the function's size. */
static struct binary_part binary_last_symbol(struct binary *binary, uint64_t address)
{
    const size_t next = binary_first_entry_from(binary, address + 1);
    struct binary_part part = { 0, 0 };
    for (size_t i = next; i-- > 0 && binary->entries[i].address == binary->entries[next - 1].address;) {
        part.begin = binary->entries[i].address;
        part.end = larger(part.end, part.begin + binary->entries[i].size);
    }
    return part;
}

/* Code in no function, such as that of a stripped library without unwind information, is a part of its own. It begins
 * where the last function before it ends, so it has not the name of that. */
enum code_kind binaries_function(struct binaries *b, const struct symbol_module *m, uint64_t offset, uint64_t *begin)
{
    const struct image *image = binaries_image(b, m);
    if (!image)
        return CODE_UNKNOWN;
    if (image_is_stub(image, offset))
        return CODE_OF_STUB;
    const struct binary_part last = binary_last_symbol(binaries_find_or_open(b, m), offset);
    if (offset < last.end) {
        *begin = last.begin;
        return CODE_OF_FUNCTION;
    }
    struct binary_part part = { 0, 0 };
    const bool known = image_function(image, offset, &part.begin, &part.end);
    if (known && offset < part.end && (part.begin != last.begin || last.end == last.begin)) {
        *begin = part.begin;
        return CODE_OF_FUNCTION;
    }
    *begin = larger(last.end, offset < part.end ? part.begin : part.end);
    return *begin ? CODE_OF_FUNCTION : CODE_UNKNOWN;
}

/* ---- instrumented or not ---- */

enum mention { NOT_MENTIONED, MENTIONED, DEFINED };

/* Looks for the probe in a symbol table of that type. */
static enum mention binary_probe_mention(Elf *elf, uint32_t table_type)
{
    static const char probe[] = "__cyg_profile_func_enter"; /* a version can follow it */
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!data || !gelf_getshdr(section, &header) || header.sh_type != table_type || header.sh_entsize == 0)
            continue;
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            const char *name =
                gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header.sh_link, symbol.st_name) : NULL;
            if (name && strncmp(name, probe, sizeof probe - 1) == 0 &&
                (name[sizeof probe - 1] == '\0' || name[sizeof probe - 1] == '@'))
                return symbol.st_shndx == SHN_UNDEF ? MENTIONED : DEFINED;
        }
    }
    return NOT_MENTIONED;
}

/* Instrumented code refers to the probe. A library that defines the probe need not be instrumented: libc has an empty
 * one, and libdwell.so defines it. A program that is linked with the runtime is instrumented: it has an interpreter or,
 * if it is static, no dynamic symbol of that name. */
static bool binary_is_instrumented(Dwfl_Module *module)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    if (!elf)
        return false;
    const enum mention mention = binary_probe_mention(elf, SHT_DYNSYM);
    if (mention == MENTIONED)
        return true;
    return elf_has_runtime(elf) && (mention == NOT_MENTIONED || elf_has_segment(elf, PT_INTERP));
}

size_t binaries_count(struct binaries *b, const struct symbol_module *m)
{
    struct binary *binary = m->path[0] ? binaries_find_or_open(b, m) : NULL;
    if (!binary || !binary->module || !binary_is_instrumented(binary->module))
        return 0;
    binary_read_symbols(binary);
    return binary->entry_count;
}

uint64_t binaries_offset(struct binaries *b, const struct symbol_module *m, size_t i)
{
    const struct binary *binary = binaries_find_or_open(b, m);
    return binary->entries && i < binary->entry_count ? binary->entries[i].address : 0;
}
