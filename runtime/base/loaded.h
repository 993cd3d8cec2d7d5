/*
 * The loader's list of libraries, read without its lock and without libc. A library that is just being loaded or
 * unloaded may be missing, or may be there too long: for use while the program starts, and for libraries that stay.
 */
#ifndef DWELL_LOADED_H
#define DWELL_LOADED_H

#include <link.h>

#include "common.h"

#pragma GCC visibility push(hidden)

/* The tables of a program or library. Those that it lacks are NULL. */
struct loaded {
    uint64_t base;
    const char *names, *soname; /* soname is never NULL */
    const ElfW(Sym) * symbols;
    const ElfW(Half) * versions;
    const uint32_t *hash;     /* DT_GNU_HASH */
    const uint32_t *old_hash; /* DT_HASH */
};

struct loaded loaded_read(const struct link_map *map);

/* The default version of a function that the library has. NULL if it has none of that name, or lacks a table. */
void *loaded_function(const struct loaded *l, const char *name);

/* The libraries of the namespace that this code was loaded into, the program first. NULL in a static program. */
const struct link_map *loaded_maps(void);

/* Whether the program or a library needs a probe or another function of the runtime. */
bool loaded_need_runtime(void);

#pragma GCC visibility pop

#endif
