/*
 * Copying a session while it is being written, for `dwell control PID dump` and dwell_dump.
 *
 * A chunk that a thread writes to is copied from its end to its start, page by page. As the thread writes in the other
 * direction, the copy holds all of it up to some moment, and zeros after it. It is as good as a chunk whose writer was
 * killed at that moment. If the chunk was begun anew meanwhile (a ring), it is copied again. So it is if it got its
 * checksum, which is that of all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "runtime.h"
#include "session.h"
#include "session_lock.h"
#include "snapshot.h"
#include "sys.h"

enum { PIECE = 64 << 10, TRIES = 8 };

struct copy {
    int from, to;
    char *buffer; /* of PIECE bytes */
};

static long snapshot_copy_piece(const struct copy *c, uint64_t offset, uint32_t size)
{
    long got = SYS4(pread64, c->from, c->buffer, size, offset);
    if (got != (long)size)
        return got < 0 ? got : -EIO;
    return sys_write_at(c->to, c->buffer, size, offset);
}

static long snapshot_copy_backwards(const struct copy *c, uint64_t offset, uint32_t size, uint32_t piece)
{
    long error = 0;
    for (uint32_t left = size; left > 0 && error == 0;) {
        const uint32_t length = left % piece ? left % piece : piece;
        left -= length;
        error = snapshot_copy_piece(c, offset + left, length);
    }
    return error;
}

static bool snapshot_read_head(const struct copy *c, uint64_t offset, struct dwell_chunk_header *head)
{
    return SYS4(pread64, c->from, head, sizeof *head, offset) == (long)sizeof *head &&
           head->magic == DWELL_CHUNK_MAGIC && head->size >= DWELL_UNIT && head->size % DWELL_UNIT == 0;
}

static bool snapshot_same_chunk(const struct dwell_chunk_header *a, const struct dwell_chunk_header *b)
{
    return a->kind == b->kind && a->thread == b->thread && a->sequence == b->sequence && a->size == b->size &&
           a->sealed == b->sealed;
}

/* A chunk that cannot be copied whole becomes a free chunk. */
static long snapshot_copy_chunk(const struct copy *c, uint64_t offset, struct dwell_chunk_header *head)
{
    for (int i = 0; i < TRIES && head->kind != DWELL_CHUNK_FREE && head->kind != DWELL_CHUNK_CONTROL; i++) {
        const bool live =
            (head->kind == DWELL_CHUNK_EVENTS || head->kind == DWELL_CHUNK_TRACE_EVENTS) && head->used == 0;
        long error = snapshot_copy_backwards(c, offset, head->size, live ? DWELL_UNIT : PIECE);
        if (error < 0)
            return error;
        struct dwell_chunk_header now;
        if (!snapshot_read_head(c, offset, &now) || now.size != head->size)
            break;
        if (snapshot_same_chunk(head, &now))
            return 0;
        *head = now;
    }
    const struct dwell_chunk_header nothing = { .magic = DWELL_CHUNK_MAGIC, .size = head->size };
    return sys_write_at(c->to, &nothing, sizeof nothing, offset);
}

static long snapshot_copy_session(const struct copy *c, uint64_t end)
{
    long error = 0;
    for (uint64_t offset = DWELL_UNIT; offset < end && error == 0;) {
        struct dwell_chunk_header head;
        if (!snapshot_read_head(c, offset, &head) || head.size > end - offset) {
            offset += DWELL_UNIT; /* claimed, but not begun */
            continue;
        }
        error = snapshot_copy_chunk(c, offset, &head);
        offset += head.size;
    }
    if (error == 0)
        error = SYS2(ftruncate, c->to, end); /* the last chunk may be free */
    if (error < 0)
        return error;
    const struct dwell_file_more *now = session_more(&runtime.session);
    const struct dwell_file_more more = { .values = __atomic_load_n(&now->values, __ATOMIC_ACQUIRE),
                                          .lost_values = now->lost_values,
                                          .unstored_values = now->unstored_values,
                                          .late_values = now->late_values,
                                          .calls = __atomic_load_n(&now->calls, __ATOMIC_ACQUIRE) };
    struct dwell_file_header header = *runtime.session.header;
    header.cursor = end;
    header.state = DWELL_COMPLETE;
    header.first_control = 0;
    header.recorder_pid = 0;
    header.end_ticks = clock_now(header.clock);
    header.end_monotonic = clock_monotonic();
    error = sys_write_at(c->to, &more, sizeof more, sizeof header);
    return error < 0 ? error : sys_write_at(c->to, &header, sizeof header, 0);
}

/* Creates the file, or opens an older session of this user that no process writes to. */
static int snapshot_open_target(const char *path)
{
    int fd = sys_open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW, SESSION_FILE_MODE);
    if (fd < 0)
        return fd;
    struct stat status;
    char magic[sizeof runtime.session.header->magic];
    long error = SYS2(fstat, fd, &status);
    if (error == 0 && !S_ISREG(status.st_mode))
        error = -EINVAL;
    if (error == 0 && !session_is_private(&status))
        error = -EPERM;
    const bool same = status.st_ino == runtime.session.inode && status.st_dev == runtime.session.device;
    if (error == 0 && (same || !session_lock_alone(fd))) /* of two dumps to one file at once, one fails */
        error = -EBUSY;
    if (error == 0 && status.st_size > 0 &&
        (SYS4(pread64, fd, magic, sizeof magic, 0) != (long)sizeof magic ||
         memcmp(magic, DWELL_FILE_MAGIC, sizeof magic) != 0))
        error = -EEXIST;
    if (error == 0)
        error = SYS2(ftruncate, fd, 0);
    if (error < 0) {
        sys_close(fd);
        return (int)error;
    }
    return fd;
}

int snapshot_write(int fd, const char *path)
{
    const uint64_t end = __atomic_load_n(&runtime.session.header->cursor, __ATOMIC_ACQUIRE);
    if (session_beyond_limit(end))
        return -EFBIG;
    struct copy c = { .from = fd, .buffer = sys_memory(PIECE) };
    if (!c.buffer)
        return -ENOMEM;
    c.to = snapshot_open_target(path);
    long error = c.to;
    if (c.to >= 0) {
        error = snapshot_copy_session(&c, end);
        if (error < 0)
            SYS2(ftruncate, c.to, 0);
        sys_close(c.to);
    }
    sys_unmap(c.buffer, PIECE);
    return error < 0 ? (int)error : 0;
}
