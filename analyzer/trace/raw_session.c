/* Opens session files, and tells them from other files. */
#include "trace/raw_session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "dwell/format.h"

int session_open_raw(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
    char magic[8];
    if (fd >= 0 &&
        (pread(fd, magic, sizeof magic, 0) != sizeof magic || memcmp(magic, DWELL_FILE_MAGIC, sizeof magic) != 0)) {
        close(fd);
        fd = -1;
        errno = EINVAL;
    }
    return fd;
}
