/* Corrections to the trees of threads: time outside of functions, and threads without a source of OS events. */
#include "profile/threads.h"

#include <stdlib.h>

#include "base/memory.h"

void threads_take_outside(struct profile *p)
{
    for (size_t i = 0; i < p->thread_count; i++) {
        struct profile_node *root = &p->nodes[p->threads[i].root];
        p->counts.outside += root->elapsed;
        p->threads[i].runtime += root->runtime;
        amounts_clear(root);
    }
}

bool threads_is_blind(const struct trace_thread *t)
{
    return t && t->announced && t->os_source == DWELL_OS_NONE;
}

bool *threads_find_blind(const struct profile *p, const struct session_file *file)
{
    bool *blind = need_memory(p->node_count, sizeof *blind);
    for (size_t i = 0; i < p->thread_count; i++)
        blind[p->threads[i].root] = threads_is_blind(session_file_thread(file, p->threads[i].thread));
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            blind[i] = blind[p->nodes[i].parent];
    return blind;
}

void threads_flag_blind(struct profile *p, const struct session_file *file)
{
    bool *blind = threads_find_blind(p, file);
    for (size_t i = 0; i < p->node_count; i++)
        if (blind[i])
            p->nodes[i].flagged = p->nodes[i].elapsed;
    free(blind);
}
