/* Finds functions by the text that the user typed: a name in full, without return type or parameters, as tables show
 * it, a glob or a part of a name, each with or without a place. */
#include "analysis/find_function.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/hints.h"
#include "analysis/level_changes.h"
#include "base/memory.h"
#include "base/path_text.h"
#include "base/sorted.h"
#include "symbols/display_name.h"
#include "symbols/short_name.h"

enum { MAX_NAMED = 8 };

int function_compare(const struct analysis *analysis, uint32_t x, uint32_t y)
{
    const struct profile_function *f = &analysis->profile->functions[x], *g = &analysis->profile->functions[y];
    const int modules = strcmp(analysis->names[x].module, analysis->names[y].module);
    if (modules || f->offset != g->offset)
        return modules ? modules : ORDER(f->offset, g->offset);
    return strcmp(analysis->profile->modules[f->module].path, analysis->profile->modules[g->module].path);
}

static int function_compare_numbers(const void *a, const void *b, void *analysis)
{
    return function_compare(analysis, *(const uint32_t *)a, *(const uint32_t *)b);
}

struct named_function function_named(const struct function_name *n, uint64_t address)
{
    return (struct named_function){
        .name = n->name,
        .linkage_name = n->linkage_name,
        .module = n->module,
        .file = n->file,
        .line = n->line,
        .address = address,
    };
}

/* The same with the build of its module. */
static struct named_function function_of(const struct analysis *analysis, uint32_t function)
{
    const struct profile_function *own = &analysis->profile->functions[function];
    const struct profile_module *m = &analysis->profile->modules[own->module];
    struct named_function f = function_named(&analysis->names[function], own->offset);
    f.build_id = m->build_id;
    f.build_id_length = m->build_id_length;
    return f;
}

/* ---- ways to match a name ---- */

static bool function_is_whole_name(const struct function_name *name, const char *text)
{
    return strcmp(name->name, text) == 0 || (name->linkage_name && strcmp(name->linkage_name, text) == 0);
}

static bool function_is_short_name(const struct function_name *name, const char *text)
{
    return short_name_matches(name->name, short_name_is_text, text);
}

static bool function_is_glob(const struct function_name *name, const char *text)
{
    return strpbrk(text, "*?[") && short_name_matches(name->name, short_name_is_glob, text);
}

/* As tables show it where space is short: with dots, and at last without namespaces. */
static bool function_is_elided(const struct function_name *name, const char *text)
{
    if (short_name_matches(name->name, short_name_is_elided, text))
        return true;
    char *shown = display_name(name->name);
    const char *last = shown + short_name_find(shown).last;
    const bool same = short_name_is_elided(last, text) || strcmp(last, text) == 0;
    free(shown);
    return same;
}

static bool function_is_part_of_name(const struct function_name *name, const char *text)
{
    return strstr(name->name, text) != NULL;
}

enum function_way { FUNCTION_WHOLE, FUNCTION_SHORT, FUNCTION_GLOB, FUNCTION_ELIDED, FUNCTION_PART, FUNCTION_WAYS };

static bool (*const function_ways[FUNCTION_WAYS])(const struct function_name *, const char *) = {
    [FUNCTION_WHOLE] = function_is_whole_name,  [FUNCTION_SHORT] = function_is_short_name,
    [FUNCTION_GLOB] = function_is_glob,         [FUNCTION_ELIDED] = function_is_elided,
    [FUNCTION_PART] = function_is_part_of_name,
};

/* What a compiler makes of a file's global objects is named after a function of that file: it is not meant. */
static bool function_is_made(const struct function_name *name)
{
    return strncmp(name->name, "_GLOBAL__sub_", strlen("_GLOBAL__sub_")) == 0;
}

/* Leaves out functions that nobody has written, unless there are no others. Returns how many remain. */
static size_t function_prefer_written(const struct analysis *analysis, uint32_t *found, size_t count)
{
    size_t written = 0;
    for (size_t i = 0; i < count; i++)
        if (!function_is_made(&analysis->names[found[i]]))
            found[written++] = found[i];
    return written ? written : count;
}

/* Returns the functions that the text names in the first way that finds any. */
static uint32_t *function_search(const struct analysis *analysis, const char *text, enum function_way *way,
                                 size_t *count)
{
    uint32_t *found = need_memory(analysis->profile->function_count, sizeof *found);
    const char *place = typed_place_of(text);
    char *name = need_copy(text, place ? (size_t)(place - text) : strlen(text));
    *count = 0;
    for (*way = 0; *way < FUNCTION_WAYS && *count == 0; (*way)++)
        for (uint32_t i = 0; i < analysis->profile->function_count; i++) {
            const struct named_function f = function_of(analysis, i);
            if (function_ways[*way](&analysis->names[i], text) ||
                (place && function_ways[*way](&analysis->names[i], name) &&
                 typed_place_matches(&f, short_name_is_glob, place + 1)))
                found[(*count)++] = i;
        }
    *way -= *count > 0;
    free(name);
    if (*way == FUNCTION_PART)
        *count = function_prefer_written(analysis, found, *count);
    if (*count)
        qsort_r(found, *count, sizeof *found, function_compare_numbers, (void *)analysis);
    return found;
}

uint32_t *function_find_all(const struct analysis *analysis, const char *text, size_t *count)
{
    enum function_way way;
    return function_search(analysis, text, &way, count);
}

/* ---- errors ---- */

/* Counted calls are in no range of time, so such a function may be missing there. Another one, whose name has the text
 * as a part, is not meant then. */
static bool function_is_untimed(const struct analysis *analysis, const char *text, enum function_way way)
{
    return way >= FUNCTION_ELIDED && level_changes_have(analysis->file, text);
}

static bool function_set_untimed(const struct analysis *analysis, const char *text, struct error *error)
{
    return error_set(error, "%s%s%s: no call of %s was timed there. To time them all, record with --level 'timed=%s'",
                     analysis->file->path, analysis->summary.selection ? ", " : "",
                     analysis->summary.selection ? analysis->summary.selection : "", text, text);
}

static bool function_set_unknown(const struct analysis *analysis, const char *text, struct error *error)
{
    const struct dwell_file_more *more = &analysis->file->more;
    if (more->keep && !more->kept_calls && !more->usual_calls)
        return error_set(error,
                         "%s: no call was slow, so --keep has kept none, and '%s' is not known; dwell info shows the "
                         "limits",
                         analysis->file->path, text);
    return error_set(error, "%s%s%s: no function '%s' was recorded%s dwell report -s name lists them",
                     analysis->file->path, analysis->summary.selection ? ", " : "",
                     analysis->summary.selection ? analysis->summary.selection : "", text,
                     hint_function(analysis, text, ";"));
}

/* Whether the text names only this function. */
static bool function_is_only(const struct analysis *analysis, const char *text, uint32_t function)
{
    size_t count;
    uint32_t *found = function_find_all(analysis, text, &count);
    const bool only = count == 1 && found[0] == function;
    free(found);
    return only;
}

/* The first text that names only this function: its name, or its name and a place. The caller frees it. */
static char *function_typed_form(const struct analysis *analysis, uint32_t function)
{
    const struct named_function f = function_of(analysis, function);
    char *form = need_copy(f.name, strlen(f.name)), id[2 * TYPED_BUILD_ID + 1] = "";
    for (size_t i = 0; i < TYPED_BUILD_ID && f.build_id_length >= TYPED_BUILD_ID; i++)
        snprintf(id + 2 * i, 3, "%02x", f.build_id[i]);
    for (int i = 0; i < 5 && !function_is_only(analysis, form, function); i++) {
        if (((i == 1 || i == 2) && (!f.file || !f.line)) || (i == 4 && !*id))
            continue;
        free(form);
        form = i == 0   ? need_text("%s@%s", f.name, f.module)
               : i == 1 ? need_text("%s@%s:%u", f.name, path_file_name(f.file), f.line)
               : i == 2 ? need_text("%s@%s:%u", f.name, f.file, f.line)
               : i == 3 ? need_text("%s@0x%llx", f.name, (unsigned long long)f.address)
                        : need_text("%s@0x%llx:%s", f.name, (unsigned long long)f.address, id); /* of several builds */
    }
    return form;
}

static bool function_set_ambiguous(const struct analysis *analysis, const char *text, const uint32_t *found,
                                   size_t count, struct error *error)
{
    error_set(error, "'%s' names %zu functions; type one of:", text, count);
    for (size_t i = 0; i < count && i < MAX_NAMED; i++) {
        char *form = function_typed_form(analysis, found[i]);
        error_list(error, "  %s", form);
        free(form);
    }
    if (count > MAX_NAMED)
        error_list(error, "  and %zu more", count - MAX_NAMED);
    return false;
}

/* Says why the text names none, or more than one may be meant. Returns false. */
static bool function_set_error(const struct analysis *analysis, const char *text, bool untimed, const uint32_t *found,
                               size_t count, struct error *error)
{
    if (untimed)
        return function_set_untimed(analysis, text, error);
    return count == 0 ? function_set_unknown(analysis, text, error)
                      : function_set_ambiguous(analysis, text, found, count, error);
}

bool function_find(const struct analysis *analysis, const char *text, uint32_t *function, struct error *error)
{
    size_t count;
    enum function_way way;
    uint32_t *found = function_search(analysis, text, &way, &count);
    const bool untimed = function_is_untimed(analysis, text, way), good = count == 1 && !untimed;
    if (good)
        *function = found[0];
    else
        function_set_error(analysis, text, untimed, found, count, error);
    free(found);
    return good;
}

bool function_find_each(const struct analysis *analysis, const char *text, bool *found, struct error *error)
{
    size_t count;
    enum function_way way;
    uint32_t *list = function_search(analysis, text, &way, &count);
    const char *place = typed_place_of(text);
    const bool glob = way == FUNCTION_GLOB || (way != FUNCTION_PART && place && strpbrk(place, "*?["));
    const bool untimed = function_is_untimed(analysis, text, way);
    const bool good = !untimed && (count == 1 || (count > 1 && glob));
    for (size_t i = 0; i < count; i++)
        found[list[i]] |= good;
    if (!good)
        function_set_error(analysis, text, untimed, list, count, error);
    free(list);
    return good;
}
