/* Removes the chunks outside of windows: those that were in the rings when the program ended. Values go with the events
 * of their calls. */
#include "recorder/keep_trim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "recorder/keep_drop.h"
#include "recorder/keep_rings.h"
#include "session_lock.h"
#include "trace/kept_calls.h"
#include "trace/session_file.h"

static void keep_free_chunk(int fd, const struct trace_chunk *chunk)
{
    const struct dwell_chunk_header nothing = { .magic = DWELL_CHUNK_MAGIC, .size = chunk->size };
    if (pwrite(fd, &nothing, sizeof nothing, (off_t)chunk->offset) == (ssize_t)sizeof nothing)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(chunk->offset + sizeof nothing),
                  (off_t)(chunk->size - sizeof nothing));
}

/* Frees the chunks of values that were written outside of the times of the events that are kept: these are ranges of
 * threads, by thread and time. A chunk of a ring begins with the values of the calls that are open, so those of calls
 * that began earlier are in it. */
static void keep_free_values(const struct session_file *file, int fd, const struct kept_window *kept, size_t kept_count)
{
    struct keep_rings r = keep_rings_of_values(file);
    for (size_t i = 0; i < r.count; i++) {
        const struct trace_chunk *chunk = r.list[i];
        const struct kept_window range = { chunk->thread, chunk->start_time, keep_values_end(&r, i) };
        if (!kept_windows_cover(kept, kept_count, &range))
            keep_free_chunk(fd, chunk);
    }
    keep_rings_free(&r);
}

static bool keep_trim_all_ended(const void *of, uint32_t process)
{
    (void)of, (void)process;
    return true;
}

/* A process may have ended before it dropped those of its windows that had to make room. */
static void keep_trim_calls(const struct session *session, int fd, const struct dwell_keep *keep,
                            struct session_file *file)
{
    const struct keep_drop drop = { session, fd, keep, session_more(session)->room_until, keep_trim_all_ended, NULL };
    if (drop.until)
        keep_drop_calls(&drop, file);
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
        size_t count, kept_count = 0;
        keep_trim_calls(session, fd, &keep, file);
        struct kept_window *windows = kept_windows(&file->kept, &keep, &count);
        struct keep_rings r = keep_rings_find(file, false);
        struct kept_window *kept = need_memory(r.count + 1, sizeof *kept);
        for (size_t i = 0; i < r.count; i++) {
            const struct trace_chunk *chunk = r.list[i];
            const struct kept_window range = { chunk->process, chunk->start_time, keep_rings_end(file, &r, i) };
            if (!kept_windows_cover(windows, count, &range))
                keep_free_chunk(fd, chunk);
            else if (chunk->kind == DWELL_CHUNK_EVENTS)
                kept[kept_count++] = (struct kept_window){ chunk->thread, range.begin, range.end };
        }
        keep_free_values(file, fd, kept, kept_count);
        free(kept);
        keep_rings_free(&r);
        free(windows);
    }
    session_file_close(file);
}
