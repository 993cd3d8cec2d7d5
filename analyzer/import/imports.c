/* The list of import formats, and reading a file of any of them into memory. */
#include "import/imports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

const struct import_format import_formats[] = {
    { "vsperf", "VSPerfReport's summaries, as CSV files", import_vsperf },
    { 0 },
};

enum { MAX_LENGTH = 1 << 30 };

static char *import_read(FILE *in, const char *path, size_t *length, struct error *error)
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

char *import_file(const char *path, size_t *length, struct error *error)
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
        bytes = import_read(in, path, length, error);
    fclose(in);
    return bytes;
}
