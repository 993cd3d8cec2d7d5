/* Walks the members of classes, those of base classes and of members among them. Unions are left out, as nothing says
 * which of their members counts, and so are arrays, but for those of characters. */
#include "arguments/class_values.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/library_types.h"
#include "base/memory.h"

enum { MOST_VISITED = 2000, MOST_BASES = 12, MOST_NESTED = 4 };

struct class_walk {
    unsigned values, others;         /* members that are single values, and those that are not */
    unsigned visited, bases, nested; /* `bases` and `nested` are those around the class that is looked at */
    struct type_member value;        /* the last one of these */
    uint64_t offset;                 /* of the class that is looked at */
    const char *prefix;              /* of its members' paths; NULL if these are not wanted */
    unsigned most;
    char **paths; /* so far; two bases can have a member of the same name */
};

static void class_visit(struct class_walk *w, Dwarf_Die *class);

/* Another value. Without a name, its path is the prefix. */
static void class_add_value(struct class_walk *w, const struct type_member *member, const char *name, const char *end)
{
    w->value = *member;
    w->value.offset += w->offset;
    if (w->prefix && w->values < w->most) {
        char *path = need_text("%s%s%s", w->prefix, name, end);
        for (unsigned i = 0; i < w->values; i++)
            if (strcmp(w->paths[i], path) == 0) {
                free(path);
                return;
            }
        w->paths[w->values] = path;
    }
    w->values++;
}

/* The members of a base class or of a member without a name, which need no other path. */
static void class_visit_base(struct class_walk *w, const struct type_member *base, Dwarf_Die *class)
{
    if (w->bases == MOST_BASES) {
        w->others++;
        return;
    }
    w->bases++;
    w->offset += base->offset;
    class_visit(w, class);
    w->offset -= base->offset;
    w->bases--;
}

/* The members of a member. One that wraps a single value is that value. */
static void class_visit_inner(struct class_walk *w, const struct type_member *outer, Dwarf_Die *class, const char *name)
{
    const char *prefix = w->prefix;
    const unsigned values = w->values, others = w->others;
    if (w->nested == MOST_NESTED) {
        w->others++;
        return;
    }
    char *longer = prefix ? need_text("%s%s.", prefix, name) : NULL;
    w->prefix = longer;
    w->nested++;
    w->offset += outer->offset;
    class_visit(w, class);
    w->offset -= outer->offset;
    w->nested--;
    w->prefix = prefix;
    if (longer && w->values == values + 1 && w->others == others && values < w->most) {
        free(w->paths[values]);
        longer[strlen(longer) - 1] = '\0';
        w->paths[values] = longer;
        longer = NULL;
    }
    free(longer);
}

/* A member that is a class. */
static void class_visit_class(struct class_walk *w, const struct type_member *member, Dwarf_Die *type, const char *name)
{
    switch (type_special(type)) {
    case TYPE_USUAL:
        if (dwarf_tag(type) == DW_TAG_union_type)
            w->others++;
        else if (name)
            class_visit_inner(w, member, type, name);
        else
            class_visit_base(w, member, type);
        return;
    case TYPE_CONTAINER:
    case TYPE_OPTIONAL:
    case TYPE_TUPLE:
        w->others++;
        if (name && type_special(type) == TYPE_CONTAINER)
            class_add_value(w, member, name, ".size");
        return;
    default:
        if (name)
            class_add_value(w, member, name, "");
        else
            w->others++;
    }
}

static void class_visit_member(struct class_walk *w, Dwarf_Die *child, const struct type_member *member)
{
    const char *name = dwarf_tag(child) == DW_TAG_inheritance ? NULL : dwarf_diename(child);
    Dwarf_Die type = member->type;
    if (!type_strip(&type) || dwarf_hasattr(child, DW_AT_artificial) || (name && strncmp(name, "_vptr", 5) == 0))
        w->others++;
    else if (type_is_class(&type))
        class_visit_class(w, member, &type, name);
    else if (name && (type_kind(&type) != ARGUMENT_NONE || type_text_room(&type)))
        class_add_value(w, member, name, "");
    else
        w->others++;
}

static void class_visit(struct class_walk *w, Dwarf_Die *class)
{
    Dwarf_Die child;
    if (dwarf_hasattr(class, DW_AT_declaration))
        w->others++;
    if (dwarf_child(class, &child) != 0)
        return;
    do {
        const int tag = dwarf_tag(&child);
        struct type_member member;
        if (w->visited++ > MOST_VISITED) {
            w->others++;
            return;
        }
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&child, DW_AT_external))
            continue;
        if (type_place_member(&child, &member))
            class_visit_member(w, &child, &member);
        else
            w->others++;
    } while (dwarf_siblingof(&child, &child) == 0);
}

static struct class_walk class_walk_all(Dwarf_Die *class)
{
    struct class_walk w = { .most = 0 };
    class_visit(&w, class);
    return w;
}

/* Unions and classes of the library have no members that can be shown. */
static bool class_can_be_walked(Dwarf_Die *stripped)
{
    return type_is_class(stripped) && dwarf_tag(stripped) != DW_TAG_union_type && type_special(stripped) == TYPE_USUAL;
}

bool class_is_empty(Dwarf_Die *stripped)
{
    if (!type_is_class(stripped) || type_special(stripped) != TYPE_USUAL)
        return false;
    const struct class_walk w = class_walk_all(stripped);
    return !w.values && !w.others;
}

bool class_wrapped(Dwarf_Die *stripped, struct type_member *member)
{
    if (!class_can_be_walked(stripped))
        return false;
    const struct class_walk w = class_walk_all(stripped);
    *member = w.value;
    return w.values == 1 && !w.others;
}

unsigned class_list_members(Dwarf_Die *stripped, const char *prefix, unsigned most,
                            void (*take)(void *data, const char *path), void *data)
{
    struct class_walk w = { .prefix = prefix, .most = most, .paths = need_memory(most + 1, sizeof(char *)) };
    const struct type_member none = { .offset = 0 };
    const enum type_special special = type_special(stripped);
    if (special == TYPE_CONTAINER)
        class_add_value(&w, &none, "size", "");
    else if (special == TYPE_OPTIONAL)
        class_add_value(&w, &none, "has_value", "");
    else if (class_can_be_walked(stripped))
        class_visit(&w, stripped);
    const unsigned count = w.values < most ? w.values : most;
    for (unsigned i = 0; i < count; i++) {
        take(data, w.paths[i]);
        free(w.paths[i]);
    }
    free(w.paths);
    return count;
}
