/* Collects the source files of a session's functions, sorts them, and numbers each once. */
#include "analysis/sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int sources_compare_files(const void *a, const void *b, void *data)
{
    const struct function_name *names = data;
    return strcmp(names[*(const uint32_t *)a].file, names[*(const uint32_t *)b].file);
}

struct sources sources_of(const struct analysis *session)
{
    const size_t functions = session->profile->function_count;
    const struct function_name *names = session->names;
    uint32_t *sorted = need_memory(functions + 1, sizeof *sorted);
    size_t with_file = 0;
    for (uint32_t i = 0; i < functions; i++)
        if (names[i].file)
            sorted[with_file++] = i;
    if (with_file)
        qsort_r(sorted, with_file, sizeof *sorted, sources_compare_files, (void *)names);
    struct sources s = {
        .paths = need_memory(with_file + 1, sizeof *s.paths),
        .count = 1,
        .of = need_memory(functions + 1, sizeof *s.of),
    };
    for (size_t i = 0; i < with_file; i++) {
        const char *path = names[sorted[i]].file;
        if (i == 0 || strcmp(s.paths[s.count - 1], path) != 0)
            s.paths[s.count++] = path;
        s.of[sorted[i]] = (uint32_t)s.count - 1;
    }
    free(sorted);
    return s;
}

void sources_drop(struct sources *sources)
{
    free(sources->paths);
    free(sources->of);
}
