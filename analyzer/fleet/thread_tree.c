/* Reads links of call trees in one pass, and single nodes later. */
#include "fleet/thread_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/identify.h"
#include "profile/tree_durations.h"

struct thread_trees thread_trees_begin(const struct session_file *file)
{
    return (struct thread_trees){
        .file = file,
        .trees = tree_chunks_of(file, DWELL_CHUNK_CALL_TREE),
        .rows = tree_chunks_of(file, DWELL_CHUNK_SUMS),
        .durations = tree_chunks_of(file, DWELL_CHUNK_DURATIONS),
    };
}

void thread_trees_drop(struct thread_trees *trees)
{
    tree_chunks_drop(&trees->trees);
    tree_chunks_drop(&trees->rows);
    tree_chunks_drop(&trees->durations);
    free(trees->buffer.bytes);
}

void thread_tree_drop(struct thread_tree *tree)
{
    free(tree->nodes);
}

/* ---- nodes in the order of the file ---- */

typedef bool thread_tree_taker(void *context, const struct dwell_tree_node *node, struct thread_tree_place place);

/* Passes the nodes of a chunk. False if the chunk is damaged, or if `take` does not want the node. */
static bool thread_trees_scan(struct thread_trees *trees, size_t number, thread_tree_taker *take, void *context)
{
    const struct trace_chunk *chunk = trees->trees.list[number];
    if (!session_file_fill_buffer(trees->file, chunk, &trees->buffer))
        return false;
    uint32_t at = sizeof(struct dwell_chunk_header) + (chunk->sequence ? 0 : sizeof(struct dwell_tree_head));
    for (; at + sizeof(struct dwell_tree_node) <= trace_chunk_end(chunk); at += sizeof(struct dwell_tree_node)) {
        struct dwell_tree_node node;
        memcpy(&node, trees->buffer.bytes + at, sizeof node);
        if (!node.function)
            return true;
        if (!take(context, &node, (struct thread_tree_place){ (uint32_t)number, at }))
            return false;
    }
    return true;
}

static bool thread_trees_is_of(const struct trace_chunk *chunk, uint32_t process, uint32_t thread)
{
    return chunk->process == process && chunk->thread == thread;
}

/* Passes the nodes of the next thread, whose chunks must be in sequence. */
static void thread_trees_scan_thread(struct thread_trees *trees, thread_tree_taker *take, void *context)
{
    const struct trace_chunk *const *list = trees->trees.list;
    const uint32_t process = list[trees->next_tree]->process, thread = list[trees->next_tree]->thread;
    bool good = true;
    for (uint32_t i = 0;
         trees->next_tree < trees->trees.count && thread_trees_is_of(list[trees->next_tree], process, thread);
         i++, trees->next_tree++)
        good =
            good && list[trees->next_tree]->sequence == i && thread_trees_scan(trees, trees->next_tree, take, context);
}

/* ---- links ---- */

static void thread_tree_add(struct thread_tree *tree, struct thread_tree_place place)
{
    GROW(tree->nodes, tree->count, tree->room);
    tree->nodes[tree->count++] = (struct thread_tree_node){ .node = place };
}

static bool thread_tree_link(void *context, const struct dwell_tree_node *node, struct thread_tree_place place)
{
    struct thread_tree *tree = context;
    if (node->parent >= tree->count)
        return false;
    thread_tree_add(tree, place);
    struct thread_tree_node *parent = &tree->nodes[node->parent];
    tree->nodes[tree->count - 1].sibling = parent->first_child;
    parent->first_child = (uint32_t)tree->count - 1;
    parent->callees += node->calls;
    return true;
}

static void thread_trees_link_rows(struct thread_trees *trees, size_t number, struct thread_tree *tree)
{
    const struct trace_chunk *chunk = trees->rows.list[number];
    const uint32_t end = trace_chunk_end(chunk);
    if (!session_file_fill_buffer(trees->file, chunk, &trees->buffer))
        return;
    for (uint32_t at = sizeof(struct dwell_chunk_header); at + sizeof(struct dwell_sum_row) <= end;
         at += sizeof(struct dwell_sum_row)) {
        struct dwell_sum_row row;
        memcpy(&row, trees->buffer.bytes + at, sizeof row);
        if (!row.node)
            return;
        if (row.node < tree->count)
            tree->nodes[row.node].row = (struct thread_tree_place){ (uint32_t)number, at };
    }
}

/* The rows of a node follow each other, also from one chunk to the next. */
static void thread_trees_link_durations(struct thread_trees *trees, size_t number, struct thread_tree *tree,
                                        uint32_t *last)
{
    const struct trace_chunk *chunk = trees->durations.list[number];
    const uint32_t end = trace_chunk_end(chunk);
    struct dwell_duration_row row;
    if (!session_file_fill_buffer(trees->file, chunk, &trees->buffer))
        return;
    for (uint32_t at = sizeof(struct dwell_chunk_header); at + sizeof row <= end && !tree->damaged; at += sizeof row) {
        memcpy(&row, trees->buffer.bytes + at, sizeof row);
        if (!row.node)
            return;
        tree->damaged = row.node < *last || row.node >= tree->count || !tree_durations_can_be(&row);
        if (tree->damaged)
            return;
        struct thread_tree_node *node = &tree->nodes[row.node];
        if (!node->duration_rows++)
            node->durations = (struct thread_tree_place){ (uint32_t)number, at };
        *last = row.node;
    }
}

static bool thread_trees_is_before(const struct trace_chunk *chunk, const struct thread_tree *tree)
{
    return chunk->process < tree->process || (chunk->process == tree->process && chunk->thread < tree->thread);
}

static void thread_trees_link_all_durations(struct thread_trees *trees, struct thread_tree *tree)
{
    const struct tree_chunks *chunks = &trees->durations;
    uint32_t last = 0;
    tree->damaged = false;
    while (trees->next_durations < chunks->count && thread_trees_is_before(chunks->list[trees->next_durations], tree))
        trees->next_durations++;
    for (; trees->next_durations < chunks->count &&
           thread_trees_is_of(chunks->list[trees->next_durations], tree->process, tree->thread);
         trees->next_durations++)
        thread_trees_link_durations(trees, trees->next_durations, tree, &last);
}

bool thread_trees_next(struct thread_trees *trees, struct thread_tree *tree)
{
    if (trees->next_tree == trees->trees.count)
        return false;
    tree->process = trees->trees.list[trees->next_tree]->process;
    tree->thread = trees->trees.list[trees->next_tree]->thread;
    tree->count = 0;
    thread_tree_add(tree, (struct thread_tree_place){ 0, 0 });
    thread_trees_scan_thread(trees, thread_tree_link, tree);
    while (trees->next_row < trees->rows.count && thread_trees_is_before(trees->rows.list[trees->next_row], tree))
        trees->next_row++;
    for (; trees->next_row < trees->rows.count &&
           thread_trees_is_of(trees->rows.list[trees->next_row], tree->process, tree->thread);
         trees->next_row++)
        thread_trees_link_rows(trees, trees->next_row, tree);
    thread_trees_link_all_durations(trees, tree);
    return true;
}

/* ---- single nodes ---- */

static void thread_trees_read_place(const struct thread_trees *trees, const struct tree_chunks *chunks,
                                    struct thread_tree_place place, void *into, size_t size)
{
    uint8_t bytes[sizeof(struct dwell_tree_node) + sizeof(struct dwell_sum_row) + TRACE_PADDING];
    session_file_read_part(trees->file, chunks->list[place.chunk], place.at, bytes, size);
    memcpy(into, bytes, size);
}

bool thread_trees_read(const struct thread_trees *trees, const struct thread_tree *tree, uint32_t number,
                       struct dwell_tree_node *node, struct dwell_sum_row *row)
{
    const struct thread_tree_node *n = &tree->nodes[number];
    thread_trees_read_place(trees, &trees->trees, n->node, node, sizeof *node);
    if (n->row.at)
        thread_trees_read_place(trees, &trees->rows, n->row, row, sizeof *row);
    return n->row.at != 0;
}

bool thread_trees_read_durations(const struct thread_trees *trees, const struct thread_tree *tree, uint32_t number,
                                 struct durations **d)
{
    const struct thread_tree_node *n = &tree->nodes[number];
    struct thread_tree_place place = n->durations;
    for (uint32_t i = 0; i < n->duration_rows;) {
        struct dwell_duration_row row = { 0 };
        if (place.chunk >= trees->durations.count)
            return false;
        if (place.at + sizeof row <= trace_chunk_end(trees->durations.list[place.chunk]))
            thread_trees_read_place(trees, &trees->durations, place, &row, sizeof row);
        if (!row.node) { /* the chunk has ended */
            place = (struct thread_tree_place){ place.chunk + 1, sizeof(struct dwell_chunk_header) };
            continue;
        }
        if (row.node != number || !tree_durations_add_row(d, &row))
            return false;
        place.at += sizeof row;
        i++;
    }
    return true;
}

bool thread_trees_check_durations(const struct session_file *file)
{
    struct thread_trees trees = thread_trees_begin(file);
    struct thread_tree tree = { 0 };
    bool good = true;
    while (good && thread_trees_next(&trees, &tree))
        good = !tree.damaged;
    thread_tree_drop(&tree);
    thread_trees_drop(&trees);
    return good;
}

/* ---- functions ---- */

struct thread_trees_functions {
    struct profile *profile;
    const struct trace_process *process;
};

static bool thread_trees_take_function(void *context, const struct dwell_tree_node *node,
                                       struct thread_tree_place place)
{
    struct thread_trees_functions *f = context;
    (void)place;
    identify_function(f->profile, f->process, node->function, node->first_time);
    return true;
}

void thread_trees_identify(const struct session_file *file, struct profile *profile)
{
    struct thread_trees trees = thread_trees_begin(file);
    while (trees.next_tree < trees.trees.count) {
        const struct trace_chunk *first = trees.trees.list[trees.next_tree];
        struct thread_trees_functions f = { profile, session_file_process(file, first->process) };
        profile_root(profile, first->process, first->thread);
        thread_trees_scan_thread(&trees, thread_trees_take_function, &f);
    }
    thread_trees_drop(&trees);
}
