/* The slots of a binary through which it calls functions that the loader looks up. It may have them itself. */
#ifndef DWELL_SYMBOLS_CALL_SLOTS_H
#define DWELL_SYMBOLS_CALL_SLOTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/image.h"

struct call_slot {
    uint64_t address; /* as in the file */
    const char *name; /* linkage name of the function, in the ELF file */
    bool everywhere;  /* pointers to the function lead to the linker's stub, so any code may call through the slot */
    bool only_calls;  /* the slot is of the table for calls, or the code only calls and jumps through it */
    bool own_rules;   /* the function has a calling convention of its own */
    bool any_use;     /* the slot is of the table of addresses for any use */
    uint64_t own;     /* the binary's own function of that name, as in the file; zero if it has none */
};

struct call_slots {
    struct call_slot *list; /* by address */
    size_t count, room;
};

/* The ELF file must stay open. The caller frees `list`. */
struct call_slots call_slots_find(Elf *elf, const struct image *image);

#endif
