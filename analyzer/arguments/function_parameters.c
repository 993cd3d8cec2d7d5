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

bool parameter_is_hidden(Dwarf_Die *parameter)
{
    const char *name = parameter_name(parameter);
    return !name || !*name || strcmp(name, "__in_chrg") == 0 || strcmp(name, "__vtt_parm") == 0;
}
