/* The calls on the path to a node, counted by function and call site. */
#include "profile/call_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"

struct call_path {
    const struct profile *profile;
    struct number_index *open; /* (function, site) to the number of such calls on the path */
    uint32_t node;             /* where the path ends; PROFILE_NONE if it is empty */
    uint32_t *depths;          /* by node, from 1 */
    size_t depth_count, depth_room;
    uint32_t *below; /* nodes that are still to be added */
    size_t below_room;
};

struct call_path *call_path_new(const struct profile *p)
{
    struct call_path *path = need_memory(1, sizeof *path);
    path->profile = p;
    path->open = index_new();
    path->node = PROFILE_NONE;
    return path;
}

void call_path_free(struct call_path *path)
{
    index_free(path->open);
    free(path->depths);
    free(path->below);
    free(path);
}

/* Parents come before their children. */
static uint32_t call_path_depth(struct call_path *path, uint32_t node)
{
    if (node == PROFILE_NONE)
        return 0;
    while (path->depth_count <= node) {
        GROW(path->depths, path->depth_count, path->depth_room);
        const uint32_t parent = path->profile->nodes[path->depth_count].parent;
        path->depths[path->depth_count++] = parent == PROFILE_NONE ? 1 : path->depths[parent] + 1;
    }
    return path->depths[node];
}

static struct index_slot *call_path_slot(const struct call_path *path, uint32_t node)
{
    const struct profile_node *n = &path->profile->nodes[node];
    return index_find(path->open, n->function, n->site);
}

static void call_path_leave_node(struct call_path *path)
{
    call_path_slot(path, path->node)->value_plus_1--;
    path->node = path->profile->nodes[path->node].parent;
}

static void call_path_enter_node(struct call_path *path, uint32_t node)
{
    struct index_slot *slot = call_path_slot(path, node);
    const struct profile_node *n = &path->profile->nodes[node];
    if (!slot->value_plus_1)
        index_set(path->open, slot, n->function, n->site, 1);
    else
        slot->value_plus_1++;
    path->node = node;
}

/* Moves up to the last node that both paths have, then down. */
static void call_path_move(struct call_path *path, uint32_t to)
{
    size_t count = 0;
    while (path->node != to) {
        if (call_path_depth(path, path->node) > call_path_depth(path, to)) {
            call_path_leave_node(path);
            continue;
        }
        GROW(path->below, count, path->below_room);
        path->below[count++] = to;
        to = path->profile->nodes[to].parent;
    }
    while (count-- > 0)
        call_path_enter_node(path, path->below[count]);
}

bool call_path_recurs(struct call_path *path, uint32_t node)
{
    call_path_move(path, path->profile->nodes[node].parent);
    return call_path_slot(path, node)->value_plus_1 > 1;
}

/* Visits the nodes from each root down, so that consecutive ones are close. */
bool *call_path_find_recursive(const struct profile *p)
{
    bool *found = need_memory(p->node_count, sizeof *found);
    uint32_t *children = need_memory(2 * p->node_count, sizeof *children), *siblings = children + p->node_count;
    uint32_t *pending = need_memory(p->node_count, sizeof *pending);
    size_t count = 0;
    struct call_path *path = call_path_new(p);
    memset(children, 0xff, 2 * p->node_count * sizeof *children);
    for (uint32_t i = (uint32_t)p->node_count; i-- > 0;) {
        const uint32_t parent = p->nodes[i].parent;
        if (parent == PROFILE_NONE) {
            pending[count++] = i;
            continue;
        }
        siblings[i] = children[parent];
        children[parent] = i;
    }
    while (count > 0) {
        const uint32_t node = pending[--count];
        found[node] = p->nodes[node].parent != PROFILE_NONE && call_path_recurs(path, node);
        for (uint32_t child = children[node]; child != PROFILE_NONE; child = siblings[child])
            pending[count++] = child;
    }
    call_path_free(path);
    free(children);
    free(pending);
    return found;
}
