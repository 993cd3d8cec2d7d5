/* The list of files that are kept open. */
#include "symbols/kept_files.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { KEPT_FILES = 256 };

struct kept_file {
    struct symbol_module module;
    int fd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct kept_file kept[KEPT_FILES];
static size_t kept_count;
static bool kept_ended;

void kept_file_add(const struct symbol_module *module, int fd)
{
    struct stat status;
    pthread_mutex_lock(&lock);
    bool wanted =
        kept_count < KEPT_FILES && module->build_id_length && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    for (size_t i = 0; i < kept_count && wanted; i++)
        wanted = !symbol_module_equals(&kept[i].module, module);
    if (wanted) {
        const struct symbol_module copy = {
            need_copy(module->path, strlen(module->path)),
            (const uint8_t *)need_copy((const char *)module->build_id, module->build_id_length),
            module->build_id_length,
        };
        kept[kept_count++] = (struct kept_file){ copy, fd };
        pthread_cond_broadcast(&changed);
    } else {
        close(fd);
    }
    pthread_mutex_unlock(&lock);
}

int kept_file_open(const struct symbol_module *module)
{
    char again[64];
    int fd = -1;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < kept_count && module->build_id_length && fd < 0; i++)
        if (symbol_module_has_id_of(&kept[i].module, module)) {
            snprintf(again, sizeof again, "/proc/self/fd/%d", kept[i].fd);
            fd = open(again, O_RDONLY | O_CLOEXEC);
        }
    pthread_mutex_unlock(&lock);
    return fd;
}

bool kept_file_await(size_t i, struct symbol_module *module)
{
    pthread_mutex_lock(&lock);
    while (i >= kept_count && !kept_ended)
        pthread_cond_wait(&changed, &lock);
    const bool is_there = !kept_ended;
    if (is_there)
        *module = kept[i].module;
    pthread_mutex_unlock(&lock);
    return is_there;
}

void kept_files_end(void)
{
    pthread_mutex_lock(&lock);
    kept_ended = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
