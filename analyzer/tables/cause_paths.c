/* Numbers call paths by their names, and writes them. */
#include "tables/cause_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/wait_rows.h"

uint32_t cause_path_number(struct cause_path_numbers *numbers, uint32_t parent, const struct function_name *name)
{
    const uint32_t bytes[] = { parent, intern(&numbers->names, name->module, strlen(name->module)), name->line };
    return intern_pair(&numbers->paths, name->name, bytes, sizeof bytes);
}

struct cause_paths cause_paths_of(struct cause_path_numbers *numbers, const struct profile *p,
                                  const struct function_name *names)
{
    struct cause_paths paths = { .profile = p, .names = names };
    if (!p)
        return paths;
    bool *is_wrapper = wait_find_wrappers(p, names);
    paths.ids = need_memory(p->node_count + 1, sizeof *paths.ids);
    paths.owners = need_memory(p->node_count + 1, sizeof *paths.owners);
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *n = &p->nodes[i];
        paths.ids[i] = paths.owners[i] = PROFILE_NONE;
        if (n->parent == PROFILE_NONE)
            continue;
        paths.ids[i] = cause_path_number(numbers, paths.ids[n->parent], &names[n->function]);
        paths.owners[i] = is_wrapper[n->function] ? paths.owners[n->parent] : n->function;
    }
    free(is_wrapper);
    return paths;
}

char *cause_path_text(const struct cause_paths *paths, uint32_t node, size_t most)
{
    const struct profile *p = paths->profile;
    size_t depth = 0, length = 0;
    for (uint32_t i = node; p->nodes[i].parent != PROFILE_NONE && length < most; i = p->nodes[i].parent) {
        length += strlen(paths->names[p->nodes[i].function].name) + 1;
        depth++;
    }
    const char **names = need_memory(depth + 1, sizeof *names);
    for (size_t at = depth; at > 0; node = p->nodes[node].parent)
        names[--at] = paths->names[p->nodes[node].function].name;
    char *text;
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < depth; i++)
        fprintf(out, "%s%s", i ? ";" : "", names[i]);
    need_stream_end(out);
    free(names);
    return text;
}

void cause_paths_drop(struct cause_paths *paths)
{
    free(paths->ids);
    free(paths->owners);
}

void cause_path_numbers_drop(struct cause_path_numbers *numbers)
{
    intern_drop(&numbers->names);
    intern_drop(&numbers->paths);
}
