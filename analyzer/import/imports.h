/* The formats of others that become sessions, and one table of them. */
#ifndef DWELL_IMPORT_IMPORTS_H
#define DWELL_IMPORT_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

struct import_options {
    uint64_t resolution; /* ticks per second; zero: as the format says, else nanoseconds */
};

struct import_format {
    const char *name;
    const char *does; /* a line for --list */
    /* Reads all files and writes the session; ends the program where that fails. */
    void (*read)(char *const *files, size_t count, const struct import_options *options, const char *output);
};

/* In the order of --list; ended by one without a name. */
extern const struct import_format import_formats[];

/* NULL: there is none of that name. */
const struct import_format *import_find(const char *name);

/* A file's bytes, to be freed; ends the program where it cannot be read. */
char *import_file(const char *path, size_t *length);

void import_vsperf(char *const *files, size_t count, const struct import_options *options, const char *output);

#endif
