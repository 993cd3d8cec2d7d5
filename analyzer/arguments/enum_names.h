/* The names of an enumeration's values, from the debug information. */
#ifndef DWELL_ARGUMENTS_ENUM_NAMES_H
#define DWELL_ARGUMENTS_ENUM_NAMES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enum_name {
    uint64_t value; /* extended to 64 bits */
    char *name;
};

struct enum_names {
    struct enum_name *list; /* in the order of the source */
    size_t count, room;
    bool is_signed;
};

/* No names if the type is no enumeration. The first ones if there are very many. */
struct enum_names enum_names_read(Dwarf_Die *stripped);
void enum_names_drop(struct enum_names *names);

#endif
