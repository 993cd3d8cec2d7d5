/* Counts the ends of dlclose, and up to which of them the modules were visited. */
#include "levels/level_unloads.h"

#include "interposed.h"
#include "process.h"
#include "runtime.h"

static struct {
    uint32_t count;    /* of ends of dlclose */
    uint32_t visiting; /* `count` when the last visit began */
    uint32_t visited;  /* and at the beginning of the last complete one */
} unloads;

static uint32_t *level_unloads_closing(void)
{
    return &runtime.process->levels.unloads.closing;
}

bool level_unloads_are_known(void)
{
    return &dwell_interposed && !__atomic_load_n(level_unloads_closing(), __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&unloads.visited, __ATOMIC_ACQUIRE) == level_unloads();
}

uint32_t level_unloads(void)
{
    return __atomic_load_n(&unloads.count, __ATOMIC_ACQUIRE);
}

void level_unloads_confirm(uint32_t count)
{
    __atomic_store_n(&unloads.visited, count, __ATOMIC_RELEASE);
}

void level_unloads_visit(void)
{
    unloads.visiting = level_unloads();
}

void level_unloads_visited(void)
{
    level_unloads_confirm(unloads.visiting);
}

/* An end without its start: the process was forked meanwhile, or the call began before the recording. The end is
 * counted before the thread has left: at no time does neither show it. */
void level_unloads_note(bool now)
{
    uint32_t *const closing = level_unloads_closing();
    if (!now)
        __atomic_add_fetch(&unloads.count, 1, __ATOMIC_RELEASE);
    if (now || *closing)
        __atomic_add_fetch(closing, now ? 1u : -1u, __ATOMIC_RELEASE);
}

void level_unloads_forked(void)
{
    __atomic_add_fetch(&unloads.count, 1, __ATOMIC_RELEASE);
}
