/* Where a loaded module's calls of the two probes go. The module's relocations name the slots; a stub is
 * known by its instructions. */
#include "levels/hook_places.h"

#include <string.h>
#include <sys/mman.h>

#include "levels/machine.h"
#include "levels/module_slots.h"

static const char *const hook_names[HOOKS] = {
    [HOOK_ENTER] = "__cyg_profile_func_enter", [HOOK_EXIT] = "__cyg_profile_func_exit"
};

const struct hook_code *hook_places_code(const struct hook_places *places, uint64_t address)
{
    for (uint32_t i = 0; i < places->code_count; i++)
        if (address >= places->code[i].begin && address < places->code[i].end)
            return &places->code[i];
    return NULL;
}

/* A slot may still hold the address of the module's own code that looks the name up at the first call. Any other
 * address is a function of the program under the same name. */
static void hook_add_slot(void *to, int hook, uint64_t slot, bool defined)
{
    struct hook_places *places = to;
    (void)defined;
    const uint64_t target = *(const volatile uint64_t *)slot;
    if (target != places->probes[hook] && !hook_places_code(places, target))
        return;
    if (places->slot_count[hook] < MAX_HOOK_SLOTS)
        places->slots[hook][places->slot_count[hook]++] = slot;
}

/* What hook_places_each_slot was called with. */
struct hook_search {
    hook_slot_taker *take;
    void *to;
};

static void hook_take_slot(void *to, const struct module_slot *slot)
{
    const struct hook_search *search = to;
    for (int hook = 0; hook < HOOKS; hook++)
        if (strcmp(slot->name, hook_names[hook]) == 0)
            search->take(search->to, hook, slot->address, slot->defined);
}

void hook_places_each_slot(const struct dl_phdr_info *info, hook_slot_taker *take, void *to)
{
    module_slots_each(info, hook_take_slot, &(struct hook_search){ take, to });
}

int hook_places_of_slot(const struct hook_places *places, uint64_t slot)
{
    for (int hook = 0; hook < HOOKS; hook++)
        for (uint32_t i = 0; i < places->slot_count[hook]; i++)
            if (places->slots[hook][i] == slot)
                return hook;
    return HOOK_NONE;
}

int hook_places_of_target(const struct hook_places *places, uint64_t target)
{
    for (int hook = 0; hook < HOOKS; hook++)
        if (places->probes[hook] == target)
            return hook;
    const struct hook_code *code = hook_places_code(places, target);
    const uint64_t slot = code ? machine_stub_slot(target, code->end) : 0;
    return slot ? hook_places_of_slot(places, slot) : HOOK_NONE;
}

void hook_places_find_code(struct hook_places *places, const struct dl_phdr_info *info)
{
    places->guard = machine_guard(info);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint64_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_RELRO) {
            places->constant_begin = begin;
            places->constant_end = begin + segment->p_memsz;
        }
        const bool code = segment->p_type == PT_LOAD && segment->p_flags & PF_X && segment->p_flags & PF_R;
        if (code && places->code_count < MAX_HOOK_CODE)
            places->code[places->code_count++] =
                (struct hook_code){ begin, begin + segment->p_filesz,
                                    PROT_READ | PROT_EXEC | (segment->p_flags & PF_W ? PROT_WRITE : 0) };
    }
}

void hook_places_find(struct hook_places *places, const struct dl_phdr_info *info)
{
    hook_places_find_code(places, info);
    hook_places_each_slot(info, hook_add_slot, places);
}
