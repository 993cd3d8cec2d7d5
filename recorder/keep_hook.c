/* Runs the command of --on-keep. */
#include "recorder/keep_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/shell_word.h"

char *keep_hook_text(const char *command, const char *file)
{
    char *text;
    size_t length;
    char *word = shell_word(file);
    FILE *out = need_stream(&text, &length);
    for (const char *at = command, *place; *at; at = place) {
        place = strstr(at, "{}");
        fprintf(out, "%.*s", (int)(place ? place - at : (long)strlen(at)), at);
        if (!place)
            break;
        fputs(word, out);
        place += 2;
    }
    need_stream_end(out);
    free(word);
    return text;
}

pid_t keep_hook_start(const char *command, const char *file)
{
    char *text = keep_hook_text(command, file), *argv[] = { "sh", "-c", text, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    pid_t pid = 0;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    posix_spawnattr_setsigmask(&how, &none);
    const int error = posix_spawn(&pid, "/bin/sh", &files, &how, argv, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    free(text);
    errno = error;
    return error ? 0 : pid;
}
