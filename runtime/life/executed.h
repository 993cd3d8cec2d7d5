/* The programs that the program executes: whether their loader can load this library. */
#ifndef DWELL_EXECUTED_H
#define DWELL_EXECUTED_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* A program as a function of libc gets it. */
struct executed {
    int folder; /* that a relative path begins at; with an empty path, the program itself */
    const char *path;
    bool search; /* a path without a slash is looked for in PATH */
};

/* Returns whether the program's loader is that of musl, or of another machine, such as one of 32 bits. The former ends
 * a program if it cannot load what LD_PRELOAD names, and this library needs glibc. The latter prints an error. For
 * scripts, it looks at their interpreter. False if the program cannot be read. Takes no
 * lock and no memory, so it may be called in a child by vfork. */
bool executed_refuses_library(const struct executed *program);

#pragma GCC visibility pop

#endif
