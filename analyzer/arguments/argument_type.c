/* Reads types of the debug information. They can be damaged or endless, so each search has a limit. */
#include "arguments/argument_type.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/library_types.h"
#include "base/memory.h"

enum {
    MOST_STEPS = 32,      /* from a type to what it is made of */
    MOST_MEMBERS = 10000, /* of a class */
    MOST_NESTED = 12,     /* classes in each other */
    MOST_LOOKED_AT = 20000,
    MOST_NAME = 200, /* characters of a type's name; templates have thousands */
    LONG_DOUBLE = 16,
};

bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type);
}

bool type_number(Dwarf_Die *die, unsigned name, uint64_t *number)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0)
        return false;
    *number = word;
    return true;
}

bool type_is_of_c(Dwarf_Die *die)
{
    Dwarf_Die unit;
    const int language = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
    return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
}

static bool type_is_transparent(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool type_strip(Dwarf_Die *type)
{
    for (int steps = 0; type_is_transparent(dwarf_tag(type)); steps++) {
        Dwarf_Die inner;
        if (steps == MOST_STEPS || !type_of(type, &inner))
            return false;
        *type = inner;
    }
    return true;
}

bool type_is_reference(Dwarf_Die *stripped)
{
    const int tag = dwarf_tag(stripped);
    return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool type_is_pointer(Dwarf_Die *stripped)
{
    return dwarf_tag(stripped) == DW_TAG_pointer_type;
}

bool type_is_class(Dwarf_Die *stripped)
{
    const int tag = dwarf_tag(stripped);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool type_is_passed_by_address(Dwarf_Die *stripped)
{
    uint64_t convention;
    return type_is_class(stripped) && type_number(stripped, DW_AT_calling_convention, &convention) &&
           convention == DW_CC_pass_by_reference;
}

uint64_t type_size(Dwarf_Die *stripped)
{
    if (type_is_pointer(stripped) || type_is_reference(stripped))
        return 8;
    const int size = dwarf_bytesize(stripped);
    return size > 0 ? (uint64_t)size : 0;
}

/* How the bits of a base type mean a number; zero if unknown. */
static uint64_t type_encoding(Dwarf_Die *type)
{
    uint64_t encoding;
    return type_number(type, DW_AT_encoding, &encoding) ? encoding : 0;
}

/* Enums have a sign if what they are made of has one. */
bool type_is_signed(Dwarf_Die *stripped)
{
    Dwarf_Die type = *stripped, of;
    if (dwarf_tag(&type) == DW_TAG_enumeration_type && type_of(&type, &of) && type_strip(&of))
        type = of;
    const uint64_t encoding = dwarf_tag(&type) == DW_TAG_base_type ? type_encoding(&type) : 0;
    return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

static enum argument_kind type_base_kind(Dwarf_Die *type)
{
    switch (type_encoding(type)) {
    case DW_ATE_signed:
        return ARGUMENT_SIGNED;
    case DW_ATE_unsigned:
        return ARGUMENT_UNSIGNED;
    case DW_ATE_boolean:
        return ARGUMENT_BOOL;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        return ARGUMENT_CHARACTER;
    case DW_ATE_float:
        return ARGUMENT_FLOAT;
    default:
        return ARGUMENT_NONE;
    }
}

bool type_is_quad(Dwarf_Die *stripped)
{
    const char *name = dwarf_diename(stripped);
    return name && (strcmp(name, "_Float128") == 0 || strcmp(name, "__float128") == 0);
}

bool type_is_long_double(Dwarf_Die *stripped)
{
    const char *name = dwarf_diename(stripped);
    return name && strcmp(name, "long double") == 0 && type_size(stripped) == LONG_DOUBLE;
}

/* Characters that texts consist of. */
static bool type_is_character(Dwarf_Die *type)
{
    return dwarf_tag(type) == DW_TAG_base_type && type_base_kind(type) == ARGUMENT_CHARACTER && type_size(type) == 1;
}

static enum argument_kind type_pointer_kind(Dwarf_Die *type)
{
    Dwarf_Die target;
    const char *name;
    if (!type_of(type, &target) || !type_strip(&target) || !type_is_character(&target))
        return ARGUMENT_ADDRESS;
    name = dwarf_diename(&target); /* the bytes of data are no text */
    return name && strcmp(name, "char") == 0 ? ARGUMENT_TEXT : ARGUMENT_ADDRESS;
}

static enum argument_kind type_class_kind(Dwarf_Die *stripped)
{
    switch (type_special(stripped)) {
    case TYPE_STRING:
    case TYPE_STRING_VIEW:
        return ARGUMENT_TEXT;
    case TYPE_SMART_POINTER:
        return ARGUMENT_ADDRESS;
    default:
        return ARGUMENT_NONE;
    }
}

enum argument_kind type_kind(Dwarf_Die *stripped)
{
    switch (dwarf_tag(stripped)) {
    case DW_TAG_base_type:
        return type_base_kind(stripped);
    case DW_TAG_enumeration_type:
        return ARGUMENT_ENUM;
    case DW_TAG_pointer_type:
        return type_pointer_kind(stripped);
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return ARGUMENT_ADDRESS;
    default:
        return type_class_kind(stripped);
    }
}

uint64_t type_text_room(Dwarf_Die *stripped)
{
    Dwarf_Die element;
    Dwarf_Word size;
    const char *name;
    if (dwarf_tag(stripped) != DW_TAG_array_type || !type_of(stripped, &element) || !type_strip(&element) ||
        !type_is_character(&element))
        return 0;
    name = dwarf_diename(&element);
    return name && strcmp(name, "char") == 0 && dwarf_aggregate_size(stripped, &size) == 0 ? size : 0;
}

const char *argument_kind_name(enum argument_kind kind)
{
    static const char *const names[] = { "none",  "signed", "unsigned", "bool", "character",
                                         "float", "enum",   "address",  "text" };
    return names[kind];
}

/* ---- names ---- */

static const char *type_keyword(Dwarf_Die *type)
{
    const int tag = dwarf_tag(type);
    if (!type_is_of_c(type))
        return "";
    return tag == DW_TAG_structure_type     ? "struct "
           : tag == DW_TAG_union_type       ? "union "
           : tag == DW_TAG_enumeration_type ? "enum "
                                            : "";
}

static char *type_base_name(Dwarf_Die *type)
{
    const char *name = dwarf_diename(type);
    if (name)
        return need_text("%s%.*s%s", type_keyword(type), MOST_NAME, name, strlen(name) > MOST_NAME ? "..." : "");
    switch (dwarf_tag(type)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return need_text("struct");
    case DW_TAG_union_type:
        return need_text("union");
    case DW_TAG_enumeration_type:
        return need_text("enum");
    case DW_TAG_subroutine_type:
        return need_text("function");
    default:
        return need_text("unnamed");
    }
}

/* What stands behind the name of the type that `type` is made of; NULL if it is a name of its own. */
static const char *type_suffix(Dwarf_Die *type)
{
    switch (dwarf_tag(type)) {
    case DW_TAG_pointer_type:
        return " *";
    case DW_TAG_reference_type:
        return " &";
    case DW_TAG_rvalue_reference_type:
        return " &&";
    case DW_TAG_array_type:
        return " []";
    case DW_TAG_const_type:
        return " const";
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        return "";
    default:
        return NULL;
    }
}

/* `const` stands before what it is of, unless that is a pointer. */
char *type_name(Dwarf_Die *type)
{
    Dwarf_Die at = *type, inner;
    const char *suffixes[MOST_STEPS], *suffix;
    int count = 0;
    bool is_void = false;
    while (!is_void && count < MOST_STEPS && (suffix = type_suffix(&at))) {
        suffixes[count++] = suffix;
        is_void = !type_of(&at, &inner);
        at = inner;
    }
    char *name = is_void ? need_text("void") : type_base_name(&at);
    for (bool first = true; count > 0; first = false) {
        const char *const next = suffixes[--count];
        const bool before = first && strcmp(next, " const") == 0;
        const size_t length = strlen(name);
        const bool tight = next[0] == ' ' && length && (name[length - 1] == '*' || name[length - 1] == '&');
        char *longer = before ? need_text("const %s", name) : need_text("%s%s", name, next + tight);
        free(name);
        name = longer;
    }
    return name;
}

/* ---- members ---- */

/* The place of a bit field: in bits from the class's begin or, as until DWARF 3, from the upper end of a unit. */
static bool type_place_bits(Dwarf_Die *die, struct type_member *member, unsigned bits, bool stated)
{
    enum { MOST_BYTES = 16 };
    uint64_t at, size, from_end;
    if (stated) {
        Dwarf_Die type = member->type;
        if (!type_number(die, DW_AT_byte_size, &size))
            size = type_strip(&type) ? type_size(&type) : 0;
        if (size > MOST_BYTES || !type_number(die, DW_AT_bit_offset, &from_end) || from_end + bits > 8 * size)
            return false;
        at = 8 * size - from_end - bits;
        member->offset += at / 8;
    } else {
        if (!type_number(die, DW_AT_data_bit_offset, &at))
            return false;
        member->offset = at / 8;
    }
    member->bit_size = (uint8_t)bits;
    member->bit_offset = at % 8;
    return true;
}

bool type_place_member(Dwarf_Die *die, struct type_member *member)
{
    uint64_t bits, virtual_base;
    *member = (struct type_member){ .offset = 0 };
    if (!type_of(die, &member->type) || (type_number(die, DW_AT_virtuality, &virtual_base) && virtual_base))
        return false;
    const bool stated = type_number(die, DW_AT_data_member_location, &member->offset);
    if (!stated && dwarf_hasattr(die, DW_AT_data_member_location))
        return false;
    if (!type_number(die, DW_AT_bit_size, &bits))
        return true;
    return bits >= 1 && bits <= 64 && type_place_bits(die, member, (unsigned)bits, stated);
}

/* A search in classes that contain each other. */
struct type_search {
    const char *name;
    Dwarf_Off target; /* the member is a pointer to this type, and can be in other members; zero for any type */
    int looked_at;
};

static bool type_search(struct type_search *s, Dwarf_Die *class, int nested, struct type_member *found);

static bool type_search_inside(struct type_search *s, const struct type_member *outer, int nested,
                               struct type_member *found)
{
    Dwarf_Die inner = outer->type;
    if (nested >= MOST_NESTED || !type_strip(&inner) || !type_is_class(&inner) ||
        !type_search(s, &inner, nested + 1, found))
        return false;
    found->offset += outer->offset;
    return true;
}

static bool type_is_found(const struct type_search *s, Dwarf_Die *child, const struct type_member *member)
{
    const char *name = dwarf_diename(child);
    Dwarf_Die type = member->type, target;
    if (!name || dwarf_tag(child) != DW_TAG_member || strcmp(name, s->name) != 0)
        return false;
    return !s->target || (type_strip(&type) && type_is_pointer(&type) && type_of(&type, &target) &&
                          type_strip(&target) && dwarf_dieoffset(&target) == s->target);
}

static bool type_search(struct type_search *s, Dwarf_Die *class, int nested, struct type_member *found)
{
    Dwarf_Die child;
    if (dwarf_child(class, &child) != 0)
        return false;
    for (int i = 0; i < MOST_MEMBERS && s->looked_at++ < MOST_LOOKED_AT; i++) {
        const int tag = dwarf_tag(&child);
        struct type_member member;
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !dwarf_hasattr(&child, DW_AT_external) &&
            type_place_member(&child, &member)) {
            if (type_is_found(s, &child, &member)) {
                *found = member;
                return true;
            }
            const bool inside = tag == DW_TAG_inheritance || s->target || !dwarf_diename(&child);
            if (inside && type_search_inside(s, &member, nested, found))
                return true;
        }
        if (dwarf_siblingof(&child, &child) != 0)
            return false;
    }
    return false;
}

bool type_find_member(Dwarf_Die *stripped, const char *name, struct type_member *member)
{
    struct type_search search = { .name = name };
    return type_is_class(stripped) && type_search(&search, stripped, 0, member);
}

bool type_find_pointer(Dwarf_Die *stripped, const char *name, Dwarf_Die *target, struct type_member *member)
{
    struct type_search search = { .name = name, .target = dwarf_dieoffset(target) };
    return type_is_class(stripped) && type_search(&search, stripped, 0, member);
}
