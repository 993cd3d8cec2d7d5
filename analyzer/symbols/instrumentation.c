/*
 * Finds calls of the probe in machine code. A call goes directly to the probe, to a stub of the procedure linkage
 * table, which jumps to the address in a slot of the global offset table, or through that slot (-fno-plt). Each of
 * these is an instruction of known bytes and a 32-bit offset, so no disassembler is needed. Other code hardly ever
 * contains both by chance.
 */
#include "symbols/instrumentation.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

enum {
    CALL = 0xe8,
    INDIRECT = 0xff,
    INDIRECT_CALL = 0x15, /* the byte after it */
    INDIRECT_JUMP = 0x25,
    STUB_MAX = 8, /* bytes of a stub before its jump: endbr64, and a prefix */
    PLACES = 4,   /* a probe has one or two slots and as many stubs, or is defined in the file */
};

struct probe_place {
    uint64_t begin, end; /* calls go to the beginning or between the two */
};

struct probe_function {
    uint64_t begin, end;
    bool calls;
};

struct probe_search {
    struct instrumentation *result;
    struct probe_place slots[PLACES], targets[PLACES];
    size_t slot_count, target_count;
    uint64_t leave;                   /* address of the probe at exits, if the file defines it */
    struct probe_function *functions; /* by address */
    size_t function_count, function_room;
};

static const char enter[] = "__cyg_profile_func_enter", leave[] = "__cyg_profile_func_exit";

/* A version can follow the name. */
static bool instrumentation_is_probe(const char *name, const char *probe)
{
    const size_t length = strlen(probe);
    return name && strncmp(name, probe, length) == 0 && (name[length] == '\0' || name[length] == '@');
}

static void instrumentation_add_place(struct probe_place *places, size_t *count, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < *count; i++)
        if (places[i].begin == begin)
            return;
    if (*count < PLACES)
        places[(*count)++] = (struct probe_place){ begin, end };
}

static const struct probe_place *instrumentation_find_place(const struct probe_place *places, size_t count,
                                                            uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (address >= places[i].begin && address <= places[i].end)
            return &places[i];
    return NULL;
}

/* ---- the symbol tables ---- */

static void instrumentation_read_symbols(struct probe_search *s, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    for (size_t i = 0; data && header->sh_entsize && i < header->sh_size / header->sh_entsize; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        const bool here = symbol.st_shndx != SHN_UNDEF && symbol.st_value;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (instrumentation_is_probe(name, enter)) {
            s->result->mentioned = true;
            if (here)
                instrumentation_add_place(s->targets, &s->target_count, symbol.st_value, symbol.st_value);
        } else if (here && instrumentation_is_probe(name, leave)) {
            s->leave = symbol.st_value;
        }
        if (!here || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || header->sh_type != SHT_SYMTAB)
            continue;
        GROW(s->functions, s->function_count, s->function_room);
        s->functions[s->function_count++] =
            (struct probe_function){ symbol.st_value, symbol.st_value + symbol.st_size, false };
    }
}

/* The slots that the loader fills with the probe's address. */
static void instrumentation_read_relocations(struct probe_search *s, Elf *elf, Elf_Scn *section,
                                             const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    GElf_Shdr symbols_header;
    Elf_Data *symbols_data = symbols ? elf_getdata(symbols, NULL) : NULL;
    if (!data || !symbols_data || !gelf_getshdr(symbols, &symbols_header) || !header->sh_entsize)
        return;
    for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
        GElf_Rela relocation;
        GElf_Sym symbol;
        if (gelf_getrela(data, (int)i, &relocation) &&
            gelf_getsym(symbols_data, (int)GELF_R_SYM(relocation.r_info), &symbol) &&
            instrumentation_is_probe(elf_strptr(elf, symbols_header.sh_link, symbol.st_name), enter))
            instrumentation_add_place(s->slots, &s->slot_count, relocation.r_offset, relocation.r_offset);
    }
}

static int instrumentation_compare_functions(const void *a, const void *b)
{
    const struct probe_function *x = a, *y = b;
    return ORDER_BY(x, y, begin);
}

/* ---- the code ---- */

static uint64_t instrumentation_target_of(const uint8_t *offset, uint64_t end)
{
    int32_t distance;
    memcpy(&distance, offset, sizeof distance);
    return end + (uint64_t)(int64_t)distance;
}

static void instrumentation_add_call(struct probe_search *s, uint64_t address)
{
    s->result->calls++;
    /* that of the first function that begins after the address */
    const size_t place = LOWER_BOUND(function, s->functions, s->function_count, function->begin <= address);
    if (place && address < s->functions[place - 1].end && !s->functions[place - 1].calls) {
        s->functions[place - 1].calls = true;
        s->result->functions++;
    }
}

typedef void code_taker(struct probe_search *s, const uint8_t *code, size_t size, uint64_t address);

static void instrumentation_find_stubs(struct probe_search *s, const uint8_t *code, size_t size, uint64_t address)
{
    for (size_t i = 0; i + 6 <= size; i++)
        if (code[i] == INDIRECT && code[i + 1] == INDIRECT_JUMP &&
            instrumentation_find_place(s->slots, s->slot_count,
                                       instrumentation_target_of(code + i + 2, address + i + 6)))
            instrumentation_add_place(s->targets, &s->target_count, address + i - (i < STUB_MAX ? i : STUB_MAX),
                                      address + i);
}

static void instrumentation_find_calls(struct probe_search *s, const uint8_t *code, size_t size, uint64_t address)
{
    for (size_t i = 0; i + 5 <= size; i++) {
        if (code[i] == CALL && instrumentation_find_place(s->targets, s->target_count,
                                                          instrumentation_target_of(code + i + 1, address + i + 5)))
            instrumentation_add_call(s, address + i);
        else if (i + 6 <= size && code[i] == INDIRECT && code[i + 1] == INDIRECT_CALL &&
                 instrumentation_find_place(s->slots, s->slot_count,
                                            instrumentation_target_of(code + i + 2, address + i + 6)))
            instrumentation_add_call(s, address + i);
    }
}

static void instrumentation_walk_code(struct probe_search *s, Elf *elf, code_taker *take)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_EXECINSTR))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (data && data->d_buf)
            take(s, data->d_buf, data->d_size, header.sh_addr);
    }
}

struct instrumentation instrumentation_count(Elf *elf)
{
    struct instrumentation result = { 0 };
    struct probe_search s = { .result = &result };
    GElf_Ehdr file;
    if (!gelf_getehdr(elf, &file))
        return result;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            instrumentation_read_symbols(&s, elf, section, &header);
        else if (header.sh_type == SHT_RELA)
            instrumentation_read_relocations(&s, elf, section, &header);
    }
    result.counted = file.e_machine == EM_X86_64;
    if (result.counted && result.mentioned) {
        if (s.function_count)
            qsort(s.functions, s.function_count, sizeof *s.functions, instrumentation_compare_functions);
        instrumentation_walk_code(&s, elf, instrumentation_find_stubs);
        instrumentation_walk_code(&s, elf, instrumentation_find_calls);
        if (s.leave && instrumentation_find_place(s.targets, s.target_count, s.leave))
            result.calls /= 2; /* both probes are one function: the empty one of a static libc */
    }
    free(s.functions);
    return result;
}
