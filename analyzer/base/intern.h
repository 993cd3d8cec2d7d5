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

/* The number of the bytes, or INTERN_NONE if they have none yet. */
#define INTERN_NONE UINT32_MAX
uint32_t intern_find(const struct intern *all, const void *bytes, size_t length);

/* The same for a text and bytes that belong to it, such as a path and a build-id. */
uint32_t intern_pair(struct intern *all, const char *text, const void *bytes, size_t length);
uint32_t intern_find_pair(const struct intern *all, const char *text, const void *bytes, size_t length);

void intern_drop(struct intern *all);

#endif
