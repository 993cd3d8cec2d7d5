/* Opens the file of a recorded program. */
#include "commands/keep_program.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/kept_files.h"

static bool keep_find_mount(int fd, uint64_t *mount)
{
#ifdef STATX_MNT_ID
    struct statx status;
    const bool known = statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) == 0 && status.stx_mask & STATX_MNT_ID;
    *mount = known ? status.stx_mnt_id : 0;
    return known;
#else
    (void)fd, (void)mount;
    return false;
#endif
}

static bool keep_is_harmless(int program, int session)
{
    uint64_t one, other;
    return keep_find_mount(program, &one) && keep_find_mount(session, &other) && one == other;
}

void keep_program(uint32_t pid, int fd)
{
    static const char removed[] = " (deleted)";
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%u/exe", pid);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    char *end = path + length - (sizeof removed - 1);
    if (end > path && strcmp(end, removed) == 0)
        *end = '\0';
    const int program = open(link, O_RDONLY | O_CLOEXEC);
    if (program >= 0 && keep_is_harmless(program, fd))
        kept_file_add(path, program);
    else if (program >= 0)
        close(program);
}
