/* Finds the members of GCC's C++ library by their names. */
#include "arguments/library_types.h"

#include <dwarf.h>
#include <string.h>
#include <strings.h>

enum { MOST_CHILDREN = 10000, POINTER = 8, MOST_NAMES = 3 };

/* ---- members ---- */

/* A member of a member: up to three names, of which the last ones may be NULL. */
static bool library_find(Dwarf_Die *stripped, const char *const names[MOST_NAMES], struct type_member *found)
{
    Dwarf_Die type = *stripped;
    uint64_t offset = 0;
    for (int i = 0; i < MOST_NAMES && names[i]; i++) {
        if (!type_find_member(&type, names[i], found))
            return false;
        offset += found->offset;
        type = found->type;
        if (i + 1 < MOST_NAMES && names[i + 1] && !type_strip(&type))
            return false;
    }
    found->offset = offset;
    return true;
}

/* A child of the class. */
static bool library_find_child(Dwarf_Die *stripped, int tag, const char *name, Dwarf_Die *child)
{
    if (dwarf_child(stripped, child) != 0)
        return false;
    for (int i = 0; i < MOST_CHILDREN; i++) {
        const char *own = dwarf_diename(child);
        if (dwarf_tag(child) == tag && (!name || (own && strcmp(own, name) == 0)))
            return true;
        if (dwarf_siblingof(child, child) != 0)
            return false;
    }
    return false;
}

/* ---- texts ---- */

static bool library_is_length(const char *name, Dwarf_Die *type)
{
    return type_kind(type) == ARGUMENT_UNSIGNED && type_size(type) == POINTER &&
           (strcasestr(name, "len") || strcasestr(name, "size"));
}

/* Whether a class has two members and nothing else: a pointer to characters and their number. */
static bool library_counts_text(Dwarf_Die *stripped, struct type_member *pointer, struct type_member *length)
{
    unsigned members = 0, found = 0;
    Dwarf_Die child;
    if (dwarf_tag(stripped) == DW_TAG_union_type || type_size(stripped) != 2 * POINTER ||
        dwarf_child(stripped, &child) != 0)
        return false;
    do {
        struct type_member member;
        const char *name = dwarf_diename(&child);
        if (dwarf_tag(&child) == DW_TAG_inheritance || members > 2)
            return false;
        if (dwarf_tag(&child) != DW_TAG_member || dwarf_hasattr(&child, DW_AT_external))
            continue;
        members++;
        Dwarf_Die type;
        if (!name || !type_place_member(&child, &member) || member.bit_size)
            return false;
        type = member.type;
        if (!type_strip(&type))
            return false;
        const bool is_pointer = type_is_pointer(&type) && type_kind(&type) == ARGUMENT_TEXT;
        if (is_pointer)
            *pointer = member;
        else if (library_is_length(name, &type))
            *length = member;
        else
            return false;
        found |= is_pointer ? 1 : 2;
    } while (dwarf_siblingof(&child, &child) == 0);
    return members == 2 && found == 3;
}

bool type_text_members(Dwarf_Die *stripped, struct type_member *pointer, struct type_member *length)
{
    static const char *const text[MOST_NAMES] = { "_M_dataplus", "_M_p" };
    if (library_counts_text(stripped, pointer, length))
        return true;
    if (type_special(stripped) == TYPE_STRING_VIEW)
        return type_find_member(stripped, "_M_str", pointer) && type_find_member(stripped, "_M_len", length);
    return library_find(stripped, text, pointer) && type_find_member(stripped, "_M_string_length", length);
}

/* ---- pointers ---- */

/* A deleter may hold pointers as well, under other names. */
bool type_smart_pointer(Dwarf_Die *stripped, struct type_member *member)
{
    Dwarf_Die parameter, target;
    if (type_special(stripped) != TYPE_SMART_POINTER ||
        !library_find_child(stripped, DW_TAG_template_type_parameter, NULL, &parameter) ||
        !type_of(&parameter, &target) || !type_strip(&target))
        return false;
    return type_find_pointer(stripped, "_M_head_impl", &target, member) ||
           type_find_pointer(stripped, "_M_ptr", &target, member);
}

/* ---- sizes ---- */

static bool library_vector(Dwarf_Die *stripped, struct type_container *container)
{
    static const char *const begin[MOST_NAMES] = { "_M_impl", "_M_start" }, *const end[MOST_NAMES] = { "_M_impl",
                                                                                                       "_M_finish" };
    Dwarf_Die type, element;
    if (!library_find(stripped, begin, &container->size) || !library_find(stripped, end, &container->end))
        return false;
    type = container->size.type;
    if (!type_strip(&type) || !type_is_pointer(&type) || !type_of(&type, &element) || !type_strip(&element))
        return false;
    container->element = type_size(&element);
    return container->element > 0;
}

bool type_container(Dwarf_Die *stripped, struct type_container *container)
{
    static const struct {
        const char *begin, *names[MOST_NAMES];
    } counts[] = {
        { "map<", { "_M_t", "_M_impl", "_M_node_count" } },
        { "set<", { "_M_t", "_M_impl", "_M_node_count" } },
        { "multimap<", { "_M_t", "_M_impl", "_M_node_count" } },
        { "multiset<", { "_M_t", "_M_impl", "_M_node_count" } },
        { "unordered_map<", { "_M_h", "_M_element_count" } },
        { "unordered_set<", { "_M_h", "_M_element_count" } },
        { "unordered_multimap<", { "_M_h", "_M_element_count" } },
        { "unordered_multiset<", { "_M_h", "_M_element_count" } },
        { "list<", { "_M_impl", "_M_node", "_M_size" } },
        { "basic_string<", { "_M_string_length" } },
        { "basic_string_view<", { "_M_len" } },
    };
    const char *name = type_is_class(stripped) ? dwarf_diename(stripped) : NULL;
    *container = (struct type_container){ .element = 0 };
    if (name && strncmp(name, "vector<", 7) == 0)
        return library_vector(stripped, container) &&
               library_find_child(stripped, DW_TAG_typedef, "size_type", &container->type);
    for (size_t i = 0; name && i < sizeof counts / sizeof *counts; i++) {
        if (strncmp(name, counts[i].begin, strlen(counts[i].begin)) != 0)
            continue;
        if (!library_find(stripped, counts[i].names, &container->size))
            return false;
        container->type = container->size.type;
        return true;
    }
    return false;
}

bool type_optional(Dwarf_Die *stripped, struct type_member *value, struct type_member *engaged)
{
    static const char *const has[MOST_NAMES] = { "_M_payload", "_M_engaged" }, *const what[MOST_NAMES] = { "_M_payload",
                                                                                                           "_M_payload",
                                                                                                           "_M_value" };
    return library_find(stripped, has, engaged) && library_find(stripped, what, value);
}

/* ---- which it is ---- */

static enum type_special library_special(Dwarf_Die *stripped, const char *name)
{
    static const struct {
        const char *begin;
        enum type_special special;
    } classes[] = {
        { "basic_string<char,", TYPE_STRING },
        { "basic_string_view<char,", TYPE_STRING_VIEW },
        { "unique_ptr<", TYPE_SMART_POINTER },
        { "shared_ptr<", TYPE_SMART_POINTER },
        { "tuple<", TYPE_TUPLE },
    };
    struct type_member first, second;
    struct type_container container;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(name, classes[i].begin, strlen(classes[i].begin)) == 0)
            return classes[i].special;
    if (type_container(stripped, &container))
        return TYPE_CONTAINER;
    return strncmp(name, "optional<", 9) == 0 && type_optional(stripped, &first, &second) ? TYPE_OPTIONAL : TYPE_USUAL;
}

enum type_special type_special(Dwarf_Die *stripped)
{
    struct type_member pointer, length;
    const char *name = type_is_class(stripped) ? dwarf_diename(stripped) : NULL;
    const enum type_special special = name ? library_special(stripped, name) : TYPE_USUAL;
    if (special == TYPE_USUAL && type_is_class(stripped) && library_counts_text(stripped, &pointer, &length))
        return TYPE_STRING_VIEW;
    return special;
}
