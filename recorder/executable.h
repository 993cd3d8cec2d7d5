/* A program before it is run: its path, and whether it can be run and recorded. */
#ifndef DWELL_RECORDER_EXECUTABLE_H
#define DWELL_RECORDER_EXECUTABLE_H

#include <stdbool.h>

struct executable {
    char *path;        /* as execvp would find it; the caller frees it */
    int status;        /* zero, or the exit status for a program that cannot be run */
    const char *wrong; /* why it cannot be run, if status is not zero */
    bool has_runtime;  /* libdwell is linked into it, so nothing is preloaded */
    bool is_loader;    /* it loads another program */
};

struct executable executable_examine(const char *program);

/* The program that a command runs. For a loader, such as ld-linux-x86-64.so.2, that is the one it loads: *file becomes
 * its path, a word of the command; else it becomes that of the program itself. The result's path is what is executed.
 */
struct executable executable_examine_command(char *const *command, const char **file);

/* Whether the functions that instrumented code calls are the program's own, and not the runtime's. False for static
 * programs, which have libc's. */
bool executable_has_own_hooks(const struct executable *e, const char *file);

#endif
