/* Finds functions by the name that the user typed: in full, without return type or parameters, or in part. */
#include "analysis/find_function.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/hints.h"
#include "base/memory.h"
#include "symbols/short_name.h"

enum { MAX_NAMED = 8 };

static int function_compare_modules(const void *a, const void *b, void *data)
{
    const struct function_name *names = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(names[x].module, names[y].module);
    return order ? order : (x > y) - (x < y);
}

/* "function@module" distinguishes functions of one name. */
static bool function_is_whole_name(const struct function_name *name, const char *text)
{
    size_t length = strlen(name->name);
    if (strncmp(name->name, text, length) != 0)
        return false;
    return text[length] == '\0' || (text[length] == '@' && strcmp(text + length + 1, name->module) == 0);
}

static bool function_is_short_name(const struct function_name *name, const char *text)
{
    return short_name_matches(name->name, short_name_is_text, text);
}

static bool function_is_part_of_name(const struct function_name *name, const char *text)
{
    return strstr(name->name, text) != NULL;
}

uint32_t *function_find_all(const struct analysis *l, const char *text, size_t *count)
{
    static bool (*const ways[])(const struct function_name *, const char *) = {
        function_is_whole_name,
        function_is_short_name,
        function_is_part_of_name,
    };
    uint32_t *found = need_memory(l->profile->function_count, sizeof *found);
    *count = 0;
    for (size_t way = 0; way < sizeof ways / sizeof *ways && *count == 0; way++)
        for (uint32_t i = 0; i < l->profile->function_count; i++)
            if (ways[way](&l->names[i], text))
                found[(*count)++] = i;
    qsort_r(found, *count, sizeof *found, function_compare_modules, l->names);
    return found;
}

static bool function_set_unknown(const struct analysis *l, const char *text, struct error *error)
{
    return error_set(error, "%s%s%s: no function '%s' was recorded%s dwell report -s name lists them", l->file->path,
                     l->summary.selection ? ", " : "", l->summary.selection ? l->summary.selection : "", text,
                     hint_function(l, text, ";"));
}

static void function_set_ambiguous(const struct analysis *l, const char *text, const uint32_t *found, size_t count,
                                   struct error *error)
{
    error_set(error, "'%s' names %zu functions; type the full name of one, with @module if that name recurs:", text,
              count);
    for (size_t i = 0; i < count && i < MAX_NAMED; i++)
        error_list(error, "  %s (%s)", l->names[found[i]].name, l->names[found[i]].module);
    if (count > MAX_NAMED)
        error_list(error, "  and %zu more", count - MAX_NAMED);
}

bool function_find(const struct analysis *l, const char *text, uint32_t *function, struct error *error)
{
    size_t count;
    uint32_t *found = function_find_all(l, text, &count);
    bool good = count == 1;
    if (good)
        *function = found[0];
    else if (count == 0)
        function_set_unknown(l, text, error);
    else
        function_set_ambiguous(l, text, found, count, error);
    free(found);
    return good;
}
