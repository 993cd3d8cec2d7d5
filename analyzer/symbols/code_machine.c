/* The machines whose code dwell reads; x86-64. */
#include "symbols/code_machine.h"

#include <gelf.h>
#include <string.h>

#include "levels/x86_decode.h"

_Static_assert((int)CODE_COPY == (int)X86_COPY && (int)CODE_CALL == (int)X86_CALL, "the kinds are in the same order");

static bool x86_decode_code(const uint8_t *code, size_t room, uint64_t address, struct code_insn *insn)
{
    struct x86_insn found;
    if (!x86_decode(code, room, address, &found))
        return false;
    *insn = (struct code_insn){
        .kind = (enum insn_kind)found.kind,
        .length = found.length,
        .to = found.to,
        .from = found.from,
        .writes = found.writes,
        .value = found.value,
    };
    return true;
}

/* int3, and no-operations with any prefixes. */
static bool x86_is_padding(const uint8_t *code, size_t length)
{
    const uint8_t *end = code + length;
    while (code + 1 < end && (*code == 0x66 || *code == 0x2e))
        code++;
    return *code == 0x90 || *code == 0xcc || (*code == 0x0f && code + 1 < end && code[1] == 0x1f);
}

/* It may begin with endbr64. */
static uint64_t x86_stub_slot(const uint8_t *code, size_t room, uint64_t address)
{
    static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
    struct x86_insn insn;
    const size_t skip = room >= sizeof endbr64 && memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
    const bool known = x86_decode(code + skip, room - skip, address + skip, &insn);
    return known && insn.kind == X86_JUMP_SLOT ? insn.value : 0;
}

const struct code_machine code_machine_x86 = {
    .relative = R_X86_64_RELATIVE,
    .slot = R_X86_64_GLOB_DAT,
    .call_slot = R_X86_64_JUMP_SLOT,
    .resolved = R_X86_64_IRELATIVE,
    .address = R_X86_64_64,
    .caller_saved = X86_CALLER_SAVED,
    .first_argument = X86_RDI,
    .decode = x86_decode_code,
    .is_padding = x86_is_padding,
    .stub_slot = x86_stub_slot,
};

const struct code_machine *code_machine_of(Elf *elf)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header))
        return NULL;
    return header.e_machine == EM_X86_64    ? &code_machine_x86
           : header.e_machine == EM_AARCH64 ? &code_machine_aarch64
                                            : NULL;
}
