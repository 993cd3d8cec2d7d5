/* A session file that a merge or an import writes: created under another name and renamed when it is complete. */
#include "trace/session_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "base/memory.h"
#include "rotation.h"
#include "trace/session_seal.h"

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

/* Renames the complete file to its final name, and an older session of that name to `path`.old, like a recording. */
static const char *session_output_claim_name(const struct session_output *o)
{
    struct session placeholder;
    const int fd = session_create(&placeholder, o->path, &(struct session_settings){ 0 });
    if (fd < 0)
        return session_output_reason(fd);
    const int error = rename(o->part, o->path) < 0 ? errno : 0;
    if (error)
        rotation_end(&placeholder, o->path, ROTATION_UNDONE);
    else
        rotation_end(&o->session, o->path, ROTATION_RECORDED);
    munmap(placeholder.header, DWELL_UNIT);
    close(fd);
    return error ? strerror(error) : NULL;
}

const char *session_output_begin(struct session_output *o, const char *path)
{
    o->part = need_text("%s.%d.part", path, (int)getpid());
    leftover_add(o->part);
    o->fd = session_create(&o->session, o->part, &(struct session_settings){ 0 });
    if (o->fd < 0) {
        leftover_forget(o->part); /* not ours to remove */
        free(o->part);
        return session_output_reason(o->fd);
    }
    o->path = need_copy(path, strlen(path));
    return NULL;
}

const char *session_output_end(struct session_output *o, const char *error)
{
    if (!error) {
        error = seal_session(&o->session, o->fd) ? NULL : strerror(errno);
    }
    munmap(o->session.header, DWELL_UNIT);
    if (close(o->fd) < 0 && !error)
        error = strerror(errno);
    if (!error)
        error = session_output_claim_name(o);
    if (error)
        unlink(o->part);
    leftover_forget(o->part);
    free(o->part);
    free(o->path);
    return error;
}
