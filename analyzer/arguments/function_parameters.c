#include "arguments/function_parameters.h"

#include <dwarf.h>
#include <string.h>

enum { MOST_PARAMETERS = 256, MOST_CHILDREN = 100000 };

void function_each_parameter(const Dwarf_Die *function, bool (*take)(void *data, Dwarf_Die *parameter), void *data)
{
    Dwarf_Die die = *function, child;
    int taken = 0;
    if (dwarf_child(&die, &child) != 0)
        return;
    for (int i = 0; i < MOST_CHILDREN && taken < MOST_PARAMETERS; i++) {
        const bool is_parameter = dwarf_tag(&child) == DW_TAG_formal_parameter;
        taken += is_parameter;
        if ((is_parameter && !take(data, &child)) || dwarf_siblingof(&child, &child) != 0)
            return;
    }
}

const char *parameter_name(Dwarf_Die *parameter)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(parameter, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

struct parameter_search {
    const char *name;
    Dwarf_Die found;
    bool has_found;
};

static bool parameter_is_other(void *data, Dwarf_Die *parameter)
{
    struct parameter_search *s = data;
    const char *name = parameter_name(parameter);
    s->has_found = name && strcmp(name, s->name) == 0;
    s->found = *parameter;
    return !s->has_found;
}

bool function_find_parameter(const Dwarf_Die *function, const char *name, Dwarf_Die *parameter)
{
    struct parameter_search search = { .name = name };
    function_each_parameter(function, parameter_is_other, &search);
    *parameter = search.found;
    return search.has_found;
}

/* The parameter as it is in the source, whose copies refer to it. */
static const void *parameter_origin(Dwarf_Die *parameter)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    return dwarf_attr(parameter, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin)
               ? origin.addr
               : parameter->addr;
}

/* `origin` is NULL for inlined functions, whose parameters have another order. */
static bool parameter_is_behind(Dwarf_Die *other, const void *origin)
{
    const int tag = dwarf_tag(other);
    return tag == DW_TAG_variable || tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site ||
           (origin && tag == DW_TAG_formal_parameter && (const char *)parameter_origin(other) > (const char *)origin);
}

bool parameter_is_listed_late(const Dwarf_Die *function, Dwarf_Die *parameter)
{
    Dwarf_Die die = *function, child;
    const bool in_order = dwarf_tag(&die) == DW_TAG_subprogram;
    const void *origin = in_order ? parameter_origin(parameter) : NULL;
    bool late = false;
    if (dwarf_child(&die, &child) != 0)
        return false;
    for (int i = 0; i < MOST_CHILDREN && child.addr != parameter->addr; i++) {
        late |= parameter_is_behind(&child, origin);
        if (dwarf_siblingof(&child, &child) != 0)
            return false;
    }
    return late;
}

bool parameter_is_hidden(Dwarf_Die *parameter)
{
    const char *name = parameter_name(parameter);
    return !name || !*name || strcmp(name, "__in_chrg") == 0 || strcmp(name, "__vtt_parm") == 0;
}
