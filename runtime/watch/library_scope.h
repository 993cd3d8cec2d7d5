/* All modules of the process, for the names that a module which was loaded later has not looked up yet. Not part of
 * libdwell.a. */
#ifndef DWELL_WATCH_LIBRARY_SCOPE_H
#define DWELL_WATCH_LIBRARY_SCOPE_H

#include <link.h>

#include "common.h"
#include "levels/module_slots.h"

#pragma GCC visibility push(hidden)

enum { LIBRARY_MODULES = 1024 };

struct library_scope {
    uint32_t count, begun; /* the first ones were there as the process began: they stay */
    bool more;             /* modules than these */
    struct dl_phdr_info modules[LIBRARY_MODULES];
    uint8_t linked[LIBRARY_MODULES]; /* what library_scope_use has found */
};

/* In a walk of the loader's list: the scope is valid as long as that. */
void library_scope_take(struct library_scope *scope, uint32_t begun);

/* Names are those that the module of that index uses. */
void library_scope_use(struct library_scope *scope, uint32_t index);

/* The function that the loader would find for such a name. `in` is its module. Zero if there is none, if several may be
 * meant, or if its library may go before the module does. */
struct module_function library_scope_find(const struct library_scope *scope, const char *name, const char *version,
                                          const struct dl_phdr_info **in);

#pragma GCC visibility pop

#endif
