/* A session file that a merge or an import writes: created under another name and renamed when it is complete. */
#include "trace/session_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static const char *session_output_reason(int error)
{
    switch (error) {
    case SESSION_NOT_OURS:
        return "not a dwell session, so it is not replaced; choose another file with -o";
    case SESSION_IN_USE:
        return "another recording writes to it; choose another file with -o";
    case SESSION_OTHER_KIND:
        return "a session of another version of dwell";
    default:
        return strerror(-error);
    }
}

/* Renames the older session back. */
static void session_output_undo(const char *path, const struct stat *before)
{
    struct stat old;
    char *aside = need_text("%s.old", path);
    unlink(path);
    if (before->st_ino && stat(aside, &old) == 0 && old.st_ino == before->st_ino && old.st_dev == before->st_dev)
        rename(aside, path);
    free(aside);
}

/* Renames the complete file to `path`, and an older session there to `path`.old, like a recording. */
static const char *session_output_claim_name(const char *part, const char *path)
{
    struct stat before = { .st_ino = 0 };
    struct session placeholder;
    if (stat(path, &before) < 0)
        before.st_ino = 0;
    const int fd = session_create(&placeholder, path, &(struct session_settings){ 0 });
    if (fd == SESSION_NOT_OURS || fd == SESSION_IN_USE || fd == SESSION_OTHER_KIND)
        return session_output_reason(fd);
    const int error = fd < 0 ? -fd : rename(part, path) < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (error)
        session_output_undo(path, &before);
    return error ? strerror(error) : NULL;
}

const char *session_output_begin(struct session_output *o, const char *path)
{
    o->part = need_text("%s.%d.part", path, (int)getpid());
    o->fd = session_create(&o->session, o->part, &(struct session_settings){ 0 });
    if (o->fd < 0) {
        free(o->part);
        return session_output_reason(o->fd);
    }
    o->path = need_copy(path, strlen(path));
    return NULL;
}

const char *session_output_end(struct session_output *o, const char *error)
{
    munmap(o->session.header, DWELL_UNIT);
    close(o->fd);
    if (!error)
        error = session_output_claim_name(o->part, o->path);
    if (error)
        unlink(o->part);
    free(o->part);
    free(o->path);
    return error;
}
