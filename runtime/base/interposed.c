/* How the runtime finds the functions that it interposes. Not part of libdwell.a. */
#include "interposed.h"

#include <dlfcn.h>
#include <stddef.h>

const int dwell_interposed = 1;

extern const struct interposed __start_dwell_next[] __attribute__((visibility("hidden")));
extern const struct interposed __stop_dwell_next[] __attribute__((visibility("hidden")));

/* After process.c has set the process up. */
__attribute__((constructor(102))) static void interpose_find_all(void)
{
    for (const struct interposed *i = __start_dwell_next; i < __stop_dwell_next; i++)
        interpose_next(i->cache, i->name);
}

void *interpose_first(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

void *interpose_next(void **cache, const char *name)
{
    void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(cache, found, __ATOMIC_RELAXED);
    }
    return found;
}

INTERPOSED(sigaction);

int interpose_next_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return ((typeof(&sigaction))interpose_next(&next_sigaction, "sigaction"))(number, action, old);
}
