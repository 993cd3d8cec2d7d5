/*
 * Call paths that include the call sites. A function that is called from two places gets two children, each with its
 * own paths below it. Recursive calls are the exception: the children of one function below one parent share their
 * callees. Otherwise a function that calls itself from two places would double the number of paths at each depth.
 * Sharing changes neither the functions on a path nor the set of call sites.
 */
#include "profile/site_paths.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/call_path.h"
#include "profile/identify.h"

enum { RECENT = 4096 };

/* A recent result of call_sites_child. Any address is possible in a damaged session; `base` is PROFILE_NONE if there is
 * no result. */
struct recent {
    uint64_t address, site;
    uint32_t base, generation, node;
};

struct call_sites {
    struct profile *profile;
    const struct trace_process *process;
    struct number_index *sites;     /* (site, generation) -> site of the profile */
    struct number_index *functions; /* (address, generation) -> function of the profile */
    struct call_path *path;
    struct number_index *recursive; /* (function, parent) -> the node that has the callees of the recursive calls */
    uint32_t *bases;                /* by node: the node below which its callees are */
    size_t base_room;
    uint64_t *open; /* by depth: addresses of the open calls' functions */
    size_t open_room;
    struct recent recent[RECENT];
};

static void call_sites_forget_recent(struct call_sites *c)
{
    for (size_t i = 0; i < RECENT; i++)
        c->recent[i].base = PROFILE_NONE;
}

struct call_sites *call_sites_new(struct profile *p)
{
    struct call_sites *c = need_memory(1, sizeof *c);
    c->profile = p;
    c->sites = index_new();
    c->functions = index_new();
    c->recursive = index_new();
    c->path = call_path_new(p);
    call_sites_forget_recent(c);
    return c;
}

static void call_sites_forget_addresses(struct call_sites *c)
{
    index_free(c->sites);
    index_free(c->functions);
    c->sites = index_new();
    c->functions = index_new();
    call_sites_forget_recent(c);
}

void call_sites_free(struct call_sites *c)
{
    if (!c)
        return;
    index_free(c->sites);
    index_free(c->functions);
    index_free(c->recursive);
    call_path_free(c->path);
    free(c->bases);
    free(c->open);
    free(c);
}

static void call_sites_set_base(struct call_sites *c, uint32_t node, uint32_t base)
{
    while (node >= c->base_room)
        GROW(c->bases, c->base_room, c->base_room);
    c->bases[node] = base;
}

void call_sites_begin(struct call_sites *c, const struct trace_process *process, uint32_t root)
{
    if (process != c->process)
        call_sites_forget_addresses(c); /* another process has other code at the same addresses */
    c->process = process;
    call_sites_set_base(c, root, root);
}

static uint32_t call_sites_site_of(struct call_sites *c, const struct site_call *call)
{
    if (!call->site)
        return PROFILE_NONE;
    struct index_slot *slot = index_find(c->sites, call->site, call->generation);
    if (!slot->value_plus_1) {
        const uint32_t found = identify_site(c->profile, c->process, call->site, call->time);
        index_set(c->sites, slot, call->site, call->generation, found);
        return found;
    }
    return slot->value_plus_1 - 1;
}

static uint32_t call_sites_function_of(struct call_sites *c, const struct site_call *call)
{
    struct index_slot *slot = index_find(c->functions, call->address, call->generation);
    if (!slot->value_plus_1) {
        const uint32_t found = identify_function(c->profile, c->process, call->address, call->time);
        index_set(c->functions, slot, call->address, call->generation, found);
        return found;
    }
    return slot->value_plus_1 - 1;
}

/* Recursive calls with the same function and parent share their callees, which are below one of them. */
static uint32_t call_sites_base_of(struct call_sites *c, uint32_t node)
{
    const struct profile_node *n = &c->profile->nodes[node];
    if (!call_path_recurs(c->path, node))
        return node;
    struct index_slot *slot = index_find(c->recursive, n->function, n->parent);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    index_set(c->recursive, slot, n->function, n->parent, node);
    return node;
}

uint32_t call_sites_child(struct call_sites *c, uint32_t parent, const struct site_call *call)
{
    const uint32_t base = c->bases[parent];
    struct recent *recent = &c->recent[(call->address >> 4 ^ call->site ^ (uint64_t)base * 61) % RECENT];
    if (recent->address == call->address && recent->site == call->site && recent->base == base &&
        recent->generation == call->generation)
        return recent->node;
    const uint32_t function = call_sites_function_of(c, call), site = call_sites_site_of(c, call);
    const size_t before = c->profile->node_count;
    const uint32_t node = profile_child_from(c->profile, base, function, site);
    if (c->profile->node_count > before)
        call_sites_set_base(c, node, call_sites_base_of(c, node));
    *recent = (struct recent){ call->address, call->site, base, call->generation, node };
    return node;
}

void call_sites_push(struct call_sites *c, size_t depth, uint64_t address)
{
    while (depth >= c->open_room)
        GROW(c->open, c->open_room, c->open_room);
    c->open[depth] = address;
}

uint64_t call_sites_address(const struct call_sites *c, size_t depth)
{
    return depth ? c->open[depth] : 0;
}
