/*
 * The session file for its writers: creating and joining it, and claiming chunks. Used by the runtime, which must not
 * use libc's allocator or errno, and by `dwell record`.
 *
 * Each writer of a session holds a lock on it (session_lock.h). A session is readable and writable by its owner only. A
 * process joins no other: who can write to the file controls the addresses that its writers use.
 */
#ifndef DWELL_FORMAT_SESSION_H
#define DWELL_FORMAT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "dwell/format.h"

struct session {
    struct dwell_file_header *header; /* the file's page 0, mapped and shared */
    uint64_t device, inode;           /* identify the file, as another may have the same name */
    uint64_t id[2];                   /* session_id of the header */
    bool limited;                     /* max_size and keep_free of the header apply: to recorded processes */
    uint32_t writer;                  /* serial number of the process; zero for the recorder */
};

/* Errors of a session, beside negative errno values. */
enum session_error {
    SESSION_NOT_OURS = -1001,    /* the file is not a dwell session; it is left unchanged */
    SESSION_IN_USE = -1002,      /* another recording writes to it */
    SESSION_OTHER_KIND = -1003,  /* a session of another version or machine */
    SESSION_NOT_PRIVATE = -1004, /* another user owns the session, or may write to it */
    SESSION_REPLACED = -1005,    /* another session has the name of that of the key; it is left unchanged */
};

enum { SESSION_FILE_MODE = 0600, SESSION_KEY_SIZE = 4096 + 64 };

struct session_settings {
    bool join;             /* join a running session of that name */
    const char *key;       /* of the session that this process belongs to, or NULL */
    uint32_t recorder_pid; /* the pid of `dwell record`, or zero */
    const char *clock;     /* the user's choice, as in DWELL_CLOCK, or NULL */
    uint64_t max_size;     /* of the session in bytes; zero if unlimited */
    bool shared_ring;      /* the newest events are kept then, instead of the oldest ones */
    const char *keep_free; /* bytes of the disk to be left free, as a decimal number; NULL for the default */
};

/* What is left free of the disk of that file if nobody says otherwise: 5 % of it, and at most 1 GiB. */
uint64_t session_usual_keep_free(int fd);

/* Creates the session file at `path`. A finished session of that name is renamed, and keeps that name until
 * rotation_end (rotation.h). A running one gives SESSION_IN_USE, unless the settings have `join`: then it is joined.
 * Returns a descriptor that holds the shared lock, or an error. The caller closes it, and session->header stays valid.
 */
int session_create(struct session *session, const char *path, const struct session_settings *settings);

/* The key of a session, "ID:PATH", is passed on to executed programs (DWELL_SESSION). While a process executes another
 * program, it is no writer. With the key, that program joins the session all the same, and never renames it. A key of
 * another path has no effect. `path` has at most 4,095 bytes. */
void session_write_key(const struct session *session, const char *path, char key[SESSION_KEY_SIZE]);

/* Whether it is a regular file of the calling process' user, to which no other user may write. */
struct stat;
bool session_is_private(const struct stat *status);

/* Opens the file of a session that was created or joined before, without changing it. Returns a descriptor that the
 * caller closes, or a negative errno value. It is -ESTALE if another file has taken the name. */
int session_reopen(const struct session *session, const char *path);

/* The first sets a reason why something is missing in the header. The second counts lost events. */
void session_trouble(const struct session *session, enum dwell_trouble trouble);
void session_lose(const struct session *session, uint64_t events);

/* What follows the header in page 0. */
static inline struct dwell_file_more *session_more(const struct session *session)
{
    return (struct dwell_file_more *)(session->header + 1);
}

/* Whether the mapped header still is that of the session: nobody has truncated or overwritten the file. */
bool session_is_whole(const struct session *session);

/* Adds to the file, `fd`, what was counted while memory took the place of the header. False if that is impossible now.
 * Safe in any thread with signals held back. */
bool session_settle(const struct session *session, int fd);

/* Whether a limit keeps `size` bytes from being claimed. Without a descriptor, of the file's size alone. */
bool session_is_at_limit(const struct session *session, int fd, uint32_t size);

/* Claims `size` bytes (a multiple of DWELL_UNIT), which are zeros; or a free chunk of that size that was offered
 * (offers.h), with its header. Returns their offset. If the disk is full
 * or a limit is reached, returns zero and sets `trouble` in the header. Safe in any thread and process. */
uint64_t session_claim(const struct session *session, int fd, uint32_t size);

/* Writes zeros. Returns zero or a negative errno value. */
long session_write_zeros(int fd, uint64_t offset, uint32_t size);

/* Returns whether RLIMIT_FSIZE forbids a file of `end` bytes. An attempt would send the program SIGXFSZ. */
bool session_beyond_limit(uint64_t end);

/* Maps a claimed range that is filled with zeros. It is present in memory, and a forked child does not inherit it. If
 * the system refuses, returns NULL and sets `trouble` in the header. The mapping is guarded (guard.h), and ended by
 * session_unmap, in parts if the caller likes. */
void *session_map(const struct session *session, int fd, uint64_t offset, uint32_t size);
void session_unmap(void *at, uint32_t size);

#endif
