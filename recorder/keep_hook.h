/* The command of --on-keep, which gets the file of a window. */
#ifndef DWELL_RECORDER_KEEP_HOOK_H
#define DWELL_RECORDER_KEEP_HOOK_H

#include <sys/types.h>

/* The command with the file's name in place of each {}, as one word of the shell. The caller frees it. */
char *keep_hook_text(const char *command, const char *file);

/* Starts it by the shell, with no input and apart from dwell's terminal. What it prints goes to dwell's stderr, as
 * stdout is the program's. Returns 0 with errno set if that fails. Any thread. */
pid_t keep_hook_start(const char *command, const char *file);

#endif
