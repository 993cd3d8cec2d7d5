/* Where a loaded module's calls of the two probes go: to the probes themselves, to slots of the module's table of
 * addresses, or to stubs that jump through such a slot. */
#ifndef DWELL_LEVELS_HOOK_PLACES_H
#define DWELL_LEVELS_HOOK_PLACES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum hook { HOOK_ENTER, HOOK_EXIT, HOOKS };

enum { HOOK_NONE = -1, MAX_HOOK_SLOTS = 4, MAX_HOOK_CODE = 4 };

struct hook_places {
    uint64_t probes[HOOKS]; /* the probes themselves */
    uint64_t slots[HOOKS][MAX_HOOK_SLOTS];
    uint32_t slot_count[HOOKS];
    uint64_t constant_begin, constant_end; /* memory that the loader has made constant */
    struct hook_code {                     /* the module's code */
        uint64_t begin, end;
        int protection;
    } code[MAX_HOOK_CODE];
    uint32_t code_count;
    int guard; /* what belongs to the protection of all code, and is in no list of mappings (machine_guard) */
};

/* Fills in what the module has; `probes` is set. */
void hook_places_find(struct hook_places *places, const struct dl_phdr_info *info);

/* Fills in only where the module's code is. */
void hook_places_find_code(struct hook_places *places, const struct dl_phdr_info *info);

/* Takes each slot of the module's table that is named after a hook. `defined`: the module has a function of that name
 * itself. */
typedef void hook_slot_taker(void *to, int hook, uint64_t slot, bool defined);
void hook_places_each_slot(const struct dl_phdr_info *info, hook_slot_taker *take, void *to);

/* The hook that a direct call to `target` reaches, or HOOK_NONE. */
int hook_places_of_target(const struct hook_places *places, uint64_t target);

/* The hook whose address the slot holds, or HOOK_NONE. */
int hook_places_of_slot(const struct hook_places *places, uint64_t slot);

/* The segment of the module's code that holds the address, or NULL. */
const struct hook_code *hook_places_code(const struct hook_places *places, uint64_t address);

#pragma GCC visibility pop

#endif
