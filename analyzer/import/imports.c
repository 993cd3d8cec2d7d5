#include "import/imports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/message.h"

const struct import_format import_formats[] = {
    { "vsperf", "VSPerfReport's summaries, as CSV files", import_vsperf },
    { 0 },
};

const struct import_format *import_find(const char *name)
{
    for (const struct import_format *format = import_formats; format->name; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

enum { LARGEST = 1 << 30 };

char *import_file(const char *path, size_t *length)
{
    struct stat status;
    FILE *in = fopen(path, "rbe");
    if (!in)
        die(STATUS_ERROR, "%s: %s", path, strerror(errno));
    if (fstat(fileno(in), &status) == 0 && S_ISDIR(status.st_mode))
        die(STATUS_ERROR, "%s: is a directory", path);
    char *bytes = NULL;
    size_t room = 1 << 16, got;
    *length = 0;
    do {
        if (!bytes || *length == room)
            bytes = need_more(bytes, room *= 2, 1);
        got = fread(bytes + *length, 1, room - *length, in);
        *length += got;
        if (*length > LARGEST)
            die(STATUS_ERROR, "%s: larger than 1 GiB", path);
    } while (got);
    if (ferror(in))
        die(STATUS_ERROR, "%s: %s", path, strerror(errno));
    fclose(in);
    return bytes;
}
