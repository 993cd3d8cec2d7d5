/* Space of the session file that is used again. */
#include "spare.h"

#include <string.h>

#include "guard.h"
#include "lock.h"
#include "offers.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"
#include "upward.h"

enum { SPARE_FIRST = 64 };

/* ---- lists ---- */

static void spare_add(struct spare_list *list, struct spare_chunk chunk)
{
    if (list->end == list->room && list->first > list->room / 2) {
        memmove(list->chunks, list->chunks + list->first, (list->end - list->first) * sizeof chunk);
        list->end -= list->first;
        list->first = 0;
    }
    if (list->end == list->room) {
        void *grown = sys_grow(list->chunks, &list->room, sizeof chunk, SPARE_FIRST);
        if (!grown)
            return; /* its space is not used again */
        list->chunks = grown;
    }
    list->chunks[list->end++] = chunk;
    if (chunk.size > list->largest)
        list->largest = chunk.size;
}

/* The first chunk of that size; `end` if there is none. */
static uint32_t spare_find(const struct spare_list *list, uint32_t size)
{
    uint32_t i = size > list->largest ? list->end : list->first;
    while (i < list->end && list->chunks[i].size < size)
        i++;
    return i;
}

/* A size of zero: there is none. */
static struct spare_chunk spare_take(struct spare_list *list, uint32_t size)
{
    struct spare_chunk chunk = { .size = 0 };
    lock_take(&runtime.process->spare.lock);
    const uint32_t i = spare_find(list, size);
    if (i < list->end) {
        chunk = list->chunks[i];
        memmove(list->chunks + list->first + 1, list->chunks + list->first, (i - list->first) * sizeof chunk);
        list->first++;
    }
    lock_release(&runtime.process->spare.lock);
    return chunk;
}

/* ---- chunks ---- */

static void spare_unmap(struct spare_list *list, char *at, uint64_t until)
{
    const struct spare_chunk chunk = { guard_offset(at), until, guard_size(at) };
    session_unmap(at, chunk.size);
    if (!list || !chunk.size)
        return;
    lock_take(&runtime.process->spare.lock);
    spare_add(list, chunk);
    lock_release(&runtime.process->spare.lock);
}

void spare_unmap_free(char *at)
{
    spare_unmap(runtime.mode == DWELL_MODE_RING ? &runtime.process->spare.free : NULL, at, 0);
}

void spare_unmap_window(char *at, uint64_t until)
{
    spare_unmap(runtime.makes_room ? &runtime.process->spare.windows : NULL, at, until);
}

static struct area spare_map(int fd, const struct spare_chunk *chunk)
{
    struct area area = { NULL, chunk->size };
    if (chunk->size)
        area.at = session_map(&runtime.session, fd, chunk->offset, chunk->size);
    return area;
}

struct area spare_take_free(int fd, uint32_t size)
{
    const struct spare_chunk chunk = spare_take(&runtime.process->spare.free, size);
    return spare_map(fd, &chunk);
}

struct area spare_take_window(int fd, uint32_t size)
{
    const struct spare_chunk chunk = spare_take(&runtime.process->spare.windows, size);
    if (chunk.size)
        upward.drop_windows(chunk.until);
    return spare_map(fd, &chunk);
}

bool spare_has_window(uint32_t size)
{
    struct process_spare *spare = &runtime.process->spare;
    lock_take(&spare->lock);
    const bool has = spare_find(&spare->windows, size) < spare->windows.end;
    lock_release(&spare->lock);
    return has;
}

/* Takes some chunks with events up to that time at most. */
static uint32_t spare_take_until(uint64_t until, struct spare_chunk *taken, uint32_t most)
{
    struct spare_list *list = &runtime.process->spare.windows;
    uint32_t count = 0, to = list->first;
    lock_take(&runtime.process->spare.lock);
    for (uint32_t i = list->first; i < list->end; i++)
        if (list->chunks[i].until <= until && count < most)
            taken[count++] = list->chunks[i];
        else
            list->chunks[to++] = list->chunks[i];
    list->end = to;
    lock_release(&runtime.process->spare.lock);
    return count;
}

void spare_release_windows(int fd)
{
    enum { AT_ONCE = 32 };
    const uint64_t until = __atomic_load_n(&session_more(&runtime.session)->room_until, __ATOMIC_ACQUIRE);
    if (!runtime.makes_room || __atomic_load_n(&runtime.process->spare.released, __ATOMIC_RELAXED) >= until)
        return;
    __atomic_store_n(&runtime.process->spare.released, until, __ATOMIC_RELAXED);
    upward.drop_windows(until);
    struct spare_chunk taken[AT_ONCE];
    for (uint32_t count; (count = spare_take_until(until, taken, AT_ONCE)) > 0;)
        for (uint32_t i = 0; i < count; i++)
            offers_write_free(fd, taken[i].offset, taken[i].size, 0);
}
