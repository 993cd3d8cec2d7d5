/*
 * The fuzzer's target for code and unwind tables of a loaded module, which the runtime reads to find the calls of its
 * probes. The input ends where memory ends, so that a read behind it is a fault. Sites must lie in the module's code.
 */
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz/fuzz.h"
#include "levels/probe_calls.h"
#include "levels/x86_decode.h"

enum { ROOM = 1 << 16, PAGE_SIZE = 4096 };

static void code_check_insn(const uint8_t *code, size_t size)
{
    for (size_t at = 0; at < size; at++) {
        struct x86_insn insn;
        if (x86_decode(code + at, size - at, (uint64_t)(code + at), &insn))
            fuzz_require(insn.length > 0 && insn.length <= X86_MAX_LENGTH && insn.length <= size - at);
    }
}

static void code_find(const struct hook_places *places, const struct dl_phdr_info *info, bool bare)
{
    struct call_sites sites;
    const uint64_t begin = info->dlpi_addr, end = begin + info->dlpi_phdr[0].p_filesz;
    call_sites_find(&sites, places, info, bare);
    for (uint32_t i = 0; i < sites.count; i++) {
        const struct call_site *site = &sites.list[i];
        fuzz_require(site->address >= begin && site->address < end && site->length <= end - site->address);
    }
    call_sites_drop(&sites);
}

/* The input: the places of .eh_frame_hdr and of the two probes, and the module. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *room;
    if (!room) {
        room = mmap(NULL, ROOM + PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fuzz_require(room != MAP_FAILED && mprotect(room + ROOM, PAGE_SIZE, PROT_NONE) == 0);
    }
    const uint32_t header = fuzz_word(&data, &size), enter = fuzz_word(&data, &size), exit = fuzz_word(&data, &size);
    if (size == 0 || size > ROOM)
        return 0;
    uint8_t *module = memcpy(room + ROOM - size, data, size);
    const uint64_t base = (uint64_t)module;
    const ElfW(Phdr) segments[] = {
        { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size, .p_memsz = size },
        { .p_type = PT_GNU_EH_FRAME, .p_vaddr = header },
        { .p_type = PT_GNU_RELRO, .p_memsz = size },
    };
    const struct dl_phdr_info info = { .dlpi_addr = base, .dlpi_name = "", .dlpi_phdr = segments, .dlpi_phnum = 3 };
    struct hook_places places = { .probes = { base + enter, base + exit } };
    hook_places_find_code(&places, &info);
    code_check_insn(module, size);
    code_find(&places, &info, false);
    code_find(&places, &info, true);
    return 0;
}
