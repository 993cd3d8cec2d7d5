/* Opens and completes the file that a command writes. An older file of its name stays until the new one is complete. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "base/memory.h"
#include "commands/commands.h"
#include "trace/read_error.h"

enum { MAX_LINKS = 40 /* as Linux follows at most */ };

/* A command writes one file at a time. NULL if it writes to the file itself. */
static char *output_unfinished, *output_final;

/* The place of a name in its folder. */
static char *output_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return need_copy(".", 1);
    return need_copy(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Ends the program if another user could have put the link or pipe there. The rule is that of Linux, which may be off:
 * in a folder that everybody may write to, it must belong to this user, or to the folder's owner. */
static void output_check_owner(const char *path, const struct stat *there)
{
    struct stat folder;
    char *name = output_folder_of(path);
    const bool known = stat(name, &folder) == 0;
    free(name);
    if (!known || !(folder.st_mode & S_IWOTH) || there->st_uid == geteuid() || there->st_uid == folder.st_uid)
        return;
    die(STATUS_ERROR, "%s: a %s of another user, in a folder that everybody may write to; choose another name", path,
        S_ISLNK(there->st_mode) ? "symbolic link" : "pipe");
}

/* The name that a link has. The caller frees it. */
static char *output_read_link(const char *path)
{
    char target[PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        die(STATUS_ERROR, "%s: %s", path, strerror(errno));
    target[length] = '\0';
    if (*target == '/')
        return need_copy(target, (size_t)length);
    char *folder = output_folder_of(path), *whole = need_text("%s/%s", folder, target);
    free(folder);
    return whole;
}

/* The name of the file behind links, or NULL if it must be written in place: it is a device or a pipe, or a link to
 * nothing. The links are followed one by one, so nobody can put another one there meanwhile. */
static char *output_find_final(const char *path, mode_t *mode)
{
    struct stat status;
    const mode_t mask = umask(0);
    umask(mask);
    *mode = 0666 & ~mask;
    char *at = need_copy(path, strlen(path));
    for (int links = 0;; links++) {
        const bool there = lstat(at, &status) == 0;
        if (!there && !links)
            return at;
        if (there && (S_ISLNK(status.st_mode) || S_ISFIFO(status.st_mode)))
            output_check_owner(at, &status);
        if (!there || (!S_ISLNK(status.st_mode) && !S_ISREG(status.st_mode)) || links == MAX_LINKS) {
            free(at);
            return NULL;
        }
        if (S_ISREG(status.st_mode))
            break;
        char *next = output_read_link(at);
        free(at);
        at = next;
    }
    *mode = status.st_uid == geteuid() ? status.st_mode & 0777 : *mode & status.st_mode;
    return at;
}

static void output_drop_unfinished(int fd)
{
    if (fd >= 0) {
        unlink(output_unfinished);
        close(fd);
    }
    leftover_forget(output_unfinished);
    free(output_unfinished);
    output_unfinished = NULL;
}

/* Opens a file beside the final one. If it returns NULL, `in_place` says whether the final one may be written itself.
 */
static FILE *output_open_beside(const char *path, bool *in_place)
{
    mode_t mode;
    *in_place = true;
    output_final = output_find_final(path, &mode);
    if (!output_final || (access(output_final, F_OK) == 0 && access(output_final, W_OK) < 0))
        return NULL;
    output_unfinished = need_text("%s.XXXXXX", output_final);
    leftover_add(output_unfinished);
    const int fd = mkstemp(output_unfinished);
    *in_place = fd < 0 && (errno == EACCES || errno == EPERM); /* the folder takes no new files */
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    const int reason = errno;
    if (out)
        fchmod(fd, mode);
    else
        output_drop_unfinished(fd);
    errno = reason;
    return out;
}

FILE *output_open(const char *path)
{
    if (!path)
        return stdout;
    bool in_place;
    FILE *file = output_open_beside(path, &in_place);
    if (!file && in_place)
        file = fopen(path, "w");
    if (!file)
        die(STATUS_ERROR, "%s: %s", path, strerror(errno));
    return file;
}

static void output_forget(void)
{
    if (output_unfinished)
        leftover_forget(output_unfinished);
    free(output_unfinished);
    free(output_final);
    output_unfinished = output_final = NULL;
}

static bool output_end(FILE *out)
{
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed)
        return false;
    return !output_unfinished || rename(output_unfinished, output_final) == 0;
}

int output_close(const char *path, FILE *out)
{
    if (out == stdout)
        return finish_output();
    const int unread = read_error_take_any();
    if (!unread && output_end(out)) {
        output_forget();
        return STATUS_OK;
    }
    if (unread)
        say("a part of the session could not be read: %s", strerror(unread));
    else
        say("%s: %s", path, strerror(errno));
    return STATUS_ERROR; /* the unfinished file is removed at exit */
}

void output_abandon(const char *path)
{
    struct stat status;
    if (path && !output_unfinished && stat(path, &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
}
