/*
 * Where the loader lets a module's calls of the probes go. libc has empty functions of their names. They come first for
 * a library that is loaded with RTLD_DEEPBIND, and they are the only ones in a namespace of dlmopen. The slots of such
 * a module get the addresses of the probes instead.
 */
#ifndef DWELL_BINDING_H
#define DWELL_BINDING_H

#include <link.h>

#include "common.h"

#pragma GCC visibility push(hidden)

/* A library is about to be loaded that may call libc's functions. */
void binding_expect(void);

/* Searches all modules for the name of the enter probe. */
void binding_search(void);

/* Whether slots of modules have to be changed. */
bool binding_is_needed(void);

/* What is known of a module. Zeros to begin with. */
struct binding_state {
    bool filled; /* the loader has filled its slots */
    bool bound;  /* they lead to the probes, where that was needed */
};

/* Looks at a module, if that is still to be done. `path_at` finds the path of the module at an address. In a walk of
 * the loader's list, with signals held back. False if the loader, in another thread, has yet to fill the module's
 * slots: then look again later. */
bool binding_look(struct binding_state *state, const struct dl_phdr_info *info, struct text path,
                  struct text (*path_at)(uint64_t address));

#pragma GCC visibility pop

#endif
