/* Renames sessions: moves a finished one out of the way of a new one, and restores it if nothing was recorded. */
#include "rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sys.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

enum {
    ROTATION_PATH_SIZE = 4096 + 16,
    ROTATION_PATIENCE = 4096, /* units without a chunk that are searched */
};

struct rotation_name {
    char text[ROTATION_PATH_SIZE];
};

/* Static, as the program's stack may be small. Only one thread of a process gives sessions their names. */
static struct rotation_name earlier, old;

static bool rotation_make_name(struct rotation_name *name, const char *path, const char *suffix)
{
    const size_t length = strlen(path);
    if (length + strlen(suffix) >= sizeof name->text)
        return false;
    memcpy(name->text, path, length);
    strcpy(name->text + length, suffix);
    return true;
}

static bool rotation_make_names(const char *path)
{
    return rotation_make_name(&earlier, path, ".earlier") && rotation_make_name(&old, path, ".old");
}

static int rotation_rename(const char *from, const char *to)
{
    return (int)SYS4(renameat, AT_FDCWD, from, AT_FDCWD, to);
}

static bool rotation_is_at(const char *path, uint64_t device, uint64_t inode)
{
    struct stat status;
    return SYS4(newfstatat, AT_FDCWD, path, &status, 0) == 0 && status.st_dev == device && status.st_ino == inode;
}

static bool rotation_exists(const char *path)
{
    struct stat status;
    return SYS4(newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool rotation_chunk_holds_data(int fd, uint64_t offset, const struct dwell_chunk_header *chunk)
{
    if (chunk->kind == DWELL_CHUNK_EVENTS || chunk->kind == DWELL_CHUNK_CALL_TREE ||
        chunk->kind == DWELL_CHUNK_TRACE_EVENTS || chunk->kind == DWELL_CHUNK_COUNTS)
        return true;
    struct dwell_record first = { .type = 0 };
    return chunk->kind == DWELL_CHUNK_METADATA &&
           SYS4(pread64, fd, &first, sizeof first, offset + sizeof *chunk) == (long)sizeof first &&
           first.type == DWELL_REC_SAMPLE;
}

bool rotation_holds_data(int fd)
{
    struct dwell_file_header header = { .origin = 0 };
    if (SYS4(pread64, fd, &header, sizeof header, 0) != (long)sizeof header || header.origin)
        return true;
    struct dwell_chunk_header chunk = { .magic = 0 };
    int unused = 0;
    for (uint64_t offset = DWELL_UNIT; SYS4(pread64, fd, &chunk, sizeof chunk, offset) == (long)sizeof chunk;) {
        const bool begun = chunk.magic == DWELL_CHUNK_MAGIC && chunk.size >= DWELL_UNIT;
        if (begun ? rotation_chunk_holds_data(fd, offset, &chunk) : ++unused > ROTATION_PATIENCE)
            return true;
        offset += begun ? chunk.size : DWELL_UNIT;
    }
    return false;
}

int rotation_begin(const char *path, int fd)
{
    struct stat status = { .st_ino = 0 };
    long error = SYS2(fstat, fd, &status);
    if (error < 0)
        return (int)error;
    if (!rotation_is_at(path, status.st_dev, status.st_ino))
        return -EAGAIN;
    if (!rotation_holds_data(fd)) /* what another recording left, which ended before it recorded anything */
        return (int)SYS3(unlinkat, AT_FDCWD, path, 0);
    if (!rotation_make_names(path))
        return -ENAMETOOLONG;
    if (rotation_exists(earlier.text)) { /* the recorder of `path` was killed */
        error = rotation_rename(earlier.text, old.text);
        if (error < 0)
            return (int)error;
    }
    return rotation_rename(path, earlier.text);
}

bool rotation_end(const struct session *session, const char *path, enum rotation how)
{
    if (!rotation_is_at(path, session->device, session->inode) || !rotation_make_names(path))
        return false;
    if (how == ROTATION_RECORDED) {
        rotation_rename(earlier.text, old.text);
        return false;
    }
    const bool back = rotation_rename(earlier.text, path) == 0;
    if (!back && how == ROTATION_UNDONE)
        SYS3(unlinkat, AT_FDCWD, path, 0);
    return back;
}

void rotation_undo(const char *path)
{
    if (rotation_make_names(path))
        SYS5(renameat2, AT_FDCWD, earlier.text, AT_FDCWD, path, RENAME_NOREPLACE);
}
