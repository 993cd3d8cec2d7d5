/* Keeps the notes of a session's calls. */
#include "profile/noted_calls.h"

#include <stdlib.h>

#include "base/memory.h"

/* A timed path, by numbers in the order of these. */
struct noted_path {
    uint32_t parent, function;
};

struct noted_calls *noted_calls_new(const struct session_file *file, size_t most)
{
    struct noted_calls *n = need_memory(1, sizeof *n);
    n->chunks = need_memory(file->chunk_count + 1, sizeof *n->chunks);
    n->chunk_count = file->chunk_count;
    n->most = most;
    return n;
}

/* Frees all notes. No chunk has any after that. */
static void noted_calls_drop(struct noted_calls *n)
{
    for (size_t i = 0; i < n->chunk_count; i++) {
        free(n->chunks[i].open);
        n->chunks[i] = (struct noted_chunk){ .words = NULL };
    }
    for (size_t i = 0; i < n->block_count; i++)
        free(n->blocks[i]);
    for (size_t i = 0; i < n->paths_count; i++)
        free(n->paths[i]);
    n->block_count = n->paths_count = 0;
}

void noted_calls_free(struct noted_calls *n)
{
    if (!n)
        return;
    noted_calls_drop(n);
    free(n->chunks);
    free(n->blocks);
    free(n->paths);
    free(n->path_counts);
    free(n->timed);
    free(n);
}

const struct noted_chunk *noted_calls_of(const struct noted_calls *n, size_t chunk, const uint32_t **paths)
{
    if (!n || !n->chunks[chunk].paths)
        return NULL;
    *paths = n->paths[n->chunks[chunk].paths - 1];
    return &n->chunks[chunk];
}

/* ---- paths ---- */

/* Lists the timed paths. Sets the number of each node, or PROFILE_NONE. */
static struct noted_path *noted_calls_list_timed(const struct profile *p, uint32_t *numbers, size_t *count)
{
    struct noted_path *timed = need_memory(p->node_count + 1, sizeof *timed);
    *count = 0;
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        numbers[i] = PROFILE_NONE;
        if (node->site == PROFILE_SAMPLED)
            continue;
        timed[*count] =
            (struct noted_path){ node->parent == PROFILE_NONE ? PROFILE_NONE : numbers[node->parent], node->function };
        numbers[i] = (uint32_t)(*count)++;
    }
    return timed;
}

static void noted_calls_renumber(struct noted_calls *n, const uint32_t *numbers)
{
    for (size_t i = 0; i < n->paths_count; i++)
        for (size_t j = 0; j < n->path_counts[i]; j++)
            n->paths[i][j] = n->paths[i][j] == PROFILE_NONE ? PROFILE_NONE : numbers[n->paths[i][j]];
}

void noted_calls_remember(struct noted_calls *n, const struct profile *p)
{
    uint32_t *numbers = need_memory(p->node_count + 1, sizeof *numbers);
    n->timed = noted_calls_list_timed(p, numbers, &n->timed_count);
    noted_calls_renumber(n, numbers);
    free(numbers);
}

static bool noted_calls_are_known(const struct noted_calls *n, const struct noted_path *timed, size_t count)
{
    if (count < n->timed_count)
        return false;
    for (size_t i = 0; i < n->timed_count; i++)
        if (timed[i].parent != n->timed[i].parent || timed[i].function != n->timed[i].function)
            return false;
    return true;
}

void noted_calls_number(struct noted_calls *n, const struct profile *p)
{
    size_t count;
    uint32_t *numbers = need_memory(p->node_count + 1, sizeof *numbers);
    struct noted_path *timed = noted_calls_list_timed(p, numbers, &count);
    if (noted_calls_are_known(n, timed, count)) {
        uint32_t *nodes = need_memory(count + 1, sizeof *nodes);
        for (uint32_t i = 0; i < p->node_count; i++)
            if (numbers[i] != PROFILE_NONE)
                nodes[numbers[i]] = i;
        noted_calls_renumber(n, nodes);
        free(nodes);
    } else {
        noted_calls_drop(n);
    }
    free(numbers);
    free(timed);
}
