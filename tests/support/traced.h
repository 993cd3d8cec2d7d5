/* Runs a program under ptrace, and reads the arguments and results of chosen functions where their probes are called,
 * by the programs of loads that the debug information gives. */
#ifndef DWELL_TESTS_TRACED_H
#define DWELL_TESTS_TRACED_H

#include <stddef.h>

/* A function by the last part of its name, and what is read of it, separated by spaces. */
struct traced_function {
    const char *name, *what;
};

/* Returns lines "FUNCTION WHAT VALUE" in the order in which the probes are called, with ? for what cannot be read. The
 * program gets one argument, and its output goes into the file `output`. A NULL name ends `functions`, all of which the
 * program must have. The caller frees the text. */
char *traced_run(const char *program, const char *argument, const char *output,
                 const struct traced_function *functions);

#endif
