/* Finds copies of one source function by name, module and source line, and joins them in a profile. */
#include "analysis/copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

struct copies_functions {
    const struct profile *profile;
    const struct function_name *names;
};

bool copies_is_deleting(const struct function_name *name)
{
    static const char end[] = "D0Ev";
    const size_t length = strlen(name->linkage_name);
    return strncmp(name->linkage_name, "_Z", 2) == 0 && length > strlen(end) &&
           strcmp(name->linkage_name + length - strlen(end), end) == 0;
}

bool copies_is_known(const struct function_name *name)
{
    return name->file && name->line && name->linkage_name;
}

/* Zero for copies of one function. */
static int copies_compare_sources(const struct copies_functions *f, uint32_t x, uint32_t y)
{
    const uint32_t a = f->profile->functions[x].module, b = f->profile->functions[y].module;
    const struct function_name *m = &f->names[x], *n = &f->names[y];
    if (a != b)
        return a < b ? -1 : 1;
    if (m->line != n->line)
        return m->line < n->line ? -1 : 1;
    int order = strcmp(m->name, n->name);
    if (order == 0)
        order = strcmp(m->file, n->file);
    return order ? order : copies_is_deleting(m) - copies_is_deleting(n);
}

static int copies_compare_functions(const void *a, const void *b, void *data)
{
    const struct copies_functions *f = data;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint64_t first = f->profile->functions[x].offset, second = f->profile->functions[y].offset;
    const int order = copies_compare_sources(f, x, y);
    return order ? order : ORDER(first, second);
}

uint32_t *copies_find(const struct profile *p, const struct function_name *names)
{
    struct copies_functions f = { p, names };
    uint32_t *sorted = need_memory(p->function_count, sizeof *sorted), count = 0, copies = 0;
    uint32_t *representatives = need_memory(p->function_count, sizeof *representatives);
    for (uint32_t i = 0; i < p->function_count; i++) {
        representatives[i] = i;
        if (copies_is_known(&names[i]))
            sorted[count++] = i;
    }
    if (count)
        qsort_r(sorted, count, sizeof *sorted, copies_compare_functions, &f);
    for (uint32_t i = 1; i < count; i++)
        if (copies_compare_sources(&f, sorted[i - 1], sorted[i]) == 0) {
            representatives[sorted[i]] = representatives[sorted[i - 1]];
            copies++;
        }
    free(sorted);
    if (copies)
        return representatives;
    free(representatives);
    return NULL;
}

struct profile *copies_join(const struct profile *p, const uint32_t *representatives)
{
    struct profile view = *p, *joined = profile_new();
    view.functions = need_memory(p->function_count, sizeof *view.functions);
    for (size_t i = 0; i < p->function_count; i++)
        view.functions[i] = p->functions[representatives[i]];
    profile_merge(joined, &view); /* modules keep their numbers */
    for (size_t i = 0; i < p->function_count; i++)
        profile_add_alias(joined, p->functions[i].module, p->functions[i].offset,
                          profile_find_function(joined, view.functions[i].module, view.functions[i].offset));
    free(view.functions);
    return joined;
}

struct function_name *copies_names(const struct profile *joined, const struct profile *p,
                                   const struct function_name *names, const uint32_t *representatives)
{
    struct function_name *list = need_memory(joined->function_count, sizeof *list);
    for (uint32_t i = 0; i < p->function_count; i++)
        if (representatives[i] == i)
            list[profile_find_function(joined, p->functions[i].module, p->functions[i].offset)] = names[i];
    return list;
}
