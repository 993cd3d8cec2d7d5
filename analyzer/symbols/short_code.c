/* Reads the code of all functions that the unwind table lists. A call of a probe goes to the probe itself, to a slot
 * that a relocation names, or to a stub of the linker that jumps through such a slot. */
#include "symbols/short_code.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "levels/x86_decode.h"
#include "symbols/image.h"

enum {
    MOST_INSTRUCTIONS = 100, /* of a nanosecond or less each, with those that call the probes */
    MOST_BYTES = 8 * MOST_INSTRUCTIONS,
    MOST_SLOTS = 4,
    STUB_BYTES = 16,
    FEW = 256, /* functions between two looks at `stop` */
};

enum short_hook { SHORT_ENTER, SHORT_EXIT, SHORT_HOOKS, SHORT_NO_HOOK = -1 };

static const char *const short_names[SHORT_HOOKS] = {
    [SHORT_ENTER] = "__cyg_profile_func_enter", [SHORT_EXIT] = "__cyg_profile_func_exit"
};

struct short_file {
    struct image image;
    uint64_t probes[SHORT_HOOKS]; /* those in the file itself; zero if there are none */
    uint64_t slots[SHORT_HOOKS][MOST_SLOTS];
    unsigned slot_count[SHORT_HOOKS];
};

/* ---- probes ---- */

static int short_hook_named(const char *name)
{
    for (int hook = 0; hook < SHORT_HOOKS; hook++)
        if (name && strcmp(name, short_names[hook]) == 0)
            return hook;
    return SHORT_NO_HOOK;
}

static void short_add_symbols(struct short_file *f, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const int hook = short_hook_named(elf_strptr(elf, header->sh_link, symbol.st_name));
        if (hook != SHORT_NO_HOOK)
            f->probes[hook] = symbol.st_value;
    }
}

static void short_add_slots(struct short_file *f, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    Elf_Data *data = elf_getdata(section, NULL), *names = symbols ? elf_getdata(symbols, NULL) : NULL;
    GElf_Shdr of_symbols;
    GElf_Rela relocation;
    GElf_Sym symbol;
    if (!data || !names || !gelf_getshdr(symbols, &of_symbols))
        return;
    for (int i = 0; gelf_getrela(data, i, &relocation); i++) {
        if (!gelf_getsym(names, (int)GELF_R_SYM(relocation.r_info), &symbol))
            continue;
        const int hook = short_hook_named(elf_strptr(elf, of_symbols.sh_link, symbol.st_name));
        if (hook != SHORT_NO_HOOK && f->slot_count[hook] < MOST_SLOTS)
            f->slots[hook][f->slot_count[hook]++] = relocation.r_offset;
    }
}

/* Returns whether there are any. */
static bool short_find_probes(struct short_file *f, Elf *elf)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            short_add_symbols(f, elf, section, &header);
        else if (header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            short_add_slots(f, elf, section, &header);
    }
    return f->probes[SHORT_ENTER] || f->slot_count[SHORT_ENTER];
}

static int short_hook_of_slot(const struct short_file *f, uint64_t slot)
{
    for (int hook = 0; hook < SHORT_HOOKS; hook++)
        for (unsigned i = 0; i < f->slot_count[hook]; i++)
            if (f->slots[hook][i] == slot)
                return hook;
    return SHORT_NO_HOOK;
}

/* A stub may begin with endbr64. */
static int short_hook_of_target(const struct short_file *f, uint64_t target)
{
    static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
    uint8_t code[STUB_BYTES];
    struct x86_insn insn;
    for (int hook = 0; hook < SHORT_HOOKS; hook++)
        if (target && f->probes[hook] == target)
            return hook;
    if (!image_is_stub(&f->image, target) || !image_read(&f->image, target, code, sizeof code))
        return SHORT_NO_HOOK;
    const size_t skip = memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
    if (!x86_decode(code + skip, sizeof code - skip, target + skip, &insn) || insn.kind != X86_JUMP_SLOT)
        return SHORT_NO_HOOK;
    return short_hook_of_slot(f, insn.value);
}

/* ---- functions ---- */

/* Instructions on strings that repeat themselves. */
static bool short_repeats(const uint8_t *code, size_t length)
{
    bool repeats = false;
    size_t at = 0;
    for (; at < length && (code[at] == 0xf2 || code[at] == 0xf3 || code[at] == 0x66 || (code[at] & 0xf0) == 0x40); at++)
        repeats |= code[at] == 0xf2 || code[at] == 0xf3;
    return repeats && at < length && ((code[at] >= 0xa4 && code[at] <= 0xa7) || (code[at] >= 0xaa && code[at] <= 0xaf));
}

/* The hook that an instruction calls or jumps to, or none. *other: it goes anywhere else. */
static int short_hook_of(const struct short_file *f, const struct x86_insn *insn, bool *other)
{
    int hook = SHORT_NO_HOOK;
    switch (insn->kind) {
    case X86_CALL:
    case X86_JUMP:
        hook = short_hook_of_target(f, insn->value);
        break;
    case X86_CALL_SLOT:
    case X86_JUMP_SLOT:
        hook = short_hook_of_slot(f, insn->value);
        break;
    case X86_CALL_ANY:
    case X86_JUMP_ANY:
        break;
    default:
        return hook;
    }
    *other = hook == SHORT_NO_HOOK;
    return hook;
}

/* A branch to code elsewhere leads to what the compiler takes for unlikely. */
static bool short_is(const struct short_file *f, uint64_t begin, uint64_t end)
{
    uint8_t code[MOST_BYTES];
    const size_t size = (size_t)(end - begin);
    bool enters = false;
    if (end <= begin || end - begin > MOST_BYTES || !image_read(&f->image, begin, code, size))
        return false;
    size_t at = 0;
    for (int count = 0; at < size; count++) {
        struct x86_insn insn;
        const uint64_t here = begin + at;
        if (count == MOST_INSTRUCTIONS || !x86_decode(code + at, size - at, here, &insn) || insn.length == 0 ||
            short_repeats(code + at, insn.length))
            return false;
        at += insn.length;
        const bool inside = insn.value >= begin && insn.value < end;
        if ((insn.kind == X86_BRANCH || insn.kind == X86_JUMP) && inside) {
            if (insn.value <= here)
                return false; /* a loop */
            continue;
        }
        bool other = false;
        enters |= short_hook_of(f, &insn, &other) == SHORT_ENTER;
        if (other)
            return false;
    }
    return enters;
}

static void short_find(struct short_code *found, const struct short_file *f, const uint32_t *stop)
{
    uint64_t begin, end;
    for (uint32_t i = 0; i + 1 < f->image.table_count; i++) {
        if (stop && i % FEW == 0 && __atomic_load_n(stop, __ATOMIC_RELAXED))
            return;
        if (!image_table_entry(&f->image, i, &begin) || !image_table_entry(&f->image, i + 1, &end) ||
            !short_is(f, begin, end))
            continue;
        GROW(found->functions, found->count, found->room);
        found->functions[found->count++] = begin;
    }
}

struct short_code short_code_find(const char *path, const uint32_t *stop)
{
    struct short_code found = { .functions = NULL };
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return found;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    if (elf && gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64) {
        struct short_file f = { .image = image_of(elf) };
        if (f.image.table_header && short_find_probes(&f, elf))
            short_find(&found, &f, stop);
        image_drop(&f.image);
    }
    elf_end(elf);
    close(fd);
    return found;
}
