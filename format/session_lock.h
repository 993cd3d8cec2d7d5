/* How the writers of a session tell others that they write to it. */
#ifndef DWELL_FORMAT_SESSION_LOCK_H
#define DWELL_FORMAT_SESSION_LOCK_H

#include <stdbool.h>

/* The file is being written until all copies of the descriptor are closed. */
void session_lock_as_writer(int fd);

/* Whether others write to the file. */
bool session_has_other_writers(int fd);

/* Locks the file against writers that come later. Returns false if others write to it. */
bool session_lock_alone(int fd);

#endif
