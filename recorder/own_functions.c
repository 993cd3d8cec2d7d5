/* With -fno-plt, a library calls what it exports through a slot, as the loader may give it another module's function.
 * The linker's stubs for such functions are in planned_sites.c. */
#include "recorder/own_functions.h"

#include "arguments/direct_callee.h"
#include "symbols/code_machine.h"

bool own_functions_have(struct own_functions *f, const struct calling_module *module, const struct call_slot *slot)
{
    Dwarf_Addr bias;
    if (code_machine_of(module->elf) != &code_machine_x86)
        return false;
    if (!f->read) {
        f->functions = named_functions_find(module->parts.module);
        f->found = direct_calls_find(module->elf, module->parts.image, &f->functions);
        f->cfi = dwfl_module_eh_cfi(module->parts.module, &bias);
    }
    f->read = true;
    return direct_calls_range(&f->found, slot->own) && !direct_calls_have_probes(&f->found, slot->own);
}

const char *own_functions_reason(struct own_functions *f, const struct calling_module *module,
                                 const struct call_slot *slot)
{
    struct direct_callee callee = { .function = slot->own };
    return direct_callee_reason(&callee, &f->found, module->parts.image, f->cfi);
}

void own_functions_drop(struct own_functions *f)
{
    if (!f->read)
        return;
    direct_calls_drop(&f->found);
    named_functions_drop(&f->functions);
}
