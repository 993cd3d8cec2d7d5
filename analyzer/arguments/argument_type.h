/* The types of arguments, from the debug information. */
#ifndef DWELL_ARGUMENTS_ARGUMENT_TYPE_H
#define DWELL_ARGUMENTS_ARGUMENT_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum argument_kind {
    ARGUMENT_NONE, /* no single value, as a struct */
    ARGUMENT_SIGNED,
    ARGUMENT_UNSIGNED,
    ARGUMENT_BOOL,
    ARGUMENT_CHARACTER,
    ARGUMENT_FLOAT,
    ARGUMENT_ENUM,
    ARGUMENT_ADDRESS,
    ARGUMENT_TEXT,
};

/* An entry's attribute of that name (DW_AT_...), if it is a number. False if it has none. */
bool type_number(Dwarf_Die *die, unsigned name, uint64_t *number);

/* Whether the entry is in a unit of C. */
bool type_is_of_c(Dwarf_Die *die);

/* Follows typedefs and qualifiers. False for void, and for types that never end. */
bool type_strip(Dwarf_Die *type);

/* The type of a variable, a member or a function, or that which a type is made of. False for none, as void. */
bool type_of(Dwarf_Die *die, Dwarf_Die *type);

bool type_is_reference(Dwarf_Die *stripped);
bool type_is_pointer(Dwarf_Die *stripped);
bool type_is_class(Dwarf_Die *stripped); /* a struct, class or union */

/* Whether the debug information says that values of this class are passed by their address. Not all compilers do. */
bool type_is_passed_by_address(Dwarf_Die *stripped);

/* The size in bytes; zero if unknown. */
uint64_t type_size(Dwarf_Die *stripped);

/* Whether its numbers can be negative. */
bool type_is_signed(Dwarf_Die *stripped);

/* The type of that name, or one of 16 bytes with 113 bits of precision that is not it on x86-64. */
bool type_is_long_double(Dwarf_Die *stripped);
bool type_is_quad(Dwarf_Die *stripped);

/* What a value of this type is. */
enum argument_kind type_kind(Dwarf_Die *stripped);

/* How many bytes an array of characters has as a text; zero if it is none, or has no known end. */
uint64_t type_text_room(Dwarf_Die *stripped);

/* How a source writes the type, such as "const char *". The caller frees it. */
char *type_name(Dwarf_Die *type);

/* The key of a kind, such as "unsigned". */
const char *argument_kind_name(enum argument_kind kind);

/* ---- members ---- */

struct type_member {
    Dwarf_Die type;
    uint64_t offset;
    uint8_t bit_size, bit_offset; /* of a bit field, from its offset on; zero if it is none */
};

/* Finds a member, also in base classes and unnamed members. False if there is none, or its place is computed. */
bool type_find_member(Dwarf_Die *stripped, const char *name, struct type_member *member);

/* The same of a pointer to `target`, also within other members. */
bool type_find_pointer(Dwarf_Die *stripped, const char *name, Dwarf_Die *target, struct type_member *member);

/* The place of a member or a base class. False for virtual bases, whose places are computed. */
bool type_place_member(Dwarf_Die *die, struct type_member *member);

#endif
