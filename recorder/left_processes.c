/* Looks for the session's path in the environments that the kernel shows. */
#include "recorder/left_processes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool left_is_of(const char *pid, const char *session)
{
    static const char name[] = "DWELL_OUTPUT=";
    char path[64], *variable = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    FILE *file = fopen(path, "re");
    while (file && !found && getdelim(&variable, &room, '\0', file) > 0)
        found = strncmp(variable, name, sizeof name - 1) == 0 && strcmp(variable + sizeof name - 1, session) == 0;
    free(variable);
    if (file)
        fclose(file);
    return found;
}

bool left_processes_any(const char *session)
{
    DIR *processes = opendir("/proc");
    bool found = false;
    for (struct dirent *entry; processes && !found && (entry = readdir(processes));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && strtol(entry->d_name, NULL, 10) != getpid())
            found = left_is_of(entry->d_name, session);
    if (processes)
        closedir(processes);
    return found;
}
