/* Paths as text: files need not exist. */
#ifndef DWELL_BASE_PATH_TEXT_H
#define DWELL_BASE_PATH_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Whether it is a path of Windows, "c:\\src\\play.cpp" or "\\\\host\\share\\play.cpp". Imported reports have such
 * paths. */
static inline bool path_has_backslashes(const char *path)
{
    const char letter = (char)(path[0] | 0x20);
    return (letter >= 'a' && letter <= 'z' && path[1] == ':' && path[2] == '\\') || strncmp(path, "\\\\", 2) == 0;
}

/* The path after its last slash, or after the last backslash of a path of Windows. */
static inline const char *path_file_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *back = path_has_backslashes(path) ? strrchr(path, '\\') : NULL;
    const char *last = back && (!slash || back > slash) ? back : slash;
    return last ? last + 1 : path;
}

/* Whether the path is the folder, or lies in it. Both are absolute and without links; the folder has that length. */
static inline bool path_is_in(const char *path, const char *folder, size_t length)
{
    if (length == 1)
        length = 0; /* the root holds all */
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

#endif
