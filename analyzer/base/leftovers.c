/* Remembers unfinished files, and removes them at exit. */
#include "base/leftovers.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

struct leftover {
    struct leftover *next;
    const char *path;
};

static struct leftover *leftovers;
static pid_t leftovers_owner;

static void leftovers_remove(void)
{
    for (const struct leftover *l = leftovers; l && getpid() == leftovers_owner; l = l->next)
        unlink(l->path);
}

void leftover_add(const char *path)
{
    struct leftover *l = need_memory(1, sizeof *l);
    *l = (struct leftover){ leftovers, path };
    leftovers = l;
    if (!leftovers_owner)
        atexit(leftovers_remove);
    leftovers_owner = getpid();
}

void leftover_forget(const char *path)
{
    for (struct leftover **at = &leftovers; *at; at = &(*at)->next) {
        struct leftover *l = *at;
        if (l->path != path)
            continue;
        *at = l->next;
        free(l);
        return;
    }
}
