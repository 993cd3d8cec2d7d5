#include "arguments/passing.h"

#include <dwarf.h>

#include "arguments/copied_class.h"

enum { MOST_VISITED = 500, MOST_NESTED = 8, MOST_ELEMENTS = 16, WORD = 8 };

struct passing_walk {
    struct passing *passing;
    unsigned visited;
};

static bool passing_visit(struct passing_walk *w, Dwarf_Die type, uint64_t offset, unsigned nested);

/* A scalar of 1 to 8 bytes. What is not aligned makes its class go to memory. */
static bool passing_add(struct passing_walk *w, uint64_t offset, uint64_t size, bool is_float)
{
    if (!size || size > WORD || offset % size)
        return false;
    w->passing->floats &= is_float;
    if (offset / WORD < PASSING_WORDS) {
        enum passing_word *word = &w->passing->words[offset / WORD];
        *word = is_float && *word != PASSING_GENERAL ? PASSING_VECTOR : PASSING_GENERAL;
    }
    return true;
}

static bool passing_visit_base(struct passing_walk *w, Dwarf_Die *type, uint64_t offset)
{
    uint64_t encoding;
    if (!type_number(type, DW_AT_encoding, &encoding) || encoding == DW_ATE_complex_float)
        return false;
    return passing_add(w, offset, type_size(type), encoding == DW_ATE_float);
}

static bool passing_visit_array(struct passing_walk *w, Dwarf_Die *type, uint64_t offset, unsigned nested)
{
    Dwarf_Die element;
    Dwarf_Word all, one;
    if (dwarf_hasattr(type, DW_AT_GNU_vector) || !type_of(type, &element) || dwarf_aggregate_size(type, &all) != 0 ||
        dwarf_aggregate_size(&element, &one) != 0 || !one || all / one > MOST_ELEMENTS)
        return false;
    for (uint64_t at = 0; at < all; at += one)
        if (!passing_visit(w, element, offset + at, nested + 1))
            return false;
    return true;
}

/* A bit field counts as an integer in the words that it touches. */
static bool passing_visit_member(struct passing_walk *w, Dwarf_Die *child, uint64_t offset, unsigned nested)
{
    struct type_member member;
    if (!type_place_member(child, &member))
        return false;
    offset += member.offset;
    if (!member.bit_size)
        return passing_visit(w, member.type, offset, nested + 1);
    return passing_add(w, offset, 1, false) &&
           passing_add(w, offset + (member.bit_offset + member.bit_size - 1u) / 8, 1, false);
}

static bool passing_visit_class(struct passing_walk *w, Dwarf_Die *class, uint64_t offset, unsigned nested)
{
    Dwarf_Die child;
    if (dwarf_hasattr(class, DW_AT_declaration))
        return false;
    if (dwarf_child(class, &child) != 0)
        return true;
    do {
        const int tag = dwarf_tag(&child);
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !dwarf_hasattr(&child, DW_AT_external) &&
            !passing_visit_member(w, &child, offset, nested))
            return false;
    } while (dwarf_siblingof(&child, &child) == 0);
    return true;
}

/* False if it has something that is not known here. */
static bool passing_visit(struct passing_walk *w, Dwarf_Die type, uint64_t offset, unsigned nested)
{
    if (w->visited++ > MOST_VISITED || nested > MOST_NESTED || !type_strip(&type))
        return false;
    switch (dwarf_tag(&type)) {
    case DW_TAG_base_type:
        return passing_visit_base(w, &type, offset);
    case DW_TAG_enumeration_type:
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return passing_add(w, offset, type_size(&type), false);
    case DW_TAG_array_type:
        return passing_visit_array(w, &type, offset, nested);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return passing_visit_class(w, &type, offset, nested);
    default:
        return false;
    }
}

struct passing passing_of_class(Dwarf_Die *stripped)
{
    struct passing p = { .floats = true };
    struct passing_walk w = { .passing = &p };
    const uint64_t size = type_size(stripped);
    const enum copied_class copied = copied_class_of(stripped);
    const bool all = passing_visit(&w, *stripped, 0, 0);
    p.by_address = copied == COPIED_BY_CODE;
    p.in_memory = size > PASSING_IN_REGISTERS;
    p.known = size > 0 && copied != COPIED_UNKNOWN && (p.by_address || p.in_memory || all);
    p.floats &= all;
    return p;
}
