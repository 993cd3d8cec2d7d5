/* Paths as text: files need not exist. */
#ifndef DWELL_BASE_PATH_TEXT_H
#define DWELL_BASE_PATH_TEXT_H

#include <string.h>

/* The path after its last slash. */
static inline const char *path_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
