/*
 * The names of a session and of the sessions before it. While `path` is being recorded, the session that had the name
 * before is `path`.earlier. It becomes `path`.old when something was recorded, and `path` again otherwise. Each step is
 * one rename, so no session is lost when a writer dies in between: the next session of that name goes on.
 */
#ifndef DWELL_FORMAT_ROTATION_H
#define DWELL_FORMAT_ROTATION_H

#include <stdbool.h>

#include "session.h"

enum rotation {
    ROTATION_RECORDED, /* the earlier session becomes `path`.old */
    ROTATION_EMPTY,    /* the earlier session becomes `path` again; without one, the new session stays */
    ROTATION_UNDONE,   /* the same, but the new session never stays */
};

/* Frees the name `path` of a finished session, of which `fd` is a descriptor with an exclusive lock. Returns zero, or a
 * negative errno value. It is -EAGAIN if another file has taken the name. */
int rotation_begin(const char *path, int fd);

/* Returns whether the session holds recorded data. True if that cannot be determined. */
bool rotation_holds_data(int fd);

/* Gives the earlier session its name. Does nothing if `path` is not that session any more. Returns whether there is an
 * earlier session that has its old name again. */
bool rotation_end(const struct session *session, const char *path, enum rotation how);

/* Gives the earlier session its name again if there is no file `path`. */
void rotation_undo(const char *path);

#endif
