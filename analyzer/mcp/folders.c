/* Resolves paths by realpath, and keeps them in the folders. What is outside looks as if it did not exist. */
#include "mcp/folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/path_text.h"

bool mcp_folders_add(struct mcp_folders *f, const char *path, struct error *error)
{
    struct stat status;
    char *real = realpath(path, NULL);
    if (!real || stat(real, &status) < 0 || !S_ISDIR(status.st_mode)) {
        error_set(error, "%s: %s", path, real ? strerror(ENOTDIR) : strerror(errno));
        free(real);
        return false;
    }
    if (strchr(real, '\n')) {
        error_set(error, "%s: its path has a line break, which dwell mcp can't take", path);
        free(real);
        return false;
    }
    GROW(f->paths, f->count, f->room);
    f->paths[f->count++] = real;
    return true;
}

void mcp_folders_drop(struct mcp_folders *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->paths[i]);
    free(f->paths);
}

char *mcp_folders_text(const struct mcp_folders *f, const char *separator)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < f->count; i++)
        fprintf(out, "%s%s", i ? separator : "", f->paths[i]);
    need_stream_end(out);
    return text;
}

static bool folders_hold(const struct mcp_folders *f, const char *real)
{
    for (size_t i = 0; i < f->count; i++)
        if (path_is_in(real, f->paths[i], strlen(f->paths[i])))
            return true;
    return false;
}

/* The path without links if it exists in a folder, else NULL. */
static char *folders_resolve(const struct mcp_folders *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++) {
        char *joined = path[0] == '/' ? need_text("%s", path) : need_text("%s/%s", f->paths[i], path);
        char *real = realpath(joined, NULL);
        free(joined);
        if (real && folders_hold(f, real))
            return real;
        free(real);
    }
    return NULL;
}

/* One message, whether there is something outside or not. */
static char *folders_refuse(const struct mcp_folders *f, const char *path, const char *what, struct error *error)
{
    char *all = mcp_folders_text(f, ", ");
    error_set(error, "%s: no such %s in the folders of dwell mcp: %s", path, what, all);
    free(all);
    return NULL;
}

static char *folders_find(const struct mcp_folders *f, const char *path, mode_t type, const char *what,
                          struct error *error)
{
    struct stat status;
    char *real = folders_resolve(f, path);
    if (real && stat(real, &status) == 0 && (status.st_mode & S_IFMT) == type)
        return real;
    free(real);
    return folders_refuse(f, path, what, error);
}

char *mcp_folders_find_file(const struct mcp_folders *f, const char *path, struct error *error)
{
    return folders_find(f, path, S_IFREG, "file", error);
}

char *mcp_folders_find_folder(const struct mcp_folders *f, const char *path, struct error *error)
{
    return folders_find(f, path, S_IFDIR, "folder", error);
}

char *mcp_folders_place_file(const struct mcp_folders *f, const char *path, struct error *error)
{
    struct stat status;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *above = !slash ? need_text(".") : slash == path ? need_text("/") : need_copy(path, (size_t)(slash - path));
    char *folder = folders_resolve(f, above), *whole = folder ? need_text("%s/%s", folder, name) : NULL;
    const bool exists = whole && lstat(whole, &status) == 0;
    const bool named = *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    free(above);
    free(folder);
    if (whole && named && (!exists || S_ISREG(status.st_mode)))
        return whole;
    free(whole);
    return folders_refuse(f, path, "place for a file", error);
}

bool mcp_folders_exclude(const struct mcp_folders *f, const char *text)
{
    for (size_t i = 0; i < f->count; i++) {
        char *joined = text[0] == '/' ? need_text("%s", text) : need_text("%s/%s", f->paths[i], text);
        char *real = realpath(joined, NULL);
        const bool outside = real && !folders_hold(f, real);
        free(joined);
        free(real);
        if (outside)
            return true;
    }
    return false;
}
