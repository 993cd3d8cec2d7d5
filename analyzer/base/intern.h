/* Numbers for pieces of bytes, from zero on in the order in which they came: equal pieces have equal numbers. */
#ifndef DWELL_BASE_INTERN_H
#define DWELL_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct interned {
    char *bytes; /* a zero byte follows them */
    size_t length;
    uint64_t next; /* 1 + the number of another piece with the same hash, or zero */
};

struct intern {
    struct number_index *index;
    struct interned *pieces;
    size_t count, room;
};

/* All zero is an empty one. */
uint32_t intern(struct intern *all, const void *bytes, size_t length);
void intern_drop(struct intern *all);

#endif
