/*
 * Finds the functions that contain an address. An inlined function is found within the one that has the code.
 */
#include "symbols/scopes.h"

#include <dwarf.h>

/* Sets *child to the child that contains the address. Also searches blocks. */
static bool scopes_find_inlined(Dwarf_Die *within, Dwarf_Addr pc, Dwarf_Die *child)
{
    if (dwarf_child(within, child) != 0)
        return false;
    do {
        const int tag = dwarf_tag(child);
        if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(child, pc) > 0)
            return true;
        Dwarf_Die block = *child, inner;
        if ((tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
            dwarf_haspc(&block, pc) > 0 && scopes_find_inlined(&block, pc, &inner)) {
            *child = inner;
            return true;
        }
    } while (dwarf_siblingof(child, child) == 0);
    return false;
}

struct scope_chain scopes_chain(struct unit *u, uint64_t address)
{
    struct scope_chain c = { .count = 0 };
    Dwarf_Die *function = unit_function_at(u, address);
    if (!function)
        return c;
    c.functions[c.count++] = *function;
    while (c.count < SCOPES_MOST &&
           scopes_find_inlined(&c.functions[c.count - 1], address - u->bias, &c.functions[c.count]))
        c.count++;
    return c;
}

const char *scopes_function_name(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Attribute *found = dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute);
    if (!found)
        found = dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute);
    const char *name = found ? dwarf_formstring(found) : NULL;
    return name ? name : dwarf_diename(function);
}

static bool scopes_function_origin(Dwarf_Die *function, Dwarf_Off *origin)
{
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    if (!dwarf_attr(function, DW_AT_abstract_origin, &attribute) || !dwarf_formref_die(&attribute, &die))
        return false;
    *origin = dwarf_dieoffset(&die);
    return true;
}

/* An instrumented inlined function also has a copy with its own address. */
static uint64_t scopes_function_begin(const struct unit *u, Dwarf_Die *function)
{
    Dwarf_Addr at;
    Dwarf_Off origin, other;
    if (dwarf_tag(function) != DW_TAG_inlined_subroutine)
        return dwarf_entrypc(function, &at) == 0 ? at + u->bias : 0;
    if (!scopes_function_origin(function, &origin))
        return 0;
    for (size_t i = 0; i < u->function_count; i++)
        if (scopes_function_origin(&u->functions[i], &other) && other == origin &&
            dwarf_entrypc(&u->functions[i], &at) == 0)
            return at + u->bias;
    return 0;
}

static uint32_t scopes_attribute_number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* The source file and line of the call of an inlined function. */
static const char *scopes_inlined_call(const struct unit *u, Dwarf_Die *inlined, uint32_t *line)
{
    Dwarf_Files *files;
    size_t count;
    Dwarf_Die die = u->die;
    *line = scopes_attribute_number(inlined, DW_AT_call_line);
    if (dwarf_getsrcfiles(&die, &files, &count) != 0)
        return NULL;
    return dwarf_filesrc(files, scopes_attribute_number(inlined, DW_AT_call_file), NULL, NULL);
}

struct scopes_site scopes_find(struct units *units, uint64_t address, bool inlined)
{
    struct scopes_site found = { 0 };
    struct symbol_site *const site = &found.site;
    struct unit *u = units_find(units, address);
    if (!u)
        return found;
    struct scope_chain c = scopes_chain(u, address);
    int caller = c.count - 1;
    if (!inlined) {
        site->file = unit_line_at(u, address, &site->line);
        if (!site->line)
            site->file = NULL;
    } else if (caller > 0) {
        site->file = scopes_inlined_call(u, &c.functions[caller], &site->line);
        caller--;
    }
    if (caller >= 0) {
        site->function = scopes_function_name(&c.functions[caller]);
        found.function_at = scopes_function_begin(u, &c.functions[caller]);
    }
    if (caller > 0) {
        site->outer = scopes_function_name(&c.functions[0]);
        site->outer_file = scopes_inlined_call(u, &c.functions[1], &site->outer_line);
        found.outer_at = scopes_function_begin(u, &c.functions[0]);
    }
    return found;
}
