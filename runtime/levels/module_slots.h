/* The slots of a loaded module's table of addresses: words that hold the addresses of functions that it calls by name.
 */
#ifndef DWELL_LEVELS_MODULE_SLOTS_H
#define DWELL_LEVELS_MODULE_SLOTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct module_slot {
    uint64_t address;
    const char *name;
    const char *version; /* that the name must have; NULL for any */
    bool defined;        /* the module has a function of that name itself */
};

/* Takes each slot. The texts are the module's. */
typedef void module_slot_taker(void *to, const struct module_slot *slot);
void module_slots_each(const struct dl_phdr_info *info, module_slot_taker *take, void *to);

/* The address of the module's function of that name that is resolved when it is bound (an indirect function); zero if
 * it has none. */
uint64_t module_slots_indirect(const struct dl_phdr_info *info, const char *name);

/* A function that the module has for others, of that version, or of the default one if it is NULL. The address is zero
 * if there is none. That of an indirect function is the code that chooses another address. */
struct module_function {
    uint64_t address;
    bool indirect;
};
struct module_function module_slots_function(const struct dl_phdr_info *info, const char *name, const char *version);

/* Whether the module is linked with the library of that name. */
bool module_slots_needs(const struct dl_phdr_info *info, const char *library);

/* The name by which others are linked with the module; NULL if it has none. */
const char *module_slots_library(const struct dl_phdr_info *info);

#pragma GCC visibility pop

#endif
