/* Rewriting calls on aarch64: a call is one aligned word, which a single store replaces. Which function a call belongs
 * to is not looked for: calls of modules with functions that are not timed are checked by a stub. */
#if defined(__aarch64__)

#include <string.h>
#include <sys/auxv.h>

#include "levels/hook_places.h"
#include "levels/machine.h"
#include "levels/probe_calls.h"

enum { WORD = 4 };
#define OP_BL 0x94000000u
#define OP_B 0x14000000u
#define OP_RET 0xd65f03c0u
#define OP_NOP 0xd503201fu
#define OP_BTI_C 0xd503245fu
#define OP_BR_X16 0xd61f0200u
#define OP_BR_X17 0xd61f0220u
#define OP_LOAD_X16 0x58000050u /* from the eight bytes behind the next instruction */

static uint32_t aarch64_word(uint64_t address)
{
    return *(const volatile uint32_t *)address;
}

void machine_write_stub(void *at, uint64_t target)
{
    uint32_t *words = at;
    words[0] = target ? OP_LOAD_X16 : OP_RET;
    words[1] = OP_BR_X16;
    memcpy(words + 2, &target, sizeof target);
    __builtin___clear_cache((char *)at, (char *)at + MACHINE_STUB_BYTES);
}

void machine_write_filtering_stub(void *at, uint64_t target, const uint8_t *filter)
{
    (void)filter; /* the check looks there */
    machine_write_stub(at, target);
}

/* adrp x16, PAGE; ldr x17, [x16, OFFSET]; add x16, x16, OFFSET; br x17 */
uint64_t machine_stub_slot(uint64_t target, uint64_t end)
{
    if (end - target < 5 * WORD || target % WORD)
        return 0;
    if (aarch64_word(target) == OP_BTI_C)
        target += WORD;
    const uint32_t page = aarch64_word(target), load = aarch64_word(target + WORD);
    if ((page & 0x9f00001fu) != 0x90000010u || (load & 0xffc003ffu) != 0xf9400211u ||
        aarch64_word(target + 3 * WORD) != OP_BR_X17)
        return 0;
    const uint64_t high = page >> 5 & 0x7ffff, low = page >> 29 & 3;
    const int64_t pages = (int64_t)((high << 2 | low) << 43) >> 43;
    return (target & ~0xfffull) + (uint64_t)pages * 4096 + (uint64_t)(load >> 10 & 0xfff) * 8;
}

/* A store changes all of a call. */
uint64_t machine_call_target(const struct call_site *site)
{
    (void)site;
    return 0;
}

static bool aarch64_aim(const struct call_site *site, uint64_t target, uint32_t *word)
{
    const int64_t distance = (int64_t)(target - site->address);
    if (distance < -(1ll << 27) || distance >= 1ll << 27 || distance % WORD)
        return false;
    *word = (site->jump ? OP_B : OP_BL) | ((uint32_t)(distance / WORD) & 0x03ffffffu);
    return true;
}

bool machine_read_call(struct call_site *site, uint64_t end, uint64_t *target)
{
    if (site->address % WORD || end - site->address < WORD)
        return false;
    const uint32_t word = aarch64_word(site->address);
    site->length = WORD;
    site->jump = !(word >> 31);
    memcpy(site->original, &word, sizeof word);
    *target = site->address + (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
    return (word & 0x7c000000u) == OP_B;
}

bool machine_form(const struct call_site *site, enum call_form form, const struct machine_stubs *stubs,
                  bool synchronizes, uint8_t bytes[MAX_CALL_BYTES])
{
    (void)synchronizes;
    uint32_t word;
    memcpy(bytes, site->original, MAX_CALL_BYTES);
    memcpy(&word, bytes, sizeof word);
    bool possible = true;
    if (form == CALL_OUT)
        word = site->jump ? OP_RET : OP_NOP;
    else if (form == CALL_CHECKED)
        possible = aarch64_aim(site, stubs->at[CALL_CHECKED], &word);
    else if (form == CALL_VALUES)
        possible = !site->jump && aarch64_aim(site, stubs->at[CALL_VALUES], &word);
    else if (form == CALL_COUNTED)
        possible = site->stub && aarch64_aim(site, site->stub, &word);
    memcpy(bytes, &word, sizeof word);
    return possible;
}

bool machine_has_gs(void)
{
    return false;
}

bool machine_lets_set_gs(void)
{
    return false;
}

bool machine_code_sets_gs(const uint8_t *begin, const uint8_t *end)
{
    (void)begin, (void)end;
    return false;
}

bool machine_needs_twin(const struct call_site *site)
{
    (void)site;
    return false;
}

bool machine_counts_in_place(const struct call_site *site)
{
    (void)site;
    return false;
}

enum machine_change machine_change_of(const struct call_site *site, const uint8_t *wanted, bool skippable)
{
    (void)skippable;
    return memcmp((const void *)site->address, wanted, WORD) == 0 ? MACHINE_SAME : MACHINE_AT_ONCE;
}

void machine_step(const struct call_site *site, const uint8_t *wanted, enum machine_change change, int step)
{
    uint32_t word;
    memcpy(&word, wanted, sizeof word);
    if (change == MACHINE_AT_ONCE && step == 0)
        __atomic_store_n((uint32_t *)site->address, word, __ATOMIC_RELEASE);
}

/* The note has properties: kind, size, and as many bytes, up to a multiple of 8. */
static bool aarch64_has_landing_pads(const char *note, size_t size)
{
    enum { HEAD = sizeof(ElfW(Nhdr)) + sizeof "GNU", FEATURES = (int)0xc0000000, PADS = 1 };
    uint32_t property[3];
    for (size_t at = HEAD; at + sizeof property <= size; at += 2 * WORD + ((property[1] + 7ull) & ~7ull)) {
        memcpy(property, note + at, sizeof property);
        if ((int)property[0] == FEATURES)
            return property[2] & PADS;
    }
    return false;
}

int machine_guard(const struct dl_phdr_info *info)
{
    enum { HAS_PADS = 1 << 17, PROTECTION = 0x10, PROPERTIES = 0x6474e553 }; /* HWCAP2_BTI, PROT_BTI, PT_GNU_PROPERTY */
    if (!(getauxval(AT_HWCAP2) & HAS_PADS))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PROPERTIES &&
            aarch64_has_landing_pads((const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                                     info->dlpi_phdr[i].p_memsz))
            return PROTECTION;
    return 0;
}

void machine_flush(uint64_t begin, uint64_t end)
{
    __builtin___clear_cache((char *)begin, (char *)end);
}

bool call_sites_add_at(struct call_sites *sites, const struct hook_places *places, uint64_t address)
{
    const struct hook_code *code = hook_places_code(places, address);
    const uint32_t before = sites->count;
    if (!code || code->end - address < WORD || address % WORD)
        return false;
    const struct unwind_range range = { .begin = address, .end = address + WORD };
    return call_sites_in_range(sites, places, &range) && sites->count > before;
}

bool call_sites_in_range(struct call_sites *sites, const struct hook_places *places, const struct unwind_range *range)
{
    for (uint64_t at = range->begin; at + WORD <= range->end; at += WORD) {
        const uint32_t word = aarch64_word(at);
        if ((word & 0x7c000000u) != OP_B)
            continue;
        const int64_t distance = (int64_t)((uint64_t)word << 38) >> 36;
        const int hook = hook_places_of_target(places, at + (uint64_t)distance);
        if (hook == HOOK_NONE)
            continue;
        struct call_site site = { .address = at, .length = WORD, .hook = (uint8_t)hook, .jump = !(word >> 31) };
        memcpy(site.original, &word, sizeof word);
        if (!call_sites_add(sites, &site))
            return false;
    }
    return true;
}

#endif
