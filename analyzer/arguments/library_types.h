/* Classes of the C++ library that are values, or have some that no member is: texts, pointers, sizes. Those of GCC's
 * library. */
#ifndef DWELL_ARGUMENTS_LIBRARY_TYPES_H
#define DWELL_ARGUMENTS_LIBRARY_TYPES_H

#include "arguments/argument_type.h"

enum type_special {
    TYPE_USUAL,
    TYPE_STRING,
    TYPE_STRING_VIEW, /* or another class of a pointer to characters and their number */
    TYPE_SMART_POINTER,
    TYPE_CONTAINER, /* has a size */
    TYPE_OPTIONAL,
    TYPE_TUPLE, /* its members have no names that tell them apart */
};

/* Which one a class is. */
enum type_special type_special(Dwarf_Die *stripped);

/* The place of a text's pointer and length in a string or string view. False if it is of another library. */
bool type_text_members(Dwarf_Die *stripped, struct type_member *pointer, struct type_member *length);

/* The pointer that a smart pointer holds. False if it is of another library. */
bool type_smart_pointer(Dwarf_Die *stripped, struct type_member *member);

/* Where a container has its size. That of a vector lies between the pointers `size` and `end`, and `element` is not
 * zero but the bytes of an element. */
struct type_container {
    Dwarf_Die type; /* of the size */
    struct type_member size, end;
    uint64_t element;
};
bool type_container(Dwarf_Die *stripped, struct type_container *container);

/* What an optional has, and whether it has it. */
bool type_optional(Dwarf_Die *stripped, struct type_member *value, struct type_member *engaged);

#endif
