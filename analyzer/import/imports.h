/* The formats of other profilers that can be imported as sessions, in one table. */
#ifndef DWELL_IMPORT_IMPORTS_H
#define DWELL_IMPORT_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct import_options {
    uint64_t resolution; /* ticks per second; zero for that of the files, or nanoseconds */
};

struct import_format {
    const char *name;
    const char *does; /* a line for --list */
    /* Reads all files and writes the session. Where that fails, no session is written. */
    bool (*read)(char *const *files, size_t count, const struct import_options *options, const char *output,
                 struct error *error);
};

/* In the order of --list. The last one has no name. */
extern const struct import_format import_formats[];

/* A file's bytes, which the caller frees. NULL where it cannot be read. */
char *import_file(const char *path, size_t *length, struct error *error);

bool import_vsperf(char *const *files, size_t count, const struct import_options *options, const char *output,
                   struct error *error);

#endif
