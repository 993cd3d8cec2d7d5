/* clang states how a class is passed. GCC does not, so the rules of C++ decide: a class has code for copies, moves or
 * its end if a source has it, if a base class or a member has, or if it has virtual functions. */
#include "arguments/copied_class.h"

#include <dwarf.h>
#include <string.h>

#include "arguments/argument_type.h"

enum { MOST_VISITED = 2000, MOST_NESTED = 12 };

struct copied_walk {
    unsigned visited, nested;
};

static enum copied_class copied_visit(struct copied_walk *w, Dwarf_Die *class);

/* ---- functions of the class ---- */

/* The type of the first parameter behind `this`. */
static bool copied_first_parameter(Dwarf_Die *function, Dwarf_Die *type)
{
    Dwarf_Die child;
    bool first = true;
    if (dwarf_child(function, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter)
            continue;
        if (!first)
            return type_of(&child, type);
        first = false;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* Whether it is a reference to the class. Types of several units can be the same one. */
static bool copied_is_reference_to(Dwarf_Die type, Dwarf_Die *class)
{
    Dwarf_Die target;
    if (!type_strip(&type) || !type_is_reference(&type) || !type_of(&type, &target) || !type_strip(&target))
        return false;
    const char *name = dwarf_diename(&target), *wanted = dwarf_diename(class);
    return dwarf_dieoffset(&target) == dwarf_dieoffset(class) || (name && wanted && strcmp(name, wanted) == 0);
}

static bool copied_is_constructor(const char *name, Dwarf_Die *class)
{
    const char *own = dwarf_diename(class);
    const size_t length = own ? strcspn(own, "<") : 0;
    return length && strncmp(name, own, length) == 0 && (!name[length] || name[length] == '<');
}

/* What the class' own functions say. One that is deleted is no code; if there is no other, nothing copies the class. */
static enum copied_class copied_visit_functions(Dwarf_Die *class)
{
    Dwarf_Die child, type;
    bool deleted = false, others = false;
    if (dwarf_child(class, &child) != 0)
        return COPIED_AS_BYTES;
    do {
        uint64_t number;
        const char *name = dwarf_diename(&child);
        if (dwarf_tag(&child) != DW_TAG_subprogram || !name)
            continue;
        if (type_number(&child, DW_AT_virtuality, &number) && number)
            return COPIED_BY_CODE;
        const bool copies = copied_is_constructor(name, class) && copied_first_parameter(&child, &type) &&
                            copied_is_reference_to(type, class);
        if (!copies && name[0] != '~')
            continue;
        const bool own = !dwarf_hasattr(&child, DW_AT_artificial) && !dwarf_hasattr(&child, DW_AT_deleted) &&
                         !(type_number(&child, DW_AT_defaulted, &number) && number == DW_DEFAULTED_in_class);
        if (own)
            return COPIED_BY_CODE;
        deleted |= copies && dwarf_hasattr(&child, DW_AT_deleted);
        others |= copies && !dwarf_hasattr(&child, DW_AT_deleted);
    } while (dwarf_siblingof(&child, &child) == 0);
    return deleted && !others ? COPIED_BY_CODE : COPIED_AS_BYTES;
}

/* ---- members ---- */

static enum copied_class copied_visit_member(struct copied_walk *w, Dwarf_Die *child)
{
    Dwarf_Die type;
    uint64_t number;
    if (!type_of(child, &type) || (type_number(child, DW_AT_virtuality, &number) && number))
        return COPIED_BY_CODE;
    while (type_strip(&type) && dwarf_tag(&type) == DW_TAG_array_type && w->visited++ < MOST_VISITED)
        if (!type_of(&type, &type))
            return COPIED_UNKNOWN;
    if (!type_is_class(&type))
        return COPIED_AS_BYTES;
    if (w->nested == MOST_NESTED)
        return COPIED_UNKNOWN;
    w->nested++;
    const enum copied_class copied = copied_visit(w, &type);
    w->nested--;
    return copied;
}

static enum copied_class copied_visit(struct copied_walk *w, Dwarf_Die *class)
{
    Dwarf_Die child;
    uint64_t convention;
    if (type_number(class, DW_AT_calling_convention, &convention))
        return convention == DW_CC_pass_by_reference ? COPIED_BY_CODE : COPIED_AS_BYTES;
    if (type_is_of_c(class))
        return COPIED_AS_BYTES;
    if (dwarf_hasattr(class, DW_AT_declaration))
        return COPIED_UNKNOWN;
    enum copied_class copied = copied_visit_functions(class);
    if (dwarf_child(class, &child) != 0)
        return copied;
    do {
        const int tag = dwarf_tag(&child);
        if (w->visited++ > MOST_VISITED)
            return COPIED_UNKNOWN;
        if (copied == COPIED_AS_BYTES && (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
            !dwarf_hasattr(&child, DW_AT_external))
            copied = copied_visit_member(w, &child);
    } while (copied == COPIED_AS_BYTES && dwarf_siblingof(&child, &child) == 0);
    return copied;
}

enum copied_class copied_class_of(Dwarf_Die *stripped)
{
    struct copied_walk w = { .visited = 0 };
    return copied_visit(&w, stripped);
}
