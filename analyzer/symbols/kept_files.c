/* The list of files that are kept open. */
#include "symbols/kept_files.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { KEPT_FILES = 64 };

struct kept_file {
    char *path;
    int fd;
    dev_t device;
    ino_t inode;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_file kept[KEPT_FILES];
static size_t kept_count;

void kept_file_add(const char *path, int fd)
{
    struct stat status;
    pthread_mutex_lock(&lock);
    bool wanted = kept_count < KEPT_FILES && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    for (size_t i = 0; i < kept_count && wanted; i++)
        wanted = kept[i].device != status.st_dev || kept[i].inode != status.st_ino || strcmp(kept[i].path, path) != 0;
    if (wanted)
        kept[kept_count++] = (struct kept_file){ need_copy(path, strlen(path)), fd, status.st_dev, status.st_ino };
    else
        close(fd);
    pthread_mutex_unlock(&lock);
}

int kept_file_open(const char *path, size_t i)
{
    char again[64];
    int fd = -1;
    pthread_mutex_lock(&lock);
    for (size_t j = 0; j < kept_count && fd < 0; j++)
        if (strcmp(kept[j].path, path) == 0 && i-- == 0) {
            snprintf(again, sizeof again, "/proc/self/fd/%d", kept[j].fd);
            fd = open(again, O_RDONLY | O_CLOEXEC);
            break;
        }
    pthread_mutex_unlock(&lock);
    return fd;
}
