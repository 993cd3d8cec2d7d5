/* Collects the source files and lines of compared functions. */
#include "report/diff_sources.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* The function of the comparison. A program under another name counts as the compared one. */
static uint32_t diff_sources_find(const struct diff *d, const struct analysis *analysis, uint32_t function)
{
    const char *name = analysis->names[function].name, *module = analysis->names[function].module;
    const uint32_t interned = intern_find(&d->names, name, strlen(name));
    uint32_t number = profile_find_module(d->keys, module, (const uint8_t *)"", 0);
    if (number == PROFILE_NONE && d->program)
        number = profile_find_module(d->keys, d->program, (const uint8_t *)"", 0);
    if (interned == INTERN_NONE || number == PROFILE_NONE)
        return PROFILE_NONE;
    return profile_find_function(d->keys, number, interned);
}

void diff_sources_add(struct diff_sources *s, const struct diff *d, const struct analysis *session)
{
    while (s->count < d->keys->function_count) {
        GROW(s->of, s->count, s->room);
        s->of[s->count++] = (struct diff_source){ NULL, 0 };
    }
    for (uint32_t i = 0; i < session->profile->function_count; i++) {
        const struct function_name *name = &session->names[i];
        const uint32_t key = name->file ? diff_sources_find(d, session, i) : PROFILE_NONE;
        if (key == PROFILE_NONE)
            continue;
        free(s->of[key].file);
        s->of[key] = (struct diff_source){ need_copy(name->file, strlen(name->file)), name->line };
    }
}

void diff_sources_drop(struct diff_sources *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->of[i].file);
    free(s->of);
}

const struct diff_source *diff_source_of(const struct diff_sources *s, const struct diff *d, const struct diff_row *row)
{
    if (d->by == DIFF_MODULES)
        return NULL;
    const uint32_t function = d->by == DIFF_PATHS ? d->keys->nodes[row->key].function : row->key;
    return function < s->count && s->of[function].file ? &s->of[function] : NULL;
}

const char *diff_source_relative(const char *file)
{
    const char *workspace = getenv("GITHUB_WORKSPACE");
    char *folder = workspace && *workspace ? need_copy(workspace, strlen(workspace)) : getcwd(NULL, 0);
    const size_t length = folder ? strlen(folder) : 0;
    const bool inside = length > 1 && strncmp(file, folder, length) == 0 && file[length] == '/';
    free(folder);
    return inside ? file + length + 1 : file;
}
