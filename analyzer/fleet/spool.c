/* The names of the files are in the order of time. A lock on a file says that a process pushes or removes it. */
#include "fleet/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "fleet/ids.h"

static const char spool_ending[] = ".sums";

char *fleet_spool_usual(const struct fleet_store *store)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const bool own = state && *state == '/';
    const uint64_t number = fleet_id_of_two(fleet_id_of_bytes(store->url, strlen(store->url)),
                                            fleet_id_of_bytes(store->database, strlen(store->database)));
    return need_text("%s%s/dwell/spool/%016llx",
                     own    ? state
                     : home ? home
                            : "",
                     own ? "" : "/.local/state", (unsigned long long)number);
}

bool fleet_spool_make(const char *folder, struct error *error)
{
    char *path = need_copy(folder, strlen(folder));
    bool good = true;
    for (char *at = path + 1; good && *at; at++)
        if (*at == '/') {
            *at = 0;
            good = mkdir(path, 0700) == 0 || errno == EEXIST;
            *at = '/';
        }
    good = good && (mkdir(path, 0700) == 0 || errno == EEXIST);
    free(path);
    return (good && access(folder, R_OK | W_OK | X_OK) == 0) || error_set(error, "%s: %s", folder, strerror(errno));
}

char *fleet_spool_name(const char *folder, uint64_t time, const uint64_t session_id[2], uint32_t number)
{
    return need_text("%s/%016llx-%016llx-%06u%s", folder, (unsigned long long)time,
                     (unsigned long long)fleet_id_of_two(session_id[0], session_id[1]), number, spool_ending);
}

/* A killed recorder leaves a file of another name. */
const char *fleet_spool_write(struct sums *sums, const char *path)
{
    char *part = need_text("%s.new", path);
    const char *wrong = sums_write(sums, part);
    if (!wrong && rename(part, path) < 0)
        wrong = strerror(errno);
    if (wrong)
        unlink(part);
    free(part);
    return wrong;
}

/* ---- the files ---- */

static int spool_is_file(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), ending = strlen(spool_ending);
    return length > ending && strcmp(entry->d_name + length - ending, spool_ending) == 0;
}

/* The paths, the oldest first. */
static char **spool_list(const char *folder, size_t *count)
{
    struct dirent **entries = NULL;
    const int found = scandir(folder, &entries, spool_is_file, alphasort);
    char **paths = need_memory(found > 0 ? (size_t)found : 1, sizeof *paths);
    *count = found > 0 ? (size_t)found : 0;
    for (size_t i = 0; i < *count; i++) {
        paths[i] = need_text("%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return paths;
}

static void spool_list_drop(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

uint64_t fleet_spool_count(const char *folder)
{
    size_t count;
    char **paths = spool_list(folder, &count);
    spool_list_drop(paths, count);
    return count;
}

/* Negative if another process has the file, or has removed it. */
static int spool_lock(const char *path)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_nlink)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

uint64_t fleet_spool_trim(const char *folder, uint64_t limit)
{
    size_t count;
    uint64_t bytes = 0, removed = 0;
    char **paths = spool_list(folder, &count);
    uint64_t *sizes = need_memory(count + 1, sizeof *sizes);
    struct stat status;
    for (size_t i = 0; i < count; i++) {
        sizes[i] = stat(paths[i], &status) == 0 ? (uint64_t)status.st_blocks * 512 : 0;
        bytes += sizes[i];
    }
    for (size_t i = 0; i < count && bytes > limit; i++) {
        const int fd = spool_lock(paths[i]);
        if (fd < 0)
            continue;
        if (unlink(paths[i]) == 0) {
            bytes -= sizes[i];
            removed++;
        }
        close(fd);
    }
    free(sizes);
    spool_list_drop(paths, count);
    return removed;
}

/* ---- pushing ---- */

static bool spool_can_read(const char *path, struct error *unreadable)
{
    const char *wrong;
    struct session_file *file = session_file_open(path, &wrong);
    if (!file) {
        error_drop(unreadable);
        return error_set(unreadable, "%s: %s", path, wrong);
    }
    session_file_close(file);
    return true;
}

bool fleet_spool_push(const char *folder, const struct fleet_store *store, const struct fleet_labels *labels,
                      uint64_t *pushed, struct error *error)
{
    size_t count;
    bool good = true;
    struct error unreadable = { NULL };
    char **paths = spool_list(folder, &count);
    for (size_t i = 0; good && i < count; i++) {
        struct fleet_pushed one;
        const int fd = spool_lock(paths[i]);
        if (fd < 0)
            continue;
        if (spool_can_read(paths[i], &unreadable)) {
            good = fleet_push(store, paths[i], labels, &one, error);
            if (good && unlink(paths[i]) == 0)
                *pushed += 1;
        }
        close(fd);
    }
    spool_list_drop(paths, count);
    if (good && unreadable.text) {
        *error = unreadable;
        return false;
    }
    error_drop(&unreadable);
    return good;
}
