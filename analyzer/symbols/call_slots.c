/*
 * There are two tables. The slots of one are read by the linker's stubs only. Those of the other hold addresses of
 * functions for any use: the program may compare such an address. So the code is searched for instructions that read
 * the slot. On x86-64, each ends with the distance to it.
 */
#include "symbols/call_slots.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/call_slot_uses.h"
#include "symbols/code_machine.h"

/* Functions of vectors on aarch64 keep other registers, and get others (STO_AARCH64_VARIANT_PCS). */
static bool call_slots_has_own_rules(const struct code_machine *machine, const GElf_Sym *symbol)
{
    enum { VARIANT = 0x80 };
    return machine == &code_machine_aarch64 && symbol->st_other & VARIANT;
}

static void call_slots_take(struct call_slots *s, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    const struct code_machine *machine = code_machine_of(elf);
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    Elf_Data *data = elf_getdata(section, NULL), *names = symbols ? elf_getdata(symbols, NULL) : NULL;
    GElf_Shdr of_symbols;
    GElf_Rela relocation;
    GElf_Sym symbol;
    if (!data || !names || !gelf_getshdr(symbols, &of_symbols))
        return;
    for (int i = 0; gelf_getrela(data, i, &relocation); i++) {
        const uint64_t type = GELF_R_TYPE(relocation.r_info);
        if ((type != machine->call_slot && type != machine->slot) ||
            !gelf_getsym(names, (int)GELF_R_SYM(relocation.r_info), &symbol))
            continue;
        const char *name = elf_strptr(elf, of_symbols.sh_link, symbol.st_name);
        if (!name || !*name)
            continue;
        GROW(s->list, s->count, s->room);
        s->list[s->count++] = (struct call_slot){
            .address = relocation.r_offset,
            .name = name,
            .everywhere = symbol.st_value != 0 && symbol.st_shndx == SHN_UNDEF,
            .only_calls = type == machine->call_slot,
            .own_rules = call_slots_has_own_rules(machine, &symbol),
            .any_use = type == machine->slot,
            .own = symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC ? symbol.st_value : 0,
        };
    }
}

static int call_slots_compare(const void *a, const void *b)
{
    const struct call_slot *x = a, *y = b;
    return ORDER_BY(x, y, address);
}

/* ---- the code ---- */

struct slot_use *slot_use_at(const struct call_slots *s, struct slot_use *uses, uint64_t address)
{
    const size_t i = LOWER_BOUND(slot, s->list, s->count, slot->address < address);
    return i < s->count && s->list[i].address == address ? &uses[i] : NULL;
}

/* call *SLOT(%rip) and jmp *SLOT(%rip), before the distance. */
static bool slot_is_called(const uint8_t *distance)
{
    return distance[-2] == 0xff && (distance[-1] == 0x15 || distance[-1] == 0x25);
}

static void slot_uses_search(const struct call_slots *s, struct slot_use *uses, const struct image_segment *segment)
{
    const uint64_t first = s->list[0].address, last = s->list[s->count - 1].address;
    for (uint64_t at = 2; at + sizeof(int32_t) <= segment->size; at++) {
        int32_t distance;
        memcpy(&distance, segment->bytes + at, sizeof distance);
        const uint64_t target = segment->address + at + sizeof distance + (uint64_t)(int64_t)distance;
        struct slot_use *use = target >= first && target <= last ? slot_use_at(s, uses, target) : NULL;
        if (use && slot_is_called(segment->bytes + at))
            use->calls = true;
        else if (use)
            use->other = true;
    }
}

static void call_slots_uses_x86(const struct call_slots *s, struct slot_use *uses, const struct image *image)
{
    for (size_t i = 0; i < image->segment_count; i++)
        if (image->segments[i].code)
            slot_uses_search(s, uses, &image->segments[i]);
}

static void call_slots_search(struct call_slots *s, const struct code_machine *machine, const struct image *image)
{
    if (!s->count)
        return;
    struct slot_use *uses = need_memory(s->count, sizeof *uses);
    if (machine == &code_machine_aarch64)
        call_slots_uses_aarch64(s, uses, image);
    else
        call_slots_uses_x86(s, uses, image);
    for (size_t i = 0; i < s->count; i++)
        s->list[i].only_calls |= uses[i].calls && !uses[i].other;
    free(uses);
}

struct call_slots call_slots_find(Elf *elf, const struct image *image)
{
    struct call_slots s = { .list = NULL };
    const struct code_machine *machine = code_machine_of(elf);
    if (!machine)
        return s;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            call_slots_take(&s, elf, section, &header);
    }
    if (s.count)
        qsort(s.list, s.count, sizeof *s.list, call_slots_compare);
    call_slots_search(&s, machine, image);
    return s;
}
