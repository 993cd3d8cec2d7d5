/* Finds and reads source files. */
#include "analysis/source_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "symbols/source_server.h"

static bool source_file_has_name(const char *path)
{
    static const char *const ends[] = { ".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp", ".cxx", ".hxx",
                                        ".c++", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".def" };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcasecmp(dot, ends[i]) == 0)
            return true;
    return false;
}

/* The text of a regular file. NULL if there is none. */
static char *source_file_read_regular(const char *path, size_t most, struct stat *status)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return NULL;
    char *text = NULL;
    if (fstat(file, status) == 0 && S_ISREG(status->st_mode) && (uint64_t)status->st_size <= most) {
        const size_t size = (size_t)status->st_size;
        text = need_memory(size + 1, 1);
        const ssize_t length = read(file, text, size);
        text[length > 0 ? length : 0] = '\0';
    }
    close(file);
    return text;
}

/* Whether the folders of SOURCE_FOLDERS, if there are any, hold the file. */
static bool source_file_is_allowed(const char *real)
{
    const char *folder = getenv(SOURCE_FOLDERS);
    if (!folder)
        return true;
    for (;; folder++) {
        const size_t length = strcspn(folder, "\n");
        if (length && path_is_in(real, folder, length))
            return true;
        folder += length;
        if (!*folder)
            return false;
    }
}

/* Reads the file, also behind links. */
static bool source_file_try(struct source_search *search, const char *path, size_t most, struct source_text *found)
{
    char real[PATH_MAX];
    GROW(search->tried, search->tried_count, search->tried_room);
    search->tried[search->tried_count++] = need_copy(path, strlen(path));
    if (!source_file_has_name(path) || !realpath(path, real) || !source_file_has_name(real) ||
        !source_file_is_allowed(real))
        return false;
    found->text = source_file_read_regular(real, most, &found->status);
    found->path = found->text ? need_copy(path, strlen(path)) : NULL;
    return found->text;
}

/* A path that a map replaces. The caller frees it; NULL if none fits. */
static char *source_file_map(const struct source_search *search, const char *file)
{
    for (size_t i = 0; i < search->map_count; i++) {
        const struct source_map *m = &search->maps[i];
        size_t length = strlen(m->from);
        while (length && m->from[length - 1] == '/')
            length--;
        if (strncmp(file, m->from, length) == 0 && (!length || !file[length] || file[length] == '/'))
            return need_text("%s%s%s", m->to, length ? "" : "/", file + length);
    }
    return NULL;
}

/* Debug information can hold paths relative to the folder of the build. So these are looked up from the current folder
 * and from the folders above the binary. */
static bool source_file_try_above(struct source_search *search, const char *file, const char *module, size_t most,
                                  struct source_text *found)
{
    char *folder = need_copy(module, strlen(module));
    for (char *slash = strrchr(folder, '/'); !found->text && slash && slash > folder; slash = strrchr(folder, '/')) {
        *slash = '\0';
        char *joined = need_text("%s/%s", folder, file);
        source_file_try(search, joined, most, found);
        free(joined);
    }
    free(folder);
    return found->text;
}

struct source_text source_file_find(struct source_search *search, const char *file, const struct profile_module *module,
                                    size_t most)
{
    struct source_text found = { .text = NULL };
    char *mapped = source_file_map(search, file);
    const bool here = (mapped && source_file_try(search, mapped, most, &found)) ||
                      source_file_try(search, file, most, &found) ||
                      (*file != '/' && source_file_try_above(search, file, module->path, most, &found));
    free(mapped);
    if (here || !search->servers || !source_file_has_name(file))
        return found;
    found.path = source_server_find(module->build_id, module->build_id_length, file);
    found.text = found.path ? source_file_read_regular(found.path, most, &found.status) : NULL;
    return found;
}

void source_text_drop(struct source_text *text)
{
    free(text->text);
    free(text->path);
}

void source_search_drop(struct source_search *search)
{
    for (size_t i = 0; i < search->tried_count; i++)
        free(search->tried[i]);
    free(search->tried);
    free(search->maps);
}

bool source_file_is_newer(const struct analysis *analysis, const char *module, const struct stat *status)
{
    const uint64_t recorded = analysis->file->header.start_realtime, second = 1000000000;
    struct stat binary = { .st_mtim = { (time_t)(recorded / second), (long)(recorded % second) } };
    stat(module, &binary);
    if (status->st_mtim.tv_sec != binary.st_mtim.tv_sec)
        return status->st_mtim.tv_sec > binary.st_mtim.tv_sec;
    return status->st_mtim.tv_nsec > binary.st_mtim.tv_nsec;
}
