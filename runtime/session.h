/*
 * The session file as its writers handle it: creating and joining it, and claiming chunks. Used by the runtime, where
 * neither libc's allocator nor errno may be touched, and by `dwell record`.
 *
 * Whoever writes to a session holds a shared flock on it: an exclusive one can be had only when nobody
 * writes any more.
 */
#ifndef DWELL_RUNTIME_SESSION_H
#define DWELL_RUNTIME_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "dwell/format.h"

struct session {
    struct dwell_file_header *header; /* the file's page 0, mapped and shared */
    uint64_t device, inode;           /* of the file, to tell it from another of the same name */
};

/* What hinders a session; negative errno values are used beside these. */
enum session_error {
    SESSION_NOT_OURS = -1001,   /* the file is not a dwell session, and is left alone */
    SESSION_IN_USE = -1002,     /* another recording writes to it */
    SESSION_OTHER_KIND = -1003, /* a session of another version or machine */
};

/*
 * Creates the session file at `path`. A finished session of that name becomes `path`.old; a running one
 * is SESSION_IN_USE unless `join`, which then enters it. Returns a descriptor that holds the shared
 * lock, to be closed by the caller (session->header stays valid), or an error.
 */
int session_create(struct session *session, const char *path, bool join, uint32_t recorder_pid);

/* Opens the file of a session that was created or joined before, without changing it. Returns a
 * descriptor, or a negative errno value; -ESTALE where another file has taken its name. */
int session_reopen(const struct session *session, const char *path);

/* Notes in the header why something is missing; counts an event that is. */
void session_trouble(const struct session *session, enum dwell_trouble trouble);
void session_lose(const struct session *session);

/* Claims `size` bytes (a multiple of DWELL_UNIT) and fills them with zeros. Returns their offset, or
 * zero and sets `trouble` in the header where the disk is full. Safe from any thread and process. */
uint64_t session_claim(const struct session *session, int fd, uint32_t size);

/* Whether a file may not grow to `end` bytes by RLIMIT_FSIZE; to try would send the program SIGXFSZ. */
bool session_beyond_limit(uint64_t end);

/* Maps a claimed range, filled with zeros and present in memory, that a forked child does not
 * inherit; NULL where the system refuses, and then sets `trouble` in the header. */
void *session_map(const struct session *session, int fd, uint64_t offset, uint32_t size);

#endif
