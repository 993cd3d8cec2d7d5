/* Removes the chunks outside of windows: those that were in the rings when the program ended. */
#include "recorder/keep_trim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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
        struct keep_rings r = keep_rings_find(file, false);
        for (size_t i = 0; i < r.count; i++) {
            const struct trace_chunk *chunk = r.list[i];
            const struct kept_window range = { chunk->process, chunk->start_time, keep_rings_end(file, &r, i) };
            if (!kept_windows_cover(windows, count, &range))
                keep_free_chunk(fd, chunk);
        }
        keep_rings_free(&r);
        free(windows);
    }
    session_file_close(file);
}
