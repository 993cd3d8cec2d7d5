/*
 * The same function called from two places makes two children. What is below them is kept apart, unless the call is one
 * that is open already: then all of that function share it. Else a function that calls itself from two places would
 * have as many paths as there are ways to get down. The functions on each path stay what they are, and so does the set
 * of sites.
 */
#include "profile/call_sites.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/identify.h"

enum { RECENT = 4096 };

/* An answer given lately. */
struct recent {
    uint64_t address, site;
    uint32_t base, generation, node;
};

struct call_sites {
    struct profile *profile;
    const struct trace_process *process;
    struct number_index *sites;     /* (address and generation, whether it is inlined) -> the profile's */
    struct number_index *functions; /* (address, generation) -> the profile's */
    struct number_index *recursive; /* (function, base of its parent) -> the first of them that was open already */
    uint32_t *bases;                /* by node: the one below which its callees are */
    size_t base_room;
    uint64_t *open; /* addresses of the open calls' functions, by depth */
    size_t open_room;
    struct recent recent[RECENT];
};

struct call_sites *call_sites_new(struct profile *p)
{
    struct call_sites *c = need_memory(1, sizeof *c);
    c->profile = p;
    c->sites = index_new();
    c->functions = index_new();
    c->recursive = index_new();
    return c;
}

static void call_sites_forget_addresses(struct call_sites *c)
{
    index_free(c->sites);
    index_free(c->functions);
    c->sites = index_new();
    c->functions = index_new();
    for (size_t i = 0; i < RECENT; i++)
        c->recent[i].address = 0;
}

void call_sites_free(struct call_sites *c)
{
    if (!c)
        return;
    index_free(c->sites);
    index_free(c->functions);
    index_free(c->recursive);
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
        call_sites_forget_addresses(c); /* another process has other things there */
    c->process = process;
    call_sites_set_base(c, root, root);
}

static uint32_t call_sites_site_of(struct call_sites *c, const struct called *called)
{
    if (!called->site)
        return PROFILE_NONE;
    const uint64_t key = (called->site & ~DWELL_SITE_INLINED) ^ (uint64_t)called->generation << 48;
    struct index_slot *slot = index_find(c->sites, key, called->site >> 63);
    if (!slot->value_plus_1) {
        const uint32_t found = identify_site(c->profile, c->process, called->site, called->time);
        index_set(c->sites, slot, key, called->site >> 63, found);
        return found;
    }
    return slot->value_plus_1 - 1;
}

static uint32_t call_sites_function_of(struct call_sites *c, const struct called *called)
{
    struct index_slot *slot = index_find(c->functions, called->address, called->generation);
    if (!slot->value_plus_1) {
        const uint32_t found = identify_function(c->profile, c->process, called->address, called->time);
        index_set(c->functions, slot, called->address, called->generation, found);
        return found;
    }
    return slot->value_plus_1 - 1;
}

bool call_sites_shares(const struct profile *p, uint32_t node)
{
    const struct profile_node *n = &p->nodes[node];
    for (uint32_t outer = n->parent; outer != PROFILE_NONE; outer = p->nodes[outer].parent)
        if (p->nodes[outer].function == n->function && p->nodes[outer].site == n->site)
            return true;
    return false;
}

static uint32_t call_sites_base_of(struct call_sites *c, uint32_t node)
{
    const struct profile_node *n = &c->profile->nodes[node];
    if (!call_sites_shares(c->profile, node))
        return node;
    struct index_slot *slot = index_find(c->recursive, n->function, n->parent);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    index_set(c->recursive, slot, n->function, n->parent, node);
    return node;
}

uint32_t call_sites_child(struct call_sites *c, uint32_t parent, const struct called *called)
{
    const uint32_t base = c->bases[parent];
    struct recent *recent = &c->recent[(called->address >> 4 ^ called->site ^ (uint64_t)base * 61) % RECENT];
    if (recent->address == called->address && recent->site == called->site && recent->base == base &&
        recent->generation == called->generation)
        return recent->node;
    const uint32_t function = call_sites_function_of(c, called), site = call_sites_site_of(c, called);
    const size_t before = c->profile->node_count;
    const uint32_t node = profile_child_from(c->profile, base, function, site);
    if (c->profile->node_count > before)
        call_sites_set_base(c, node, call_sites_base_of(c, node));
    *recent = (struct recent){ called->address, called->site, base, called->generation, node };
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
