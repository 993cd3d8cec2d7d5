/* Copies a call tree without the calls that a filter leaves out. */
#include "profile/call_filter.h"

#include <stdlib.h>

#include "base/memory.h"
#include "profile/counted.h"

struct call_filter_node {
    uint32_t place; /* the node of the new profile that has the time of this one */
    uint32_t shown; /* shown calls on the path */
    bool ignored;
    bool cut; /* a call on the path below is ignored */
};

/* The action for a call of the function within that many shown calls. Calls within an ignored one are ignored. */
static enum call_action call_filter_judge(const struct call_filter *f, uint32_t function, uint32_t shown)
{
    const enum call_action action = function < f->count ? (enum call_action)f->actions[function] : CALL_SHOWN;
    return action == CALL_SHOWN && f->depth && shown >= f->depth ? CALL_SUPPRESSED : action;
}

/* The amounts of a call that is left out, as amounts of its caller. */
static void call_filter_add_time(struct profile_node *into, const struct profile_node *from)
{
    struct profile_node amounts = *from;
    amounts.calls = 0;
    amounts.shortest = UINT64_MAX;
    amounts.longest = 0;
    amounts.durations = NULL;
    profile_add_values(into, &amounts);
}

static void call_filter_add_node(struct profile *into, const struct call_filter *f, const struct profile_node *from,
                                 const struct call_filter_node *parent, struct call_filter_node *node)
{
    const enum call_action action = call_filter_judge(f, from->function, parent->shown);
    *node = (struct call_filter_node){ .place = parent->place, .shown = parent->shown, .cut = node->cut };
    node->ignored = parent->ignored || action == CALL_IGNORED;
    if (node->ignored)
        return;
    if (action == CALL_SUPPRESSED) {
        call_filter_add_time(&into->nodes[parent->place], from);
        return;
    }
    node->shown++;
    node->place = profile_child_from(into, parent->place, from->function, from->site);
    profile_add_values(&into->nodes[node->place], from);
    into->counts.enters += from->calls;
}

/* Sets `cut` on the paths to ignored calls. */
static void call_filter_find_cuts(const struct profile *p, const struct call_filter *f, struct call_filter_node *nodes)
{
    for (size_t i = p->node_count; i-- > 0;) { /* children come after their parents */
        const struct profile_node *node = &p->nodes[i];
        if (node->parent != PROFILE_NONE)
            nodes[node->parent].cut |= nodes[i].cut || call_filter_judge(f, node->function, 0) == CALL_IGNORED;
    }
}

/* Time in which no shown call was open belongs to no function. */
static void call_filter_take_outside(struct profile *p)
{
    for (size_t i = 0; i < p->thread_count; i++) {
        struct profile_node *root = &p->nodes[p->threads[i].root];
        p->counts.outside += root->elapsed;
        amounts_clear(root);
    }
}

/* Counted calls have no path: only their function can be left out. */
static void call_filter_add_counted(struct profile *into, const struct profile *from, const struct call_filter *f)
{
    bool *shown = need_memory(from->function_count + 1, sizeof *shown);
    for (uint32_t i = 0; i < from->function_count; i++)
        shown[i] = call_filter_judge(f, i, 0) == CALL_SHOWN;
    counted_copy(into, from, shown);
    free(shown);
}

struct profile *call_filter_apply(const struct profile *p, const struct call_filter *f, uint32_t *places)
{
    struct profile *shown = profile_new();
    struct call_filter_node *nodes = need_memory(p->node_count, sizeof *nodes);
    profile_copy_functions(shown, p);
    call_filter_find_cuts(p, f, nodes);
    for (size_t i = 0; i < p->thread_count; i++)
        nodes[p->threads[i].root].place = profile_root(shown, p->threads[i].process, p->threads[i].thread);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            call_filter_add_node(shown, f, &p->nodes[i], &nodes[p->nodes[i].parent], &nodes[i]);
    for (size_t i = 0; i < p->node_count; i++)
        if (nodes[i].cut && !nodes[i].ignored) {
            shown->nodes[nodes[i].place].shortest = UINT64_MAX;
            shown->nodes[nodes[i].place].longest = 0;
        }
    for (size_t i = 0; places && i < p->node_count; i++)
        places[i] = nodes[i].ignored ? PROFILE_NONE : nodes[i].place;
    call_filter_take_outside(shown);
    call_filter_add_counted(shown, p, f);
    shown->counts.outside += p->counts.outside;
    shown->counts.chunks = p->counts.chunks;
    shown->counts.damaged_chunks = p->counts.damaged_chunks;
    shown->counts.stray_exits = p->counts.stray_exits;
    free(nodes);
    return shown;
}
