/*
 * Finds the rows whose calls the system's timing decides. Rows of locks and conditions count only calls that block, a
 * read returns as much as there is, and a wait for a condition asks for it again each time that it wakes up. So the
 * calls of these rows, and of what they call, differ between runs of one program.
 */
#include "comparison/diff_chance.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "comparison/diff_names.h"
#include "symbols/os_calls.h"
#include "symbols/short_name.h"

/* Whether it is a function of the C++ library that waits, or tries again until it has a lock. */
static bool chance_is_wait(const char *name)
{
    static const char library[] = "std::", lock[] = "lock<";
    const struct short_name place = short_name_find(name);
    if (strncmp(name + place.begin, library, sizeof library - 1) != 0)
        return false;
    char *brief = need_copy(name + place.last, place.end - place.last);
    const size_t own = strcspn(brief, "<"); /* without template arguments, which may be any names */
    const bool is_lock = strncmp(brief, lock, sizeof lock - 1) == 0;
    brief[own] = '\0';
    const bool waits = strncmp(brief, "wait", 4) == 0 || strstr(brief, "_wait") || strstr(brief, "acquire") || is_lock;
    free(brief);
    return waits;
}

/* OpenMP's libraries call the program's functions as often as it has threads. */
static bool chance_is_openmp(const char *module)
{
    return os_calls_is_library(module) && strncmp(module, "libc.so", strlen("libc.so")) != 0;
}

static enum diff_chance chance_of_function(const char *module, const char *name)
{
    return os_calls_is_library(module) || chance_is_wait(name) ? CHANCE_SYSTEM : CHANCE_NONE;
}

/* The function's name, in the comparison and in a session's profile with its names. */
static const char *chance_name(const struct diff *d, const struct profile *p, uint32_t function)
{
    return d->names.pieces[p->functions[function].offset].bytes;
}

static enum diff_chance *chance_of_functions(const struct diff *d, const struct profile *p)
{
    enum diff_chance *own = need_memory(p->function_count + 1, sizeof *own);
    for (uint32_t i = 0; i < p->function_count; i++)
        own[i] = chance_of_function(p->modules[p->functions[i].module].path, chance_name(d, p, i));
    return own;
}

/* ---- the sessions' functions ---- */

static void chance_note(struct diff *d, uint32_t function)
{
    if (function >= d->called_count) {
        const size_t count = larger(function + 1, 2 * d->called_count);
        d->called = need_more(d->called, count, sizeof *d->called);
        memset(d->called + d->called_count, 0, (count - d->called_count) * sizeof *d->called);
        d->called_count = count;
    }
    d->called[function] = true;
}

/* Whether it is a lambda, such as that of `condition.wait(lock, [] { return ready; })`. */
static bool chance_is_lambda(const char *name)
{
    return strstr(name, "{lambda(") || strstr(name, "'lambda");
}

/* By module: whether it is a library of the system's calls. There are many more nodes than modules. */
static bool *chance_find_libraries(const struct profile *p)
{
    bool *libraries = need_memory(p->module_count + 1, sizeof *libraries);
    for (size_t i = 0; i < p->module_count; i++)
        libraries[i] = os_calls_is_library(p->modules[i].path);
    return libraries;
}

/* The nodes that wait for a condition themselves, as the C++ library's functions are often part of their callers. */
static bool *chance_find_waiting(const struct diff *d, const struct profile *p)
{
    bool *waiting = need_memory(p->node_count + 1, sizeof *waiting), *libraries = chance_find_libraries(p);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const uint32_t parent = p->nodes[i].parent;
        if (parent == PROFILE_NONE || !libraries[p->functions[p->nodes[i].function].module])
            continue;
        const char *name = chance_name(d, p, p->nodes[i].function);
        waiting[parent] |=
            strncmp(name, "pthread_cond_", strlen("pthread_cond_")) == 0 || strncmp(name, "cnd_", 4) == 0;
    }
    free(libraries);
    return waiting;
}

/* Parents come before their children. */
void diff_chance_add(struct diff *d, const struct profile *p)
{
    enum diff_chance *own = chance_of_functions(d, p);
    bool *below = need_memory(p->node_count + 1, sizeof *below), *waiting = chance_find_waiting(d, p);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const uint32_t parent = p->nodes[i].parent;
        if (parent == PROFILE_NONE)
            continue;
        const uint32_t function = p->nodes[i].function;
        const bool asks = waiting[parent] && chance_is_lambda(chance_name(d, p, function));
        const bool by_chance = asks || own[function] != CHANCE_NONE;
        if ((below[parent] || by_chance) && p->nodes[i].calls)
            chance_note(d, diff_common_function(d, p, function));
        below[i] = below[parent] || (by_chance && !chance_is_openmp(p->modules[p->functions[function].module].path));
    }
    free(waiting);
    free(below);
    free(own);
}

/* ---- rows ---- */

static bool chance_is_noted(const struct diff *d, uint32_t function)
{
    return function < d->called_count && d->called[function];
}

/* The sum of a module is decided by chance if a part of it is. */
static void chance_judge_modules(const struct diff *d, uint8_t *chance)
{
    const struct profile *p = d->keys;
    for (uint32_t i = 0; i < p->function_count; i++)
        if (chance_is_noted(d, i))
            chance[p->functions[i].module] = CHANCE_CALLED;
    for (uint32_t i = 0; i < p->module_count; i++)
        if (os_calls_is_library(p->modules[i].path))
            chance[i] = CHANCE_SYSTEM;
}

/* A path is decided by chance if a function on it is. Which threads share work of OpenMP is chance as well. */
static void chance_judge_paths(const struct diff *d, const enum diff_chance *own, uint8_t *chance)
{
    const struct profile *p = d->keys;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const uint32_t parent = p->nodes[i].parent;
        if (parent == PROFILE_NONE)
            continue;
        const uint32_t function = p->nodes[i].function;
        const bool asks = chance_is_noted(d, function) && chance_is_lambda(chance_name(d, p, function));
        if (own[function] != CHANCE_NONE)
            chance[i] = (uint8_t)own[function];
        else if (asks || chance[parent] != CHANCE_NONE)
            chance[i] = CHANCE_CALLED;
    }
}

uint8_t *diff_chance_judge(const struct diff *d)
{
    const struct profile *p = d->keys;
    enum diff_chance *own = chance_of_functions(d, p);
    uint8_t *chance = need_memory(diff_key_count(d) + 1, sizeof *chance);
    if (d->by == DIFF_PATHS) {
        chance_judge_paths(d, own, chance);
    } else if (d->by == DIFF_MODULES) {
        chance_judge_modules(d, chance);
    } else {
        for (uint32_t i = 0; i < p->function_count; i++)
            chance[i] = own[i] == CHANCE_NONE && chance_is_noted(d, i) ? CHANCE_CALLED : own[i];
    }
    free(own);
    return chance;
}
