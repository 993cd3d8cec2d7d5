/* How the code of a binary uses its slots (call_slots.h). */
#ifndef DWELL_SYMBOLS_CALL_SLOT_USES_H
#define DWELL_SYMBOLS_CALL_SLOT_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/call_slots.h"
#include "symbols/image.h"

/* What reads a slot that is not of the table for calls. */
struct slot_use {
    bool calls, other;
};

/* NULL if there is no slot at the address. */
struct slot_use *slot_use_at(const struct call_slots *s, struct slot_use *uses, uint64_t address);

/* Adds the uses by code of that machine. There are slots. */
void call_slots_uses_aarch64(const struct call_slots *s, struct slot_use *uses, const struct image *image);

#endif
