/* Reads a file of a report into memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "vsperf/vsperf_import.h"

enum { MAX_LENGTH = 1 << 30 };

static char *vsperf_input_bytes(FILE *in, const char *path, size_t *length, struct error *error)
{
    char *bytes = NULL;
    size_t room = 1 << 16, got;
    *length = 0;
    do {
        if (!bytes || *length == room)
            bytes = need_more(bytes, room *= 2, 1);
        got = fread(bytes + *length, 1, room - *length, in);
        *length += got;
    } while (got && *length <= MAX_LENGTH);
    if (!got && !ferror(in))
        return bytes;
    if (got)
        error_set(error, "%s: larger than 1 GiB", path);
    else
        error_set(error, "%s: %s", path, strerror(errno));
    free(bytes);
    return NULL;
}

char *vsperf_input(const char *path, size_t *length, struct error *error)
{
    struct stat status;
    FILE *in = fopen(path, "rbe");
    if (!in) {
        error_set(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    char *bytes = NULL;
    if (fstat(fileno(in), &status) == 0 && S_ISDIR(status.st_mode))
        error_set(error, "%s: is a directory", path);
    else
        bytes = vsperf_input_bytes(in, path, length, error);
    fclose(in);
    return bytes;
}
