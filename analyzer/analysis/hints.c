/* Hints for messages about unknown names: the most similar function, thread, process or mark of the session. */
#include "analysis/hints.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "base/suggest.h"
#include "profile/collect.h"
#include "symbols/short_name.h"

struct hint_names {
    char **list;
    size_t count, room;
};

static void hint_add_name(struct hint_names *n, const char *name, size_t length)
{
    if (length == 0)
        return;
    GROW(n->list, n->count, n->room);
    n->list[n->count++] = need_copy(name, length);
}

static const char *hint_for_name(struct hint_names *n, const char *typed, const char *otherwise)
{
    const char *text = suggestion(typed, (const char *const *)n->list, n->count, otherwise);
    for (size_t i = 0; i < n->count; i++)
        free(n->list[i]);
    free(n->list);
    return text;
}

/* Compares names without return type and parameters, with and without their namespace or class, since users type both.
 */
const char *hint_function(const struct analysis *analysis, const char *typed, const char *otherwise)
{
    struct hint_names n = { 0 };
    for (size_t i = 0; i < analysis->profile->function_count; i++) {
        const char *name = analysis->names[i].name;
        const struct short_name s = short_name_find(name);
        hint_add_name(&n, name + s.begin, s.end - s.begin);
        if (s.last > s.begin)
            hint_add_name(&n, name + s.last, s.end - s.last);
    }
    return hint_for_name(&n, typed, otherwise);
}

const char *hint_thread(const struct session_file *file, char *const *titles, const char *typed, const char *otherwise)
{
    struct hint_names n = { 0 };
    for (size_t i = 0; i < file->thread_count; i++) {
        const char *title = titles ? titles[i] : NULL;
        hint_add_name(&n, file->threads[i].name, strlen(file->threads[i].name));
        hint_add_name(&n, title, title ? strlen(title) : 0);
        hint_add_name(&n, title, title ? thread_title_length(title) : 0);
    }
    return hint_for_name(&n, typed, otherwise);
}

const char *hint_process(const struct session_file *file, const char *typed, const char *otherwise)
{
    struct hint_names n = { 0 };
    for (size_t i = 0; i < file->process_count; i++) {
        const struct trace_process *p = &file->processes[i];
        const char *file_name = path_file_name(p->path);
        hint_add_name(&n, p->name, strlen(p->name));
        hint_add_name(&n, file_name, strlen(file_name));
    }
    return hint_for_name(&n, typed, otherwise);
}

const char *hint_mark(const struct session_file *file, const char *typed, const char *otherwise)
{
    struct hint_names n = { 0 };
    struct profile *p = collect_profile(file, collect_default_jobs());
    if (p->mark_count)
        qsort(p->marks, p->mark_count, sizeof *p->marks, profile_compare_marks);
    for (size_t i = 0; i < p->mark_count; i++)
        hint_add_name(&n, p->marks[i].text, strlen(p->marks[i].text));
    profile_free(p);
    return hint_for_name(&n, typed, otherwise);
}
