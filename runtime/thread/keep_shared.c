/*
 * Windows that all processes keep. The list is in memory that processes share, any of which may be killed while it
 * writes. So there is no lock: a window is read again if it has changed meanwhile, and one that is half written covers
 * nothing. What makes place for others is covered by one time, up to which all may belong to a window.
 */
#include "keep_shared.h"

#include "dwell/format.h"
#include "runtime.h"

static void keep_shared_raise(uint64_t *time, uint64_t to)
{
    uint64_t before = __atomic_load_n(time, __ATOMIC_RELAXED);
    while (before < to && !__atomic_compare_exchange_n(time, &before, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

/* Makes the last window longer, if the new one begins in it. */
static bool keep_shared_extend(struct dwell_file_more *more, uint64_t begin, uint64_t end)
{
    const uint64_t count = __atomic_load_n(&more->shared_count, __ATOMIC_ACQUIRE);
    if (!count)
        return false;
    struct dwell_shared_window *last = &more->shared[(count - 1) % DWELL_SHARED_WINDOWS];
    const uint64_t last_begin = __atomic_load_n(&last->begin, __ATOMIC_ACQUIRE);
    if (begin < last_begin || begin > __atomic_load_n(&last->end, __ATOMIC_RELAXED))
        return false;
    keep_shared_raise(&last->end, end);
    return __atomic_load_n(&last->begin, __ATOMIC_ACQUIRE) == last_begin;
}

void keep_shared_add(uint64_t begin, uint64_t end)
{
    struct dwell_file_more *more = session_more(&runtime.session);
    if (keep_shared_extend(more, begin, end))
        return;
    const uint64_t count = __atomic_fetch_add(&more->shared_count, 1, __ATOMIC_ACQ_REL);
    struct dwell_shared_window *window = &more->shared[count % DWELL_SHARED_WINDOWS];
    if (count >= DWELL_SHARED_WINDOWS)
        keep_shared_raise(&more->shared_forgotten, __atomic_load_n(&window->end, __ATOMIC_RELAXED));
    __atomic_store_n(&window->begin, UINT64_MAX, __ATOMIC_RELEASE);
    __atomic_store_n(&window->end, end, __ATOMIC_RELEASE);
    __atomic_store_n(&window->begin, begin, __ATOMIC_RELEASE);
}

static bool keep_shared_overlaps(const struct dwell_shared_window *window, uint64_t begin, uint64_t end)
{
    uint64_t from, to;
    do {
        from = __atomic_load_n(&window->begin, __ATOMIC_ACQUIRE);
        to = __atomic_load_n(&window->end, __ATOMIC_ACQUIRE);
    } while (__atomic_load_n(&window->begin, __ATOMIC_ACQUIRE) != from);
    return begin <= to && end >= from;
}

bool keep_shared_cover(uint64_t begin, uint64_t end)
{
    const struct dwell_file_more *more = session_more(&runtime.session);
    const uint64_t count = __atomic_load_n(&more->shared_count, __ATOMIC_ACQUIRE);
    const uint64_t known = count < DWELL_SHARED_WINDOWS ? count : DWELL_SHARED_WINDOWS;
    bool covers = begin <= __atomic_load_n(&more->shared_forgotten, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < known && !covers; i++)
        covers = keep_shared_overlaps(&more->shared[i], begin, end);
    return covers;
}
