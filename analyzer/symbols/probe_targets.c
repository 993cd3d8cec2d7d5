/* Finds what calls of the probes lead to. */
#include "symbols/probe_targets.h"

#include <gelf.h>
#include <string.h>

#include "symbols/elf_facts.h"

enum { STUB_BYTES = 24 };

static const char *const probe_names[PROBE_KINDS] = {
    [PROBE_ENTER] = "__cyg_profile_func_enter", [PROBE_EXIT] = "__cyg_profile_func_exit"
};

static int probe_named(const char *name)
{
    for (int probe = 0; probe < PROBE_KINDS; probe++)
        if (name && strcmp(name, probe_names[probe]) == 0)
            return probe;
    return PROBE_NONE;
}

static void probe_targets_add_symbols(struct probe_targets *t, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const int probe = probe_named(elf_strptr(elf, header->sh_link, symbol.st_name));
        if (probe != PROBE_NONE)
            t->probes[probe] = symbol.st_value;
    }
}

static void probe_targets_add_slots(struct probe_targets *t, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
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
        const char *name = elf_strptr(elf, of_symbols.sh_link, symbol.st_name);
        const int probe = probe_named(name);
        if (name && strcmp(name, "_Unwind_Resume") == 0)
            t->resume_slot = relocation.r_offset;
        if (probe != PROBE_NONE && t->slot_count[probe] < PROBE_SLOTS)
            t->slots[probe][t->slot_count[probe]++] = relocation.r_offset;
    }
}

bool probe_targets_find(struct probe_targets *t, Elf *elf)
{
    t->machine = code_machine_of(elf);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            probe_targets_add_symbols(t, elf, section, &header);
        else if (header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            probe_targets_add_slots(t, elf, section, &header);
    }
    return t->machine && (t->probes[PROBE_ENTER] || t->slot_count[PROBE_ENTER]);
}

/* libc has empty functions of the probes' names, which it does not call. */
bool probe_targets_any(Elf *elf)
{
    struct probe_targets targets = { 0 };
    return probe_targets_find(&targets, elf) && (targets.slot_count[PROBE_ENTER] || elf_has_runtime(elf)) &&
           !elf_is_runtime(elf);
}

static int probe_of_slot(const struct probe_targets *t, uint64_t slot)
{
    for (int probe = 0; probe < PROBE_KINDS; probe++)
        for (unsigned i = 0; i < t->slot_count[probe]; i++)
            if (t->slots[probe][i] == slot)
                return probe;
    return PROBE_NONE;
}

uint64_t probe_slot_of_stub(const struct probe_targets *t, const struct image *image, uint64_t address)
{
    uint8_t code[STUB_BYTES];
    size_t room = sizeof code;
    if (!image_is_stub(image, address))
        return 0;
    while (room && !image_read(image, address, code, room))
        room -= STUB_BYTES / 6;
    return t->machine->stub_slot(code, room, address);
}

static int probe_of_target(const struct probe_targets *t, const struct image *image, uint64_t target)
{
    for (int probe = 0; probe < PROBE_KINDS; probe++)
        if (target && t->probes[probe] == target)
            return probe;
    const uint64_t slot = probe_slot_of_stub(t, image, target);
    return slot ? probe_of_slot(t, slot) : PROBE_NONE;
}

bool probe_target_resumes(const struct probe_targets *t, const struct image *image, const struct code_insn *insn)
{
    const uint64_t slot = insn->kind == CODE_CALL_SLOT ? insn->value
                          : insn->kind == CODE_CALL    ? probe_slot_of_stub(t, image, insn->value)
                                                       : 0;
    return slot && slot == t->resume_slot;
}

int probe_target_of(const struct probe_targets *t, const struct image *image, const struct code_insn *insn, bool *other)
{
    int probe = PROBE_NONE;
    switch (insn->kind) {
    case CODE_CALL:
    case CODE_JUMP:
        probe = probe_of_target(t, image, insn->value);
        break;
    case CODE_CALL_SLOT:
    case CODE_JUMP_SLOT:
        probe = probe_of_slot(t, insn->value);
        break;
    case CODE_CALL_ANY:
    case CODE_JUMP_ANY:
        break;
    default:
        return probe;
    }
    *other = probe == PROBE_NONE;
    return probe;
}
