/*
 * Copying a session while it is being written.
 */
#ifndef DWELL_SNAPSHOT_H
#define DWELL_SNAPSHOT_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* Copies the session, of which `fd` is a descriptor, to a file of its own. Returns zero or a negative errno value. Any
 * thread, with signals held back. */
int snapshot_write(int fd, const char *path);

#pragma GCC visibility pop

#endif
