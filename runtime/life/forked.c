/*
 * A fork in a signal handler that interrupted a probe. The child goes on in the middle of that probe, which may have
 * read the addresses of its parent's chunk and ring, and may have claimed its room there. Neither is mapped in a child.
 */
#include "forked.h"

#include <string.h>
#include <sys/mman.h>

#include "chunk.h"
#include "levels/counts.h"
#include "osevents.h"
#include "record.h"
#include "sys.h"
#include "thread.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Maps memory there. False if something else is mapped in a part of it. */
static bool forked_map(char *at, size_t size)
{
    char *mapped = (char *)SYS6(mmap, at, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (sys_failed(mapped))
        return false;
    if (mapped == at)
        return true;
    sys_unmap(mapped, size); /* kernels before 4.17 take it for a hint */
    return false;
}

/* Maps memory there that is never read: the parent writes the record itself. A finished chunk may have lain where a
 * part of another one lies now. Then each page that is still free is mapped. */
static void forked_map_scrap(char *at, size_t size)
{
    if (forked_map(at, size))
        return;
    for (const char *end = at + size; at < end; at += PAGE)
        forked_map(at, PAGE);
}

void thread_forked(void)
{
    static const uint64_t nothing;
    struct thread *t = thread_self;
    if (!t || t->wiped->alive)
        return;
    /* If the handler's own calls filled the chunk, the interrupted probe's chunk is one of the finished ones. */
    for (int i = 0; i < CHUNKS_REMEMBERED; i++)
        if (t->chunks.last[i].at)
            forked_map_scrap(t->chunks.last[i].at, t->chunks.last[i].size);
    memset(t->chunks.last, 0, sizeof t->chunks.last);
    if (t->chunks.current)
        forked_map_scrap((char *)t->chunks.current, (size_t)(t->base + t->chunks.end - (char *)t->chunks.current));
    counts_forked(t);
    counts_each_old_page(t, forked_map_scrap);
    if (t->os_source.ring) {
        forked_map_scrap((char *)t->os_source.ring, os_ring_size);
        t->os.word = &nothing;
        t->os.seen = 0;
    }
    t->state += EXIT_BYTES; /* a probe that has not claimed yet starts over */
}
