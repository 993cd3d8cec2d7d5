/*
 * Gives the space of ended processes to others. A service may fork any number of workers, each of which claims some
 * chunks. The recorder alone frees chunks of ended processes, unlinks their control chunks, and drops their windows. A
 * living process does so with its own windows.
 */
#include "recorder/keep_reclaim.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "offers.h"
#include "recorder/control_chunk.h"
#include "recorder/keep_drop.h"
#include "recorder/keep_rings.h"
#include "recorder/keep_space.h"
#include "trace/kept_calls.h"
#include "trace/session_file.h"

struct serials {
    uint32_t *list; /* sorted */
    size_t count, room;
};

struct offsets {
    uint64_t *list;
    size_t count, room;
};

/* A chunk of windows. */
struct reclaim_window {
    uint64_t end; /* ticks: of its events */
    uint64_t size;
};

struct reclaim {
    struct keep_reclaim *of;
    struct session_file *file;
    struct dwell_keep keep;       /* the settings */
    struct serials keeping, left; /* processes with windows; gone ones of which a chunk is left */
    struct offsets unneeded;      /* chunks of gone processes outside of windows; sorted */
    uint64_t unneeded_bytes;
    struct reclaim_window *windows;
    size_t window_count, window_room;
    struct keep_space space;
};

static bool serials_have(const struct serials *s, uint32_t serial)
{
    return s->count && bsearch(&serial, s->list, s->count, sizeof serial, compare_numbers_32);
}

static void serials_add(struct serials *s, uint32_t serial)
{
    GROW(s->list, s->count, s->room);
    s->list[s->count++] = serial;
}

static void serials_sort(struct serials *s)
{
    size_t kept = 0;
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, compare_numbers_32);
    for (size_t i = 0; i < s->count; i++)
        if (kept == 0 || s->list[kept - 1] != s->list[i])
            s->list[kept++] = s->list[i];
    s->count = kept;
}

static bool reclaim_has_gone(const struct reclaim *r, uint32_t process)
{
    const struct serials gone = { r->of->gone, r->of->gone_count, 0 };
    return process && serials_have(&gone, process);
}

/* Nothing of the process stays. */
static bool reclaim_drops(const struct reclaim *r, uint32_t process)
{
    return reclaim_has_gone(r, process) && !serials_have(&r->keeping, process);
}

/* ---- what windows have ---- */

static void reclaim_judge_chunk(struct reclaim *r, const struct trace_chunk *chunk, uint64_t end,
                                const struct kept_window *windows, size_t count)
{
    const struct kept_window range = { chunk->process, chunk->start_time, end };
    if (kept_windows_cover(windows, count, &range)) {
        if (r->keep.flags & DWELL_KEEP_OTHERS) /* the window may be another process' */
            serials_add(&r->keeping, chunk->process);
        GROW(r->windows, r->window_count, r->window_room);
        r->windows[r->window_count++] = (struct reclaim_window){ end, chunk->size };
    } else if (reclaim_has_gone(r, chunk->process)) {
        GROW(r->unneeded.list, r->unneeded.count, r->unneeded.room);
        r->unneeded.list[r->unneeded.count++] = chunk->offset;
        r->unneeded_bytes += chunk->size;
    }
}

static void reclaim_judge_chunks(struct reclaim *r)
{
    size_t count;
    r->window_count = r->unneeded.count = r->unneeded_bytes = 0;
    struct kept_window *windows = kept_windows(&r->file->kept, &r->keep, &count);
    struct keep_rings rings = keep_rings_find(r->file, true), values = keep_rings_of_values(r->file);
    for (size_t i = 0; i < rings.count; i++) {
        rings.live = !reclaim_has_gone(r, rings.list[i]->process);
        reclaim_judge_chunk(r, rings.list[i], keep_rings_end(r->file, &rings, i), windows, count);
    }
    for (size_t i = 0; i < values.count; i++)
        reclaim_judge_chunk(r, values.list[i], keep_values_end(&values, i), windows, count);
    keep_rings_free(&rings);
    keep_rings_free(&values);
    free(windows);
    serials_sort(&r->keeping);
    if (r->unneeded.count)
        qsort(r->unneeded.list, r->unneeded.count, sizeof *r->unneeded.list, compare_numbers);
}

static void reclaim_find_keeping(struct reclaim *r)
{
    r->keeping.count = 0;
    for (size_t i = 0; i < r->file->kept.count; i++)
        serials_add(&r->keeping, r->file->kept.calls[i].process);
    serials_sort(&r->keeping);
}

/* ---- control chunks ---- */

/* Takes those of dropped processes out of the session's list. New ones are added at its beginning. The process watch
 * walks from there up to the latest chunk that it has visited, so that one stays, and so does the first. */
static void reclaim_unlink_controls(struct reclaim *r)
{
    const struct session *session = r->of->session;
    const uint64_t visited = __atomic_load_n(&r->of->watch->visited, __ATOMIC_ACQUIRE);
    struct control_walk walk = control_walk_begin(__atomic_load_n(&session->header->first_control, __ATOMIC_ACQUIRE));
    uint64_t before = 0;
    while (walk.at) {
        struct dwell_control c;
        const size_t head = offsetof(struct dwell_control, text);
        const uint64_t at = walk.at;
        if (pread(r->of->fd, &c, head, (off_t)at) != (ssize_t)head || c.chunk.kind != DWELL_CHUNK_CONTROL)
            break;
        control_walk_on(&walk, c.next);
        const bool drops = reclaim_drops(r, c.chunk.process);
        const off_t link = (off_t)(before + offsetof(struct dwell_control, next));
        if (drops && before && at != visited && pwrite(r->of->fd, &c.next, sizeof c.next, link) == sizeof c.next) {
            keep_space_free(&r->space, at, DWELL_UNIT);
            continue;
        }
        if (drops)
            serials_add(&r->left, c.chunk.process);
        before = at;
    }
    serials_sort(&r->left);
}

/* Living processes give up the windows that make room. */
static void reclaim_wake_all(const struct reclaim *r)
{
    struct control_walk walk =
        control_walk_begin(__atomic_load_n(&r->of->session->header->first_control, __ATOMIC_ACQUIRE));
    for (struct dwell_control *control; (control = control_chunk_next(r->of->fd, &walk));) {
        if (!reclaim_has_gone(r, control->chunk.process))
            control_chunk_wake(control);
        munmap(control, DWELL_UNIT);
    }
}

/* ---- ends of processes ---- */

/* Offset of the chunk that gets the next one, or zero. */
static uint64_t reclaim_ends_at(struct process_watch *w)
{
    pthread_mutex_lock(&w->lock);
    const uint64_t at = finish_ends_at(w->ends);
    pthread_mutex_unlock(&w->lock);
    return at;
}

/* Whether a chunk of the recorder has only the ends of processes that the session does not have any more. */
static bool reclaim_is_of_dropped(const struct reclaim *r, const struct trace_chunk *chunk)
{
    uint8_t bytes[DWELL_UNIT];
    uint32_t at = sizeof(struct dwell_chunk_header);
    struct dwell_record head;
    if (chunk->size != sizeof bytes || chunk->offset == reclaim_ends_at(r->of->watch) ||
        pread(r->of->fd, bytes, sizeof bytes, (off_t)chunk->offset) != (ssize_t)sizeof bytes)
        return false;
    for (; at + sizeof head <= sizeof bytes; at += head.size) {
        uint32_t process;
        memcpy(&head, bytes + at, sizeof head);
        if (head.type == 0)
            break;
        if ((head.type != DWELL_REC_PROCESS_END && head.type != DWELL_REC_PROCESS_CPU) ||
            head.size < sizeof head + sizeof process || head.size > sizeof bytes - at)
            return false;
        memcpy(&process, bytes + at + sizeof head, sizeof process);
        if (process == 0 || keep_space_has_process(&r->space, process))
            return false;
    }
    return at > sizeof(struct dwell_chunk_header);
}

/* ---- the file ---- */

static bool reclaim_frees(const struct reclaim *r, const struct trace_chunk *chunk)
{
    if (chunk->kind == DWELL_CHUNK_CONTROL)
        return false; /* unless it has been unlinked */
    if (chunk->process == 0)
        return chunk->kind == DWELL_CHUNK_METADATA && reclaim_is_of_dropped(r, chunk);
    return (reclaim_drops(r, chunk->process) && !serials_have(&r->left, chunk->process)) ||
           (r->unneeded.count &&
            bsearch(&chunk->offset, r->unneeded.list, r->unneeded.count, sizeof chunk->offset, compare_numbers));
}

static void reclaim_free_chunks(struct reclaim *r)
{
    for (size_t i = 0; i < r->file->chunk_count; i++) {
        const struct trace_chunk *chunk = &r->file->chunks[i];
        if (chunk->process && !reclaim_drops(r, chunk->process))
            keep_space_add_process(&r->space, chunk->process);
    }
    keep_space_sort_processes(&r->space);
    for (size_t i = 0; i < r->file->chunk_count; i++)
        if (reclaim_frees(r, &r->file->chunks[i]))
            keep_space_free_chunk(&r->space, r->file->chunks[i].offset);
}

/* ---- windows that make room ---- */

/* Bytes that can be claimed. Chunks that are too small to be offered do not count: when more windows are dropped, they
 * get neighbours. */
static uint64_t reclaim_available(const struct keep_reclaim *of)
{
    const struct dwell_file_header *h = of->session->header;
    const uint64_t cursor = __atomic_load_n(&h->cursor, __ATOMIC_RELAXED), free = session_more(of->session)->free_bytes;
    return h->max_size - smaller(cursor, h->max_size) + free - smaller(of->crumbs, free);
}

static int reclaim_compare_windows(const void *a, const void *b)
{
    const struct reclaim_window *x = a, *y = b;
    return ORDER_BY(x, y, end, size);
}

static uint64_t reclaim_window_bytes(const struct reclaim *r)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->window_count; i++)
        bytes += r->windows[i].size;
    return bytes;
}

/* Up to which time windows are to make room; zero if none has to. Some windows stay, whatever else takes the space. A
 * process that is alone makes room by itself, when it needs some. */
static uint64_t reclaim_choose_time(struct reclaim *r)
{
    const uint64_t size = r->of->session->header->max_size, all = reclaim_window_bytes(r);
    const uint64_t wanted = size / 4, available = reclaim_available(r->of) + r->unneeded_bytes, stay = size / 16;
    uint64_t bytes = 0, until = 0;
    if (available >= wanted || r->file->process_count < 2 || all <= stay)
        return 0;
    qsort(r->windows, r->window_count, sizeof *r->windows, reclaim_compare_windows);
    for (size_t i = 0; available + bytes < wanted && bytes < all - stay && r->windows[i].end != UINT64_MAX; i++) {
        until = r->windows[i].end;
        bytes += r->windows[i].size;
    }
    return until;
}

static bool reclaim_ended(const void *of, uint32_t process)
{
    return reclaim_has_gone(of, process);
}

/* A process may have ended before it gave up the windows that had to make room. So this is done at each look. */
static void reclaim_make_room(struct reclaim *r)
{
    uint64_t *room_until = &session_more(r->of->session)->room_until;
    const uint64_t before = *room_until, until = larger(reclaim_choose_time(r), before);
    if (until == 0)
        return;
    __atomic_store_n(room_until, until, __ATOMIC_RELEASE);
    const struct keep_drop drop = { r->of->session, r->of->fd, &r->keep, until, reclaim_ended, r };
    keep_drop_calls(&drop, r->file);
    reclaim_find_keeping(r);
    reclaim_judge_chunks(r);
    if (until > before)
        reclaim_wake_all(r);
}

/* ---- all of it ---- */

/* Forgets the processes of which nothing is left. */
static void reclaim_forget(struct reclaim *r)
{
    struct keep_reclaim *of = r->of;
    size_t kept = 0;
    for (size_t i = 0; i < of->gone_count; i++)
        if (serials_have(&r->keeping, of->gone[i]) || serials_have(&r->left, of->gone[i]))
            of->gone[kept++] = of->gone[i];
    __atomic_fetch_add(&session_more(of->session)->dropped_processes, of->gone_count - kept, __ATOMIC_RELAXED);
    of->gone_count = kept;
}

static void reclaim_run(struct reclaim *r, bool newest)
{
    const struct serials gone = { r->of->gone, r->of->gone_count, 0 };
    reclaim_find_keeping(r);
    reclaim_judge_chunks(r);
    if (newest)
        reclaim_make_room(r);
    keep_space_begin(&r->space, r->of->session, r->of->fd, gone.list, gone.count);
    reclaim_unlink_controls(r);
    reclaim_free_chunks(r);
    r->of->crumbs = keep_space_offer(&r->space);
    reclaim_forget(r);
}

void keep_reclaim(struct keep_reclaim *of)
{
    const char *error;
    gone_processes_take(&of->watch->gone, &of->gone, &of->gone_count, &of->gone_room);
    if (of->gone_count)
        qsort(of->gone, of->gone_count, sizeof *of->gone, compare_numbers_32);
    struct session_file *file = session_file_open_late(of->path, &error);
    if (!file)
        return;
    struct reclaim r = { .of = of, .file = file };
    if (session_is_whole(of->session) && kept_settings_read(file, &r.keep))
        reclaim_run(&r, of->session->header->max_size && r.keep.flags & DWELL_KEEP_NEWEST);
    keep_space_end(&r.space);
    free(r.keeping.list);
    free(r.left.list);
    free(r.unneeded.list);
    free(r.windows);
    session_file_close(file);
}

void keep_reclaim_offer(struct keep_reclaim *of)
{
    struct keep_space space;
    if (session_is_whole(of->session)) {
        keep_space_begin(&space, of->session, of->fd, NULL, 0);
        of->crumbs = keep_space_offer(&space);
        keep_space_end(&space);
    }
}

bool keep_reclaim_is_due(const struct session *session)
{
    enum { LARGE = 64 << 20 }; /* without a maximum size */
    const struct dwell_file_header *h = session->header;
    const uint64_t cursor = __atomic_load_n(&h->cursor, __ATOMIC_RELAXED), free = session_more(session)->free_bytes;
    return cursor - smaller(free, cursor) > (h->max_size ? h->max_size / 2 : LARGE);
}

void keep_reclaim_end(struct keep_reclaim *r)
{
    free(r->gone);
}
