/* Opens the files of a recorded program. */
#include "recorder/keep_program.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "symbols/elf_facts.h"
#include "symbols/kept_files.h"

enum { LONGEST_BUILD_ID = 64 };

static bool keep_find_mount(int folder, const char *path, uint64_t *mount)
{
#ifdef STATX_MNT_ID
    struct statx status;
    const bool known = statx(folder, path, AT_EMPTY_PATH, STATX_MNT_ID, &status) == 0 && status.stx_mask & STATX_MNT_ID;
    *mount = known ? status.stx_mnt_id : 0;
    return known;
#else
    (void)folder, (void)path;
    *mount = 0;
    return false;
#endif
}

static bool keep_is_harmless(int file, int session)
{
    uint64_t mount, used;
    return keep_find_mount(file, "", &mount) && ((keep_find_mount(session, "", &used) && used == mount) ||
                                                 (keep_find_mount(AT_FDCWD, "/", &used) && used == mount) ||
                                                 (keep_find_mount(AT_FDCWD, "/proc/self/exe", &used) && used == mount));
}

/* Opens a regular file and reads its build-id. Returns -1 if it is none, has none, or is to be closed soon. */
static int keep_open(const char *path, int session, uint8_t *build_id, size_t *length)
{
    char again[64];
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
    *length = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && keep_is_harmless(fd, session)
                  ? elf_build_id_of(again, build_id, LONGEST_BUILD_ID)
                  : 0;
    if (*length)
        return fd;
    close(fd);
    return -1;
}

void keep_program(uint32_t pid, int session)
{
    static const char removed[] = " (deleted)";
    char link[64], path[4096];
    uint8_t id[LONGEST_BUILD_ID];
    size_t id_length;
    snprintf(link, sizeof link, "/proc/%u/exe", pid);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    char *end = path + length - (sizeof removed - 1);
    if (end > path && strcmp(end, removed) == 0)
        *end = '\0';
    const int program = keep_open(link, session, id, &id_length);
    if (program >= 0)
        kept_file_add(&(struct symbol_module){ path, id, id_length }, program);
}

static bool keep_file_of(const char *path, const struct symbol_module *module, int session)
{
    uint8_t id[LONGEST_BUILD_ID];
    size_t length;
    const int fd = keep_open(path, session, id, &length);
    if (fd < 0)
        return false;
    const bool same = symbol_module_has_id_of(module, &(struct symbol_module){ path, id, length });
    if (same)
        kept_file_add(module, fd);
    else
        close(fd);
    return same;
}

void keep_module(const struct symbol_module *module, uint32_t pid, int session)
{
    if (module->path[0] != '/' || !module->build_id_length || keep_file_of(module->path, module, session))
        return;
    char *there = need_text("/proc/%u/root%s", pid, module->path), *program = need_text("/proc/%u/exe", pid);
    if (!keep_file_of(there, module, session))
        keep_file_of(program, module, session);
    free(there);
    free(program);
}
