/* Reads source files. A session can name any file, so only regular files with the name of a source file are read. */
#include "view/source_texts.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/sources.h"
#include "base/json_text.h"
#include "base/memory.h"

enum { MAX_FILE = 1 << 20, PACKED_RATIO = 3 }; /* source text takes about a third when it is packed */

struct source_order {
    const struct sources *sources;
    uint64_t *times; /* by file: the exclusive time of its functions */
};

static int source_texts_compare(const void *a, const void *b, void *context)
{
    const struct source_order *o = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (o->times[x] != o->times[y])
        return o->times[x] < o->times[y] ? 1 : -1;
    return (x > y) - (x < y);
}

static bool source_texts_is_source(const char *path)
{
    static const char *const ends[] = { ".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp", ".cxx", ".hxx",
                                        ".c++", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".def" };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcasecmp(dot, ends[i]) == 0)
            return true;
    return false;
}

/* The text of a regular file of a source file's name, also behind links. NULL if there is none. */
static char *source_texts_read(const char *path, struct stat *status)
{
    char real[PATH_MAX];
    if (!source_texts_is_source(path) || !realpath(path, real) || !source_texts_is_source(real))
        return NULL;
    const int file = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return NULL;
    char *text = NULL;
    if (fstat(file, status) == 0 && S_ISREG(status->st_mode) && status->st_size <= MAX_FILE) {
        const size_t size = (size_t)status->st_size;
        text = need_memory(size + 1, 1);
        const ssize_t length = read(file, text, size);
        text[length > 0 ? length : 0] = '\0';
    }
    close(file);
    return text;
}

/* The module of the first function of a file. */
static const char *source_texts_module(const struct analysis *l, const struct sources *sources, uint32_t file)
{
    for (size_t i = 0; i < l->profile->function_count; i++)
        if (sources->of[i] == file)
            return l->profile->modules[l->profile->functions[i].module].path;
    return "";
}

/* Debug information can hold paths relative to the folder of the build. So these are looked up from the current folder
 * and from the folders above the binary. */
static char *source_texts_find(const char *path, const char *module, struct stat *status)
{
    char *text = source_texts_read(path, status), *folder = need_copy(module, strlen(module));
    for (char *slash = strrchr(folder, '/'); !text && *path != '/' && slash && slash > folder;
         slash = strrchr(folder, '/')) {
        *slash = '\0';
        char *joined = need_text("%s/%s", folder, path);
        text = source_texts_read(joined, status);
        free(joined);
    }
    free(folder);
    return text;
}

/* Whether the file was changed after the binary was built, or, if that is gone, after the recording. */
static bool source_texts_is_newer(const struct analysis *l, const char *module, const struct stat *status)
{
    const time_t recorded = (time_t)(l->file->header.start_realtime / 1000000000u);
    struct stat binary;
    return status->st_mtime > (stat(module, &binary) == 0 ? binary.st_mtime : recorded);
}

static struct json_object *source_texts_list(const struct analysis *l, const struct sources *sources,
                                             const uint32_t *order, size_t most)
{
    struct json_object *list = json_object_new_array();
    size_t left = most * PACKED_RATIO;
    for (size_t i = 0; i + 1 < sources->count; i++) {
        struct stat status;
        const char *module = source_texts_module(l, sources, order[i]);
        char *text = source_texts_find(sources->paths[order[i]], module, &status);
        const size_t length = text ? strlen(text) : 0;
        if (text && length <= left) {
            struct json_object *file = json_object_new_object();
            json_object_object_add(file, "path", json_new_text(sources->paths[order[i]]));
            json_object_object_add(file, "newer", json_object_new_boolean(source_texts_is_newer(l, module, &status)));
            json_object_object_add(file, "text", json_new_text(text));
            json_object_array_add(list, file);
            left -= length;
        }
        free(text);
    }
    return list;
}

static uint32_t *source_texts_order(const struct analysis *l, const struct sources *sources)
{
    struct times *times = rollup_groups(l->rollup, BY_FUNCTION);
    struct source_order o = { sources, need_memory(sources->count, sizeof *o.times) };
    uint32_t *order = need_memory(sources->count, sizeof *order);
    for (size_t i = 0; i < l->profile->function_count; i++)
        o.times[sources->of[i]] += times[i].elapsed_exclusive;
    for (uint32_t i = 1; i < sources->count; i++) /* number 0 stands for unknown files */
        order[i - 1] = i;
    if (sources->count > 1)
        qsort_r(order, sources->count - 1, sizeof *order, source_texts_compare, &o);
    free(o.times);
    free(times);
    return order;
}

struct json_object *source_texts_make(const struct analysis *l, size_t most, struct blocks *blocks)
{
    struct sources sources = sources_of(l);
    uint32_t *order = source_texts_order(l, &sources);
    struct json_object *list = source_texts_list(l, &sources, order, most), *described = NULL;
    if (json_object_array_length(list)) {
        struct json_object *header = json_object_new_object();
        struct packed packed = { 0 };
        json_object_object_add(header, "files", json_object_get(list));
        container_pack(header, NULL, 0, &packed);
        described = json_object_new_object();
        json_object_object_add(described, "block", json_object_new_uint64(blocks->count));
        GROW(blocks->list, blocks->count, blocks->room);
        blocks->list[blocks->count++] = packed;
    }
    json_object_put(list);
    free(order);
    sources_drop(&sources);
    return described;
}
