/* Numbers for byte strings, from zero in the order of their first use. Equal strings have equal numbers. */
#ifndef DWELL_BASE_INTERN_H
#define DWELL_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct interned {
    char *bytes; /* followed by a zero byte */
    size_t length;
    uint64_t next; /* 1 + the number of another string with the same hash; zero if there is none */
};

struct intern {
    struct number_index *index;
    struct interned *pieces;
    size_t count, room;
};

/* Returns the number of the bytes. An intern that is all zero is empty. */
uint32_t intern(struct intern *all, const void *bytes, size_t length);
void intern_drop(struct intern *all);

#endif
