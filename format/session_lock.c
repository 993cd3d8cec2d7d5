/*
 * The locks of a session file. Each writer holds a write lock on a byte of its own, far behind the end of the file. To
 * see whether there are writers, a process asks for a read lock on all these bytes. Only write locks conflict with that
 * question, and they need write access. So no reader of the file can keep its owner from recording.
 *
 * The locks belong to open file descriptions, like those of flock. Where a file system lacks them, flock is used.
 */
#include "session_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>

#include "clock.h"
#include "sys.h"

#ifndef F_OFD_SETLK
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#endif

/* The byte of a process that must be alone. Those of the writers follow. */
static const int64_t session_alone_byte = (int64_t)1 << 62;

enum { SESSION_LOCK_TRIES = 4 };

static long session_lock_byte(int fd, short type, int64_t byte)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    return SYS3(fcntl, fd, F_OFD_SETLK, &lock);
}

static bool session_lock_is_held(long error)
{
    return error == -EAGAIN || error == -EACCES;
}

/* The time makes it unlikely that two writers choose the same byte. */
void session_lock_as_writer(int fd)
{
    long error = -EAGAIN;
    for (int i = 0; i < SESSION_LOCK_TRIES && session_lock_is_held(error); i++)
        error = session_lock_byte(fd, F_WRLCK, session_alone_byte + 1 + (int64_t)(clock_monotonic() >> 2));
    if (error < 0)
        SYS2(flock, fd, LOCK_SH | LOCK_NB);
}

bool session_has_other_writers(int fd)
{
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = session_alone_byte };
    if (SYS3(fcntl, fd, F_OFD_GETLK, &lock) < 0)
        return SYS2(flock, fd, LOCK_EX | LOCK_NB) == -EWOULDBLOCK;
    return lock.l_type != F_UNLCK;
}

/* A reader may hold a read lock on the byte. It does not count. */
bool session_lock_alone(int fd)
{
    const bool locked = session_lock_byte(fd, F_WRLCK, session_alone_byte) == 0;
    if (!session_has_other_writers(fd))
        return true;
    if (locked)
        session_lock_byte(fd, F_UNLCK, session_alone_byte);
    return false;
}
