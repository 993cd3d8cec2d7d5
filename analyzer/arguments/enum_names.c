/* Reads the names of an enumeration's values. Debug information can be damaged or endless, so there are limits. */
#include "arguments/enum_names.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/argument_type.h"
#include "base/memory.h"

enum { MOST_CHILDREN = 2000, MOST_LENGTH = 200 };

static void enum_names_add(struct enum_names *names, Dwarf_Die *enumerator)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    const char *name = dwarf_diename(enumerator);
    if (!name || !dwarf_attr(enumerator, DW_AT_const_value, &attribute) || dwarf_formudata(&attribute, &value) != 0)
        return;
    GROW(names->list, names->count, names->room);
    names->list[names->count++] = (struct enum_name){ value, need_copy(name, strnlen(name, MOST_LENGTH)) };
}

struct enum_names enum_names_read(Dwarf_Die *stripped)
{
    struct enum_names names = { .is_signed = type_is_signed(stripped) };
    Dwarf_Die child;
    if (dwarf_tag(stripped) != DW_TAG_enumeration_type || dwarf_child(stripped, &child) != 0)
        return names;
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (dwarf_tag(&child) == DW_TAG_enumerator)
            enum_names_add(&names, &child);
        if (dwarf_siblingof(&child, &child) != 0)
            break;
    }
    return names;
}

void enum_names_drop(struct enum_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i].name);
    free(names->list);
}
