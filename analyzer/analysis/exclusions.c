/* Makes lists of functions and files that GCC leaves out, and finds what else they leave out. */
#include "analysis/exclusions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "symbols/os_calls.h"
#include "symbols/short_name.h"

enum { MAX_TEXTS = 200 /* in a list */ };

/* ---- names ---- */

static bool exclusion_is_safe(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:~./+-";
    return *text && *text != '-' && !text[strspn(text, safe)];
}

/* GCC writes unnamed namespaces differently from the demangler. What follows the last one is a part of both. */
static const char *exclusion_skip_unnamed(const char *name)
{
    static const char unnamed[] = "(anonymous namespace)::";
    for (const char *next; (next = strstr(name, unnamed));)
        name = next + strlen(unnamed);
    return name;
}

/* Arguments of a template are written in another way, too. So those of the function itself are cut, and functions of
 * class templates have no name. */
char *exclusion_name(const char *demangled)
{
    char *whole = short_name_of(demangled);
    const char *name = exclusion_skip_unnamed(whole);
    char *text = need_copy(name, strcspn(name, "<[. "));
    const bool in_template = name[strlen(text)] == '<' && strstr(name + strlen(text), ">::");
    free(whole);
    if (!in_template && exclusion_is_safe(text) && !strchr(text, '+') && !strchr(text, '/'))
        return text;
    free(text);
    return NULL;
}

/* The names of all functions that were called, as GCC compares them. Nobody compiles libc again. */
struct exclusion_names {
    char **of; /* by function; NULL if it was not called, or is libc's */
    size_t count;
};

static struct exclusion_names exclusion_names_of(const struct analysis *analysis)
{
    struct exclusion_names names = { .count = analysis->profile->function_count };
    names.of = need_memory(names.count, sizeof *names.of);
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    for (size_t i = 0; i < names.count; i++) {
        const char *module = analysis->profile->modules[analysis->profile->functions[i].module].path;
        names.of[i] = sums[i].calls && !os_calls_is_library(module) ? short_name_of(analysis->names[i].name) : NULL;
    }
    free(sums);
    return names;
}

static void exclusion_names_drop(struct exclusion_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->of[i]);
    free(names->of);
}

/* ---- lists ---- */

static void exclusions_miss(struct exclusions *e, uint32_t function, enum exclusion_reason reason, uint32_t other)
{
    GROW(e->missed, e->missed_count, e->missed_room);
    e->missed[e->missed_count++] = (struct exclusion_missed){ function, reason, other };
}

/* Marks all functions whose name contains the text, unless one of them is to stay: returns that one. */
static uint32_t exclusions_leave_out(struct exclusions *e, const struct exclusion_names *names, const char *text,
                                     const bool *wanted)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names->of[i] && !wanted[i] && strstr(names->of[i], text))
            return i;
    for (uint32_t i = 0; i < names->count; i++)
        e->left_out[i] |= names->of[i] && strstr(names->of[i], text);
    return PROFILE_NONE;
}

static void exclusions_add_function(struct exclusions *e, const struct analysis *analysis,
                                    const struct exclusion_names *names, uint32_t function, const bool *wanted)
{
    char *text = exclusion_name(analysis->names[function].name);
    if (!text) {
        exclusions_miss(e, function, EXCLUSION_HAS_NO_NAME, PROFILE_NONE);
        return;
    }
    const bool full = e->function_count == MAX_TEXTS;
    const uint32_t other = full ? PROFILE_NONE : exclusions_leave_out(e, names, text, wanted);
    if (full || other != PROFILE_NONE) {
        exclusions_miss(e, function, full ? EXCLUSION_TOO_MANY : EXCLUSION_TAKES_OTHERS, other);
        free(text);
        return;
    }
    GROW(e->functions, e->function_count, e->function_room);
    e->functions[e->function_count++] = text;
}

/* A file is left out if all its functions that were called are to be left out. The compiler may know it by a shorter
 * path than the debug information, so only its name is certain. */
static bool exclusions_add_file(struct exclusions *e, const struct analysis *analysis,
                                const struct exclusion_names *names, uint32_t function, const bool *wanted)
{
    const char *file = analysis->names[function].file, *text = file ? path_file_name(file) : NULL;
    if (!text || !exclusion_is_safe(text) || e->file_count == MAX_TEXTS)
        return false;
    for (size_t i = 0; i < names->count; i++)
        if (names->of[i] && !wanted[i] && analysis->names[i].file && strstr(analysis->names[i].file, text))
            return false;
    for (size_t i = 0; i < names->count; i++)
        e->left_out[i] |=
            names->of[i] && analysis->names[i].file && strstr(path_file_name(analysis->names[i].file), text);
    GROW(e->files, e->file_count, e->file_room);
    e->files[e->file_count++] = need_copy(text, strlen(text));
    return true;
}

/* Functions that have no usable name may be in a file that can be left out as a whole. */
static void exclusions_add_files(struct exclusions *e, const struct analysis *analysis,
                                 const struct exclusion_names *names, const bool *wanted)
{
    size_t kept = 0, tries = MAX_TEXTS;
    for (size_t i = 0; i < e->missed_count; i++) {
        const uint32_t function = e->missed[i].function;
        if (!e->left_out[function] && !(tries && tries-- && exclusions_add_file(e, analysis, names, function, wanted)))
            e->missed[kept++] = e->missed[i];
    }
    e->missed_count = kept;
}

struct exclusions exclusions_of(const struct analysis *analysis, const uint32_t *list, size_t count, const bool *wanted)
{
    struct exclusions e = { .left_out = need_memory(analysis->profile->function_count, sizeof *e.left_out) };
    struct exclusion_names names = exclusion_names_of(analysis);
    for (size_t i = 0; i < count; i++)
        if (!e.left_out[list[i]])
            exclusions_add_function(&e, analysis, &names, list[i], wanted);
    exclusions_add_files(&e, analysis, &names, wanted);
    exclusion_names_drop(&names);
    return e;
}

void exclusions_drop(struct exclusions *e)
{
    for (size_t i = 0; i < e->function_count; i++)
        free(e->functions[i]);
    for (size_t i = 0; i < e->file_count; i++)
        free(e->files[i]);
    free(e->functions);
    free(e->files);
    free(e->left_out);
    free(e->missed);
}
