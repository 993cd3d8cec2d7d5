/* Filters the events of all threads of a session by several workers, and keeps the result in a temporary file. */
#include "trace/filtered_session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/sorted.h"
#include "trace/chunk_order.h"
#include "trace/chunk_window.h"
#include "trace/counted_calls.h"

/* The chunks of one thread, one after the other in filtered.sorted. */
struct filtered_lane {
    size_t first, count;
};

struct filtered_worker {
    struct filtered *all;
    struct trace_chunk *chunks; /* that it has written */
    size_t count, room;
    uint64_t damaged_chunks;
    pthread_t thread;
};

struct filtered {
    struct session_file *file;
    const struct stream_filter *filter;
    struct trace_chunk *sorted;
    struct filtered_lane *lanes;
    size_t lane_count, next_lane; /* shared by the workers, as are: */
    uint64_t end;                 /* of the temporary file */
    int reason;                   /* errno of a write that failed, or zero */
    int fd;
};

/* ---- the temporary file ---- */

/* It has no name, so it vanishes with the program. */
static int filtered_open_file(void)
{
    const char *const folders[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const int fd = folders[i] ? open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
        if (fd >= 0)
            return fd;
    }
    FILE *file = tmpfile();
    const int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
    const int reason = errno;
    if (file)
        fclose(file);
    errno = reason;
    return fd;
}

static int filtered_write(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        const ssize_t written = pwrite(fd, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        bytes += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return 0;
}

static bool filtered_take_chunk(void *context, const struct trace_chunk *chunk, const uint8_t *bytes)
{
    struct filtered_worker *w = context;
    const uint64_t offset = __atomic_fetch_add(&w->all->end, chunk->size, __ATOMIC_RELAXED);
    const int reason = filtered_write(w->all->fd, bytes, chunk->size, offset);
    if (reason)
        __atomic_store_n(&w->all->reason, reason, __ATOMIC_RELAXED);
    GROW(w->chunks, w->count, w->room);
    w->chunks[w->count] = *chunk;
    w->chunks[w->count].offset = offset;
    w->chunks[w->count++].filtered = true;
    return !__atomic_load_n(&w->all->reason, __ATOMIC_RELAXED);
}

/* ---- counted calls ---- */

/* Functions are left out; nothing else is known of such calls. */
static void filtered_write_counts(struct filtered *all, struct trace_chunk *chunk)
{
    struct dwell_count *list;
    const size_t count = counts_read(all->file, chunk, &list);
    if (!list)
        return;
    struct dwell_chunk_header head = { .magic = DWELL_CHUNK_MAGIC,
                                       .kind = chunk->kind,
                                       .thread = chunk->thread,
                                       .sequence = chunk->sequence,
                                       .depth = chunk->depth };
    for (size_t i = 0; i < count; i++)
        if (all->filter->judge &&
            all->filter->judge(all->filter->context, chunk->process, list[i].function, chunk->start_time) != CALL_SHOWN)
            list[i].function = 0;
    const uint64_t offset = all->end;
    all->end += sizeof head + count * sizeof *list;
    all->reason = filtered_write(all->fd, (const uint8_t *)&head, sizeof head, offset);
    if (!all->reason)
        all->reason = filtered_write(all->fd, (const uint8_t *)list, count * sizeof *list, offset + sizeof head);
    chunk->offset = offset;
    chunk->size = chunk->used = (uint32_t)(all->end - offset);
    chunk->filtered = true;
    free(list);
}

static void filtered_find_counts(struct filtered *all)
{
    for (size_t i = 0; i < all->file->chunk_count && !all->reason; i++)
        if (all->file->chunks[i].kind == DWELL_CHUNK_COUNTS)
            filtered_write_counts(all, &all->file->chunks[i]);
}

/* ---- workers ---- */

static bool filtered_lane_run(struct filtered_worker *w, const struct filtered_lane *lane, struct chunk_window *window)
{
    struct filtered_thread t;
    bool more = true;
    filtered_thread_begin(&t, w->all->file, w->all->filter, filtered_take_chunk, w);
    for (size_t i = 0; i < lane->count && more; i++) {
        more = filtered_thread_add(&t, window, &w->all->sorted[lane->first + i]);
        progress_add(1);
    }
    filtered_thread_end(&t);
    w->damaged_chunks += t.damaged_chunks;
    filtered_thread_free(&t);
    return more;
}

static void *filtered_work(void *argument)
{
    struct filtered_worker *w = argument;
    struct chunk_window window = { 0 };
    for (bool more = true; more;) {
        const size_t i = __atomic_fetch_add(&w->all->next_lane, 1, __ATOMIC_RELAXED);
        more = i < w->all->lane_count && filtered_lane_run(w, &w->all->lanes[i], &window);
    }
    window_free(&window);
    return NULL;
}

/* Keeps the other chunks of the session at the beginning of its list, and sorts those of events apart. */
static void filtered_find_lanes(struct filtered *all)
{
    struct session_file *file = all->file;
    size_t count = 0, others = 0;
    all->sorted = need_memory(file->chunk_count, sizeof *all->sorted);
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            all->sorted[count++] = file->chunks[i];
        else
            file->chunks[others++] = file->chunks[i];
    file->chunk_count = others;
    if (count)
        qsort(all->sorted, count, sizeof *all->sorted, chunk_order_compare);
    all->lanes = need_memory(count, sizeof *all->lanes);
    for (size_t i = 0; i < count; i++) {
        const struct trace_chunk *c = &all->sorted[i];
        if (i == 0 || c[-1].thread != c->thread || c[-1].process != c->process)
            all->lanes[all->lane_count++] = (struct filtered_lane){ .first = i };
        all->lanes[all->lane_count - 1].count++;
    }
    progress_begin("filtering", file->path, count);
}

static int filtered_compare_offsets(const void *a, const void *b)
{
    const struct trace_chunk *x = a, *y = b;
    return ORDER_BY(x, y, offset);
}

static void filtered_add_chunks(struct session_file *file, const struct filtered_worker *w)
{
    for (size_t i = 0; i < w->count; i++) {
        GROW(file->chunks, file->chunk_count, file->chunk_room);
        file->chunks[file->chunk_count++] = w->chunks[i];
    }
    file->health.damaged_chunks += w->damaged_chunks;
}

/* The last chunks of the threads are others now. */
static void filtered_mark_last(struct session_file *file, size_t first)
{
    if (file->chunk_count > first)
        qsort(file->chunks + first, file->chunk_count - first, sizeof *file->chunks, filtered_compare_offsets);
    for (size_t i = 0; i < file->thread_count; i++)
        file->threads[i].last_chunk = 0;
    for (size_t i = first; i < file->chunk_count; i++) {
        struct trace_chunk *chunk = &file->chunks[i];
        struct trace_thread *t = session_file_thread(file, chunk->thread);
        if (!t || (t->last_chunk && file->chunks[t->last_chunk - 1].sequence >= chunk->sequence))
            continue;
        if (t->last_chunk)
            file->chunks[t->last_chunk - 1].last_of_thread = false;
        t->last_chunk = i + 1;
        chunk->last_of_thread = true;
    }
}

static void filtered_run(struct filtered *all, unsigned jobs)
{
    const size_t others = all->file->chunk_count;
    struct filtered_worker *workers = need_memory(jobs, sizeof *workers);
    bool *started = need_memory(jobs, sizeof *started);
    for (unsigned i = jobs; i-- > 0;) {
        workers[i].all = all;
        started[i] = i && pthread_create(&workers[i].thread, NULL, filtered_work, &workers[i]) == 0;
    }
    filtered_work(&workers[0]);
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i])
            pthread_join(workers[i].thread, NULL);
        filtered_add_chunks(all->file, &workers[i]);
        free(workers[i].chunks);
    }
    filtered_mark_last(all->file, others);
    free(started);
    free(workers);
}

bool filtered_session(struct session_file *file, const struct stream_filter *filter, unsigned jobs, struct error *error)
{
    struct filtered all = { .file = file, .filter = filter, .fd = filtered_open_file() };
    file->filtered_fd = all.fd;
    file->is_filtered = all.fd >= 0;
    all.reason = all.fd < 0 ? errno : 0;
    if (!all.reason) {
        filtered_find_lanes(&all);
        filtered_find_counts(&all);
        filtered_run(&all, jobs);
        progress_end();
    }
    free(all.sorted);
    free(all.lanes);
    return all.reason ? error_set(error, "%s: the filtered events need a temporary file: %s; set TMPDIR", file->path,
                                  strerror(all.reason))
                      : true;
}
