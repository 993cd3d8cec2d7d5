/* Removes the chunks outside of windows: those that were in the rings when the program ended. */
#include "recorder/keep_trim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "session_lock.h"
#include "trace/chunk_window.h"
#include "trace/kept_calls.h"
#include "trace/session_file.h"

/* The chunks of rings, by thread and number. */
struct keep_ring_chunks {
    const struct trace_chunk **list;
    size_t count;
};

static int keep_compare_chunks(const void *a, const void *b)
{
    const struct trace_chunk *x = *(const struct trace_chunk *const *)a, *y = *(const struct trace_chunk *const *)b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static struct keep_ring_chunks keep_find_chunks(const struct session_file *file)
{
    struct keep_ring_chunks r = { need_memory(file->chunk_count, sizeof *r.list), 0 };
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_EVENTS || file->chunks[i].kind == DWELL_CHUNK_TRACE_EVENTS)
            r.list[r.count++] = &file->chunks[i];
    if (r.count)
        qsort(r.list, r.count, sizeof *r.list, keep_compare_chunks);
    return r;
}

/* The time of a chunk's last event. */
static uint64_t keep_last_event(const struct session_file *file, const struct trace_chunk *chunk,
                                struct chunk_window *w)
{
    struct decoder d;
    if (chunk->kind != DWELL_CHUNK_EVENTS || !window_begin(w, file, chunk, &d))
        return UINT64_MAX;
    do
        while (decode_next(&d) != DECODED_END)
            d.has_extras = false;
    while (window_more(w, &d));
    return d.time;
}

/* Events of a thread lie in a chunk up to where the next one begins. */
static uint64_t keep_end_of(const struct session_file *file, const struct keep_ring_chunks *r, size_t i,
                            struct chunk_window *w)
{
    const struct trace_chunk *chunk = r->list[i], *next = i + 1 < r->count ? r->list[i + 1] : NULL;
    if (next && next->kind == chunk->kind && next->thread == chunk->thread && next->sequence == chunk->sequence + 1)
        return next->start_time;
    return keep_last_event(file, chunk, w);
}

static void keep_free_chunk(int fd, const struct trace_chunk *chunk)
{
    const struct dwell_chunk_header nothing = { .magic = DWELL_CHUNK_MAGIC, .size = chunk->size };
    if (pwrite(fd, &nothing, sizeof nothing, (off_t)chunk->offset) == (ssize_t)sizeof nothing)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(chunk->offset + sizeof nothing),
                  (off_t)(chunk->size - sizeof nothing));
}

void keep_trim(const struct session *session, int fd, const char *path)
{
    const char *error;
    struct dwell_keep keep;
    if (!session_more(session)->keep || session_has_other_writers(fd))
        return;
    struct session_file *file = session_file_open(path, &error);
    if (!file)
        return;
    if (kept_settings_read(file, &keep)) {
        size_t count;
        struct kept_window *windows = kept_windows(&file->kept, keep.around, &count);
        struct keep_ring_chunks r = keep_find_chunks(file);
        struct chunk_window window = { .buffer = NULL };
        for (size_t i = 0; i < r.count; i++) {
            const struct trace_chunk *chunk = r.list[i];
            const struct kept_window range = { chunk->process, chunk->start_time, keep_end_of(file, &r, i, &window) };
            if (!kept_windows_cover(windows, count, &range))
                keep_free_chunk(fd, chunk);
        }
        window_free(&window);
        free(r.list);
        free(windows);
    }
    session_file_close(file);
}
