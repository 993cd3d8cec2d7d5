/*
 * What the samples share: reading a number from the command line.
 *
 * It is not instrumented, so that each sample's report shows only the sample's own functions. Each sample prints the
 * expected counts as lines "calls NAME COUNT". Every function counts itself by incrementing a variable, so that
 * counting adds no call.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLE_NOT_INSTRUMENTED __attribute__((no_instrument_function))

enum { SAMPLE_EXIT_USAGE = 2 };

static inline SAMPLE_NOT_INSTRUMENTED long sample_number(const char *text, long least, long most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "a number from %ld to %ld is wanted, not '%s'\n", least, most, text);
        exit(SAMPLE_EXIT_USAGE);
    }
    return value;
}

static inline SAMPLE_NOT_INSTRUMENTED _Noreturn void sample_usage(const char *usage)
{
    fprintf(stderr, "usage: %s\n", usage);
    exit(SAMPLE_EXIT_USAGE);
}

#endif
