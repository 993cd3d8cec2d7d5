/*
 * The call tree of a thread in mode profile: its nodes, in chunks of the session file (docs/format.md), and their
 * table. Signals are held back in all of it.
 */
#include <string.h>

#include "call.h"
#include "call_tree.h"
#include "chunk.h"
#include "duration_rows.h"
#include "filter.h"
#include "guard.h"
#include "losses.h"
#include "modules.h"
#include "process.h"
#include "process_lock.h"
#include "retired.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"
#include "tree_table.h"
#include "upward.h"
#include "value_sums.h"

enum {
    FIRST_SLOTS = 128,
    FIRST_CHUNK = 4 << 10,
    LARGEST_CHUNK = 256 << 10,
};

/* ---- nodes; signals are held back from here on ---- */

/* Replaces a node that must not be found again. */
static struct dwell_tree_node tree_forgotten;

/* Old tables stay mapped; all together are smaller than the new one. */
static bool tree_grow_table(struct thread *t)
{
    struct tree_table *old = t->tree.table;
    if (old->grown.taken * 2 < old->grown.mask)
        return true;
    struct tree_table *table = tree_new_table(old, (old->grown.mask + 1) * 2);
    if (!table)
        return false;
    for (uint64_t i = 0; i <= old->grown.mask; i++)
        if (old->slots[i].key && old->slots[i].node != &tree_forgotten)
            tree_insert(table, old->slots[i].key, old->slots[i].node);
    t->tree.table = table;
    return true;
}

static char *tree_first_node(struct dwell_chunk_header *chunk)
{
    return (char *)(chunk + 1) + (chunk->sequence == 0 ? sizeof(struct dwell_tree_head) : 0);
}

static void tree_end_chunk(struct thread *t)
{
    if (t->tree.chunk)
        __atomic_store_n(&t->tree.chunk->used, (uint32_t)(t->tree.next - (char *)t->tree.chunk), __ATOMIC_RELEASE);
}

/* Chunks of the tree stay mapped while the thread lives, each linked to the one before. */
static bool tree_next_chunk(struct thread *t)
{
    uint32_t size = FIRST_CHUNK;
    while (size < LARGEST_CHUNK && t->tree.chunk && size <= guard_size(t->tree.chunk))
        size *= 2;
    struct area area = chunk_take(size, size);
    if (!area.at)
        return false;
    tree_end_chunk(t);
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->process = runtime.process->serial;
    chunk->thread = t->serial;
    chunk->sequence = t->tree.chunk ? t->tree.chunk->sequence + 1 : 0;
    guard_set_link(chunk, t->tree.chunk);
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_CALL_TREE, __ATOMIC_RELEASE);
    t->tree.chunk = chunk;
    t->tree.next = tree_first_node(chunk);
    t->tree.end = area.at + area.size;
    return true;
}

/*
 * A function that calls itself from two sites would have as many call paths as there are sequences of the two. So a
 * call that is open already from the same site ends that: calls of one function by one caller, from any site, share
 * their callees' nodes from there on. The functions on each call path stay what they are, and so does the set of sites.
 */
static bool tree_is_recursion(const struct thread *t, const struct call *call)
{
    if (!call->call_site) /* call sites are not recorded */
        return false;
    for (const struct call *outer = call - 1; outer > (const struct call *)t->shadow; outer--)
        if (outer->function == call->function && outer->call_site == call->call_site)
            return true;
    return false;
}

enum { ANY_PLACE = 1 }; /* no code has this address */

/* The number of the first such node of the function below its parent, or of this node if there is none. */
static uint32_t tree_base_of_recursion(struct tree_table *table, const struct call *call, struct dwell_tree_node *node)
{
    const uint64_t key = tree_key(node->parent, call->function, ANY_PLACE);
    for (uint64_t i = tree_first_slot(table, key); table->slots[i].key; i = (i + 1) & table->grown.mask)
        if (table->slots[i].key == key && table->slots[i].node->parent == node->parent &&
            table->slots[i].node->function == call->function)
            return table->slots[i].node->number;
    tree_insert(table, key, node);
    return node->number;
}

/* A node of a function that has its number; NULL if there is no space. */
static struct dwell_tree_node *tree_next_node(struct thread *t, uint64_t function)
{
    if (t->tree.next + sizeof(struct dwell_tree_node) > t->tree.end && !tree_next_chunk(t))
        return NULL;
    struct dwell_tree_node *node = (struct dwell_tree_node *)t->tree.next;
    t->tree.next += sizeof *node;
    node->number = node->base = ++t->tree.nodes;
    node->shortest = duration_counts_begin(function);
    return node;
}

struct dwell_tree_node *tree_add_twin(struct thread *t, const struct dwell_tree_node *of)
{
    struct dwell_tree_node *const node = tree_next_node(t, of->function);
    if (!node)
        return NULL;
    node->parent = of->parent;
    node->depth = of->depth;
    node->first_time = of->first_time;
    node->site = of->site;
    __atomic_store_n(&node->function, of->function, __ATOMIC_RELEASE);
    return node;
}

static struct dwell_tree_node *tree_add_node(struct thread *t, const struct call *call, uint64_t now)
{
    const struct dwell_tree_node *const parent = call[-1].node;
    struct dwell_tree_node *const node = tree_grow_table(t) ? tree_next_node(t, call->function) : NULL;
    if (!node)
        return NULL;
    node->parent = parent->base;
    node->depth = parent->depth + 1;
    node->first_time = now;
    node->site = call->call_site;
    if (tree_is_recursion(t, call))
        node->base = tree_base_of_recursion(t->tree.table, call, node);
    __atomic_store_n(&node->function, call->function, __ATOMIC_RELEASE);
    tree_insert(t->tree.table, tree_key(node->parent, node->function, node->site), node);
    return node;
}

/* Whether a call below which it is limits the depth below it. */
static bool tree_is_too_deep(const struct thread *t, const struct call *call)
{
    const uint32_t depth = call[-1].node->depth;
    for (const struct call *outer = call - 1; outer > (const struct call *)t->shadow; outer--) {
        const uint32_t most = outer->node != outer[-1].node ? filter_depth(filter_action(outer->function)) : 0;
        if (most && depth - outer->node->depth >= most - 1)
            return true;
    }
    return false;
}

static bool tree_is_hidden(const struct thread *t, const struct call *call)
{
    const uint32_t action = filter_action(call->function), open = call[-1].node->depth;
    return action & (DWELL_FILTER_SUPPRESS | DWELL_FILTER_IGNORE) || open >= filter_settings.depth ||
           filter_is_outside(open, action) || (filter_settings.depths && tree_is_too_deep(t, call));
}

struct dwell_tree_node *tree_node_of(struct thread *t, const struct call *call, uint64_t now)
{
    struct dwell_tree_node *const parent = call[-1].node;
    const uint64_t function = call->function;
    if (tree_is_hidden(t, call))
        return parent;
    struct dwell_tree_node *node = tree_find_node(t->tree.table, parent->base, function, call->call_site, true);
    return node ? node : tree_add_node(t, call, now);
}

/* ---- the tree's begin and end ---- */

/* Gives the open calls from depth `from` (bytes) on their nodes. */
bool tree_find_open_calls(struct thread *t, uint32_t from, uint64_t now)
{
    struct call *call = (struct call *)(t->shadow + from);
    for (; call < thread_call(t, t->state); call++) {
        call->node = tree_node_of(t, call, now);
        if (!call->node)
            return false;
    }
    return true;
}

bool tree_begin(struct thread *t, uint64_t now)
{
    t->tree.root = &t->tree.no_function;
    struct tree_table *table = tree_new_table(t->tree.table, FIRST_SLOTS);
    t->tree.chunk = NULL;
    t->tree.nodes = 0;
    wait_rows_begin(t);
    duration_rows_begin(t);
    value_sums_begin(t);
    t->tree.seen_unloads = runtime.process->modules.unloads;
    if (!table)
        return false;
    t->tree.table = table; /* an older one is from before a fork */
    if (!tree_next_chunk(t))
        return false;
    t->tree.head = (struct dwell_tree_head *)(t->tree.chunk + 1);
    t->tree.head->start_time = t->tree.head->last_time = now;
    ((struct call *)t->shadow)->node = t->tree.root;
    return tree_find_open_calls(t, sizeof(struct call), now);
}

/* For calibrate.c, whose nodes are not in the file. */
bool tree_add_known(struct thread *t, const struct dwell_tree_node *parent, struct dwell_tree_node *node,
                    uint64_t function)
{
    if (!t->tree.table)
        t->tree.table = tree_new_table(NULL, FIRST_SLOTS);
    if (!t->tree.table)
        return false;
    node->parent = parent->base;
    node->number = node->base = ++t->tree.nodes;
    node->depth = parent->depth + 1;
    node->function = function;
    tree_insert(t->tree.table, tree_key(node->parent, function, 0), node);
    return true;
}

void tree_drop_tables(struct thread *t)
{
    tree_free_tables(t->tree.table);
    t->tree.table = NULL;
}

void tree_end(struct thread *t)
{
    if (!t->tree.head)
        return;
    process_lock(); /* other threads may look for a holder's node */
    t->tree.head = NULL;
    process_unlock();
    wait_rows_end(t);
    duration_rows_end(t);
    value_sums_end(t);
    struct dwell_chunk_header *last = t->tree.chunk;
    tree_end_chunk(t);
    if (guard_trouble())
        losses_of_tree(t);
    struct area area = { (char *)last, guard_size(last) };
    chunk_cut(&area, (uint32_t)(t->tree.next - (char *)last + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT);
    for (struct dwell_chunk_header *chunk = last; chunk;) {
        struct dwell_chunk_header *before = guard_link(chunk);
        retired_add(chunk);
        chunk = before;
    }
    tree_free_tables(t->tree.table);
    t->tree.table = NULL;
}

/* Another library may lie where one was unloaded: only nodes of the program are found again. */
void tree_forget_unloaded(struct thread *t)
{
    t->tree.seen_unloads = __atomic_load_n(&runtime.process->modules.unloads, __ATOMIC_ACQUIRE);
    struct tree_table *table = t->tree.table;
    for (uint64_t i = 0; i <= table->grown.mask; i++) {
        struct tree_slot *slot = &table->slots[i];
        if (slot->key && slot->node != &tree_forgotten && !upward.is_program(slot->node->function))
            slot->node = &tree_forgotten;
    }
}
