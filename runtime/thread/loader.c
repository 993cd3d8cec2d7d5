/* Walks of the loader's list, and forks: they exclude each other. */
#include "loader.h"

#include <string.h>

#include "lock.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

enum {
    WALK_PATIENCE = 20, /* milliseconds; a handler of pthread_atfork may wait for something that the walker holds */
    FORK_PATIENCE = 2000
};

static struct process_loader *loader_state(void)
{
    return &runtime.process->loader;
}

/* Takes the lock once nobody is counted there. False, without the lock, if that is not so for that long. */
static bool loader_lock_without(const uint32_t *others, int patience)
{
    lock_take(&loader_state()->lock);
    for (int i = 0; __atomic_load_n(others, __ATOMIC_ACQUIRE); i++) {
        lock_release(&loader_state()->lock);
        if (i == patience)
            return false;
        sys_sleep_a_millisecond();
        lock_take(&loader_state()->lock);
    }
    return true;
}

#pragma weak _r_debug /* the loader's, where there is one */

bool loader_is_busy(void)
{
    return &_r_debug && __atomic_load_n(&_r_debug.r_state, __ATOMIC_ACQUIRE) != RT_CONSISTENT;
}

#if __GLIBC_PREREQ(2, 35)
#pragma weak _dl_find_object

static void loader_visit_one(const struct link_map *map, loader_visitor *visit, void *data)
{
    struct dl_find_object found;
    if (!map->l_ld || _dl_find_object(map->l_ld, &found) != 0)
        return;
    const ElfW(Ehdr) *header = found.dlfo_map_start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return;
    struct dl_phdr_info info = {
        .dlpi_addr = map->l_addr,
        .dlpi_name = map->l_name,
        .dlpi_phdr = (const ElfW(Phdr) *)((const char *)header + header->e_phoff),
        .dlpi_phnum = header->e_phnum,
    };
    visit(&info, sizeof info, data);
}

void loader_visit_namespaces(loader_visitor *visit, void *data)
{
    if (!&_r_debug || !&_dl_find_object || _r_debug.r_version < 2)
        return;
    const struct r_debug_extended *space = (const struct r_debug_extended *)&_r_debug;
    while ((space = space->r_next))
        for (const struct link_map *map = space->base.r_map; map; map = map->l_next)
            loader_visit_one(map, visit, data);
}
#else
void loader_visit_namespaces(loader_visitor *visit, void *data)
{
    (void)visit, (void)data;
}
#endif

bool loader_walk(loader_visitor *visit, void *data, bool may_wait)
{
    struct process_loader *l = loader_state();
    if (!loader_lock_without(&l->forking, may_wait ? WALK_PATIENCE : 0))
        return false;
    __atomic_add_fetch(&l->walking, 1, __ATOMIC_RELAXED);
    lock_release(&l->lock);
    dl_iterate_phdr(visit, data);
    __atomic_sub_fetch(&l->walking, 1, __ATOMIC_RELEASE);
    return true;
}

void loader_forking(bool now)
{
    struct process_loader *l = loader_state();
    const uint64_t mask = sys_block_signals();
    lock_take(&l->lock);
    __atomic_add_fetch(&l->forking, now ? 1u : -1u, __ATOMIC_RELEASE);
    lock_release(&l->lock);
    if (now && loader_lock_without(&l->walking, FORK_PATIENCE))
        lock_release(&l->lock);
    sys_restore_signals(mask);
}
