/* Folds recursion: copies a call tree, with recursive calls at the place of the outermost call of their function. */
#include "profile/recursion.h"

#include <stdlib.h>

#include "base/memory.h"

struct folding {
    const struct profile *from;
    struct profile *into;
    uint32_t *places;    /* by node of `from`: the node of `into` */
    uint32_t *open;      /* by function: its number of open calls */
    uint32_t *outermost; /* by function: the place of its open calls */
    uint32_t *deepest;   /* by place: the highest number of open calls */
};

static void recursion_enter_node(struct folding *f, uint32_t node)
{
    const struct profile_node *from = &f->from->nodes[node];
    if (f->open[from->function]++ == 0)
        f->outermost[from->function] = profile_child_from(f->into, f->places[from->parent], from->function, from->site);
    const uint32_t place = f->outermost[from->function];
    f->places[node] = place;
    profile_add_values(&f->into->nodes[place], from);
    if (f->open[from->function] > f->deepest[place])
        f->deepest[place] = f->open[from->function];
}

static void recursion_walk_thread(struct folding *f, const struct rollup *r, uint32_t root)
{
    for (uint32_t node = r->first_child[root], next; node != PROFILE_NONE; node = next) {
        recursion_enter_node(f, node);
        next = r->first_child[node];
        while (next == PROFILE_NONE && node != root) {
            f->open[f->from->nodes[node].function]--;
            next = r->sibling[node];
            if (next == PROFILE_NONE)
                node = f->from->nodes[node].parent;
        }
    }
}

struct profile *recursion_fold(const struct rollup *r, uint32_t **deepest)
{
    const struct profile *p = r->profile;
    struct folding f = {
        .from = p,
        .into = profile_new(),
        .places = need_memory(p->node_count, sizeof *f.places),
        .open = need_memory(p->function_count, sizeof *f.open),
        .outermost = need_memory(p->function_count, sizeof *f.outermost),
        .deepest = need_memory(p->node_count, sizeof *f.deepest),
    };
    profile_copy_functions(f.into, p);
    for (size_t i = 0; i < p->thread_count; i++) {
        const uint32_t root = p->threads[i].root;
        f.places[root] = profile_root(f.into, p->threads[i].process, p->threads[i].thread);
        profile_add_values(&f.into->nodes[f.places[root]], &p->nodes[root]);
        recursion_walk_thread(&f, r, root);
    }
    f.into->counts = p->counts;
    free(f.places);
    free(f.open);
    free(f.outermost);
    *deepest = f.deepest;
    return f.into;
}
