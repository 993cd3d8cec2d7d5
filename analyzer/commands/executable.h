/* What can be told of a program before it is run. */
#ifndef DWELL_COMMANDS_EXECUTABLE_H
#define DWELL_COMMANDS_EXECUTABLE_H

#include <stdbool.h>

struct executable {
    char *path;        /* as execvp would find it; owned by the caller */
    int status;        /* zero, or the exit status for a program that cannot be run */
    const char *wrong; /* what is wrong with it, where status is not zero */
    bool has_runtime;  /* libdwell is linked into it: nothing has to be preloaded */
};

struct executable executable_examine(const char *program);

#endif
