/* Finds the session file of a running process in /proc: among the descriptors of the runtime's helper thread, or
 * among the mapped files. */
#include "recorder/find_session.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "trace/raw_session.h"

static char *find_session_check_file(const char *path)
{
    const int fd = session_open_raw(path, O_RDONLY);
    if (fd < 0)
        return NULL;
    close(fd);
    return need_copy(path, strlen(path));
}

/* Tries each name in a directory until one gives a path. */
static char *find_session_in_folder(const char *folder, char *(*try)(const char *path))
{
    DIR *names = opendir(folder);
    char *found = NULL;
    for (struct dirent *entry; names && !found && (entry = readdir(names));) {
        char path[PATH_MAX];
        if (entry->d_name[0] != '.' && snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            found = try(path);
    }
    if (names)
        closedir(names);
    return found;
}

/* The runtime's helper thread is called "dwell", and has the session file among its own descriptors. */
static char *find_session_of_task(const char *task)
{
    char path[PATH_MAX], name[32] = "";
    snprintf(path, sizeof path, "%.4000s/comm", task);
    FILE *in = fopen(path, "r");
    const bool helper = in && fgets(name, sizeof name, in) && strcmp(name, "dwell\n") == 0;
    if (in)
        fclose(in);
    snprintf(path, sizeof path, "%.4000s/fd", task);
    return helper ? find_session_in_folder(path, find_session_check_file) : NULL;
}

/* Without the helper thread, the session is among the mapped files. */
static char *find_session_in_maps(uint32_t pid)
{
    char path[64], *line = NULL, *found = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *in = fopen(path, "re");
    while (in && !found && getline(&line, &room, in) >= 0) {
        char *name = strchr(line, '/');
        if (!name || !strstr(line, " rw-s "))
            continue;
        name[strcspn(name, "\n")] = '\0';
        found = find_session_check_file(name);
    }
    if (in)
        fclose(in);
    free(line);
    return found;
}

char *find_session(uint32_t pid, struct error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    if (access(path, F_OK) < 0) {
        error_set(error, "no process %u", pid);
        return NULL;
    }
    char *found = find_session_in_folder(path, find_session_of_task);
    if (!found)
        found = find_session_in_maps(pid);
    if (!found)
        error_set(error, "process %u is not being recorded, or belongs to another user", pid);
    return found;
}
