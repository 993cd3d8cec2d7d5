/*
 * libgcc's unwinder asks for the description of each frame by a function that it calls by name. The answer for near
 * code (levels/near_frames.h) comes from here, and each other one from libgcc. An exception, a backtrace, or the end of
 * a cancelled thread may come in a signal handler that has interrupted near code.
 *
 * A signal handler may unwind while the loader's lock is held. So the next function is found without it. glibc loads
 * libgcc for itself, outside of the usual order of search, when a C program first takes a backtrace: the function that
 * is asked is that of the library that asks.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

#include "common.h"
#include "interposed.h"
#include "levels/near_frames.h"
#include "loaded.h"

enum { SAME_LIBRARY = 1 << 20 }; /* bytes; libgcc_s has a tenth of that */

struct frame_bases {
    void *text, *data, *function;
};

typedef const void *find_frame(void *address, struct frame_bases *bases);

INTERPOSED(_Unwind_Find_FDE);
#if __GLIBC_PREREQ(2, 35)
INTERPOSED(_dl_find_object); /* takes no lock */
#endif

static find_frame *frames_known; /* the function that was asked last */

static bool frames_are_near(const void *one, uint64_t other)
{
    return (uint64_t)one - other + SAME_LIBRARY < 2 * (uint64_t)SAME_LIBRARY;
}

static find_frame *frames_of_library(const struct link_map *map)
{
    if (!map || map->l_ld == _DYNAMIC)
        return NULL;
    const struct loaded l = loaded_read(map);
    return (find_frame *)loaded_function(&l, "_Unwind_Find_FDE");
}

static find_frame *frames_of_caller(uint64_t caller)
{
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object object;
    if (next__dl_find_object && ((typeof(&_dl_find_object))next__dl_find_object)((void *)caller, &object) == 0)
        return frames_of_library(object.dlfo_link_map);
#endif
    for (const struct link_map *map = loaded_maps(); map; map = map->l_next) {
        find_frame *found = frames_of_library(map);
        if (found && frames_are_near((void *)found, caller))
            return found;
    }
    return NULL;
}

static find_frame *frames_next(uint64_t caller)
{
    find_frame *next = (find_frame *)next__Unwind_Find_FDE;
    if (next && frames_are_near((void *)next, caller))
        return next;
    find_frame *known = __atomic_load_n(&frames_known, __ATOMIC_RELAXED);
    if (known && frames_are_near((void *)known, caller))
        return known;
    known = frames_of_caller(caller);
    if (!known)
        return next;
    __atomic_store_n(&frames_known, known, __ATOMIC_RELAXED);
    return known;
}

DWELL_EXPORT const void *_Unwind_Find_FDE(void *address, struct frame_bases *bases);

DWELL_EXPORT const void *_Unwind_Find_FDE(void *address, struct frame_bases *bases)
{
    find_frame *next = frames_next((uint64_t)__builtin_return_address(0));
    const void *found = next ? next(address, bases) : NULL;
    uint64_t begin;
    if (found || !(found = near_frames_find((uint64_t)address, &begin)))
        return found;
    *bases = (struct frame_bases){ .function = (void *)begin };
    return found;
}
