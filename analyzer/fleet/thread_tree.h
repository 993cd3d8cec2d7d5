/* The call tree of one thread in a session of sums. It has the links of the nodes, and reads their amounts from the
 * file when they are asked for, so it needs few bytes a node. */
#ifndef DWELL_FLEET_THREAD_TREE_H
#define DWELL_FLEET_THREAD_TREE_H

#include "profile/profile.h"
#include "profile/tree_sums.h"
#include "trace/session_file.h"

/* All threads of a session that have trees, one after another. */
struct thread_trees {
    const struct session_file *file;
    struct tree_chunks trees, rows, durations;
    size_t next_tree, next_row, next_durations; /* chunks that are still to come */
    struct chunk_buffer buffer;
};

/* Where a node or its row of sums is. */
struct thread_tree_place {
    uint32_t chunk, at; /* `at` is zero if there is none */
};

/* Nodes have the numbers of the file; zero is the thread's root, and no child. */
struct thread_tree_node {
    uint32_t first_child, sibling;
    uint64_t callees;                              /* the calls that it made */
    struct thread_tree_place node, row, durations; /* of durations: the first row */
    uint32_t duration_rows;
};

struct thread_tree {
    uint32_t process, thread; /* serial numbers */
    struct thread_tree_node *nodes;
    size_t count, room;
    bool damaged; /* it has rows of durations that cannot be */
};

struct thread_trees thread_trees_begin(const struct session_file *file);
void thread_trees_drop(struct thread_trees *trees);

/* Reads the links of the next thread into a tree that is all zero, or was used before. False if there is none. */
bool thread_trees_next(struct thread_trees *trees, struct thread_tree *tree);
void thread_tree_drop(struct thread_tree *tree);

/* Reads a node. Returns whether *row is there. */
bool thread_trees_read(const struct thread_trees *trees, const struct thread_tree *tree, uint32_t number,
                       struct dwell_tree_node *node, struct dwell_sum_row *row);

/* Reads how long the calls of a node took, in ticks. False if that cannot be. The caller frees *d. */
bool thread_trees_read_durations(const struct thread_trees *trees, const struct thread_tree *tree, uint32_t number,
                                 struct durations **d);

/* Whether all rows of durations in the file can be. */
bool thread_trees_check_durations(const struct session_file *file);

/* Adds all threads and functions to a profile, without call paths. */
void thread_trees_identify(const struct session_file *file, struct profile *profile);

#endif
