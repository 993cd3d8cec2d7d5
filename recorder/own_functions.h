/* The functions of a module with probes that have none themselves, and that the module calls through slots. */
#ifndef DWELL_RECORDER_OWN_FUNCTIONS_H
#define DWELL_RECORDER_OWN_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/calling_modules.h"
#include "symbols/call_slots.h"
#include "symbols/direct_calls.h"
#include "symbols/named_functions.h"

/* Zeroed at first. The module's code is read when it is first asked for. */
struct own_functions {
    bool read;
    struct named_functions functions;
    struct direct_calls found;
    Dwarf_CFI *cfi;
};

/* Whether the slot can lead to a function of the module without probes: it has one of that name. */
bool own_functions_have(struct own_functions *f, const struct calling_module *module, const struct call_slot *slot);

/* Why a stub cannot stand between that function and its calls; NULL if it can. After own_functions_have. */
const char *own_functions_reason(struct own_functions *f, const struct calling_module *module,
                                 const struct call_slot *slot);

void own_functions_drop(struct own_functions *f);

#endif
