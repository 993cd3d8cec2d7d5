/* Numbers the threads of equal names, and finds the functions with which they began. */
#include "analysis/thread_titles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "profile/collect.h"
#include "symbols/display_name.h"
#include "symbols/os_calls.h"
#include "symbols/short_name.h"

/* By process, then name. Threads of one name stay in their order. */
static int titles_compare(const void *a, const void *b)
{
    const struct trace_thread *x = *(const struct trace_thread *const *)a, *y = *(const struct trace_thread *const *)b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    const int names = strcmp(x->name ? x->name : "", y->name ? y->name : "");
    return names ? names : ORDER(x->serial, y->serial);
}

static bool titles_are_alike(const struct trace_thread *a, const struct trace_thread *b)
{
    return a->process == b->process && strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0;
}

/* By thread of the file: the only function of the program that nothing recorded called, or PROFILE_NONE. */
static uint32_t *titles_find_starts(const struct session_file *file, const struct profile *p)
{
    uint32_t *starts = need_memory(file->thread_count + 1, sizeof *starts);
    uint32_t *threads = need_memory(p->node_count + 1, sizeof *threads); /* by root: 1 + the thread's index */
    bool *several = need_memory(file->thread_count + 1, sizeof *several);
    for (size_t i = 0; i < file->thread_count; i++)
        starts[i] = PROFILE_NONE;
    for (size_t i = 0; i < p->thread_count; i++)
        threads[p->threads[i].root] = (uint32_t)session_file_thread_index(file, p->threads[i].thread) + 1;
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *n = &p->nodes[i];
        const uint32_t thread = n->parent == PROFILE_NONE ? 0 : threads[n->parent];
        if (!thread || thread > file->thread_count ||
            os_calls_is_library(p->modules[p->functions[n->function].module].path))
            continue;
        several[thread - 1] |= starts[thread - 1] != PROFILE_NONE && starts[thread - 1] != n->function;
        starts[thread - 1] = several[thread - 1] ? PROFILE_NONE : n->function;
    }
    free(threads);
    free(several);
    return starts;
}

/* The function without what would be long: return type, parameters, template arguments, unnamed namespaces. The caller
 * frees it. */
static char *titles_function(const char *start)
{
    static const char unnamed[] = "(anonymous namespace)::";
    char *shown = display_name(start);
    char *elided = display_name_elide(shown, &(struct display_elision){ 0, false, "..." });
    char *name = short_name_of(elided), *at;
    while ((at = strstr(name, unnamed)))
        memmove(at, at + strlen(unnamed), strlen(at + strlen(unnamed)) + 1);
    free(elided);
    free(shown);
    return name;
}

static char *titles_make(const struct trace_thread *t, const struct trace_thread *first, const char *start,
                         size_t number)
{
    static const char unknown[] = "[unknown]"; /* an address says less than the name */
    if (!start || !titles_are_alike(t, first) || strncmp(start, unknown, sizeof unknown - 1) == 0)
        return need_text("%s#%zu", t->name && t->name[0] ? t->name : unknown, number);
    char *name = titles_function(start), *title = need_text("%s#%zu", name, number);
    free(name);
    return title;
}

/* The first one in the file, of the threads of one process that begin the list. */
static const struct trace_thread *titles_find_oldest(const struct trace_thread *const *sorted, size_t count)
{
    const struct trace_thread *oldest = sorted[0];
    for (size_t i = 1; i < count && sorted[i]->process == oldest->process; i++)
        oldest = sorted[i] < oldest ? sorted[i] : oldest;
    return oldest;
}

char **thread_titles_find(const struct session_file *file, const struct profile *profile,
                          const struct function_name *names)
{
    const struct trace_thread **sorted = need_memory(file->thread_count + 1, sizeof *sorted), *oldest = NULL;
    char **titles = need_memory(file->thread_count + 1, sizeof *titles);
    uint32_t *starts = NULL; /* they are found when they are needed */
    size_t number = 0;
    for (size_t i = 0; i < file->thread_count; i++)
        sorted[i] = &file->threads[i];
    if (file->thread_count)
        qsort(sorted, file->thread_count, sizeof *sorted, titles_compare);
    for (size_t i = 0; i < file->thread_count; i++) {
        const bool again = i && titles_are_alike(sorted[i - 1], sorted[i]);
        const bool more = i + 1 < file->thread_count && titles_are_alike(sorted[i], sorted[i + 1]);
        number = again ? number + 1 : 1;
        if (i == 0 || sorted[i - 1]->process != sorted[i]->process)
            oldest = titles_find_oldest(sorted + i, file->thread_count - i);
        if (!again && !more)
            continue;
        if (!starts)
            starts = titles_find_starts(file, profile);
        const size_t at = (size_t)(sorted[i] - file->threads);
        titles[at] = titles_make(sorted[i], oldest, starts[at] == PROFILE_NONE ? NULL : names[starts[at]].name, number);
    }
    free(starts);
    free(sorted);
    return titles;
}

/* Whether threads of a process have equal names. */
static bool titles_are_needed(const struct session_file *file)
{
    const struct trace_thread **sorted = need_memory(file->thread_count + 1, sizeof *sorted);
    bool needed = false;
    for (size_t i = 0; i < file->thread_count; i++)
        sorted[i] = &file->threads[i];
    if (file->thread_count)
        qsort(sorted, file->thread_count, sizeof *sorted, titles_compare);
    for (size_t i = 1; i < file->thread_count && !needed; i++)
        needed = titles_are_alike(sorted[i - 1], sorted[i]);
    free(sorted);
    return needed;
}

char **thread_titles_read(const struct session_file *file)
{
    if (!titles_are_needed(file))
        return need_memory(file->thread_count + 1, sizeof(char *));
    struct profile *p = collect_profile(file, collect_default_jobs());
    struct function_name *names = names_find(file, p);
    char **titles = thread_titles_find(file, p, names);
    names_free(names, p->function_count);
    profile_free(p);
    return titles;
}

void thread_titles_free(char **titles, const struct session_file *file)
{
    for (size_t i = 0; titles && i < file->thread_count; i++)
        free(titles[i]);
    free(titles);
}
