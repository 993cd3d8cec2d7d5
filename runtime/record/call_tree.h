/*
 * The call tree that a thread has in the session file in mode profile. Signals are held back in all functions.
 */
#ifndef DWELL_CALL_TREE_H
#define DWELL_CALL_TREE_H

#include "call.h"
#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;
struct tree_table;

/* What the runtime took of the interval that began at `since`: ticks on a CPU, and waits. */
struct own_in_interval {
    uint64_t since, cpu, waits;
};

/* In a thread's block. */
struct thread_tree {
    struct tree_table *table;     /* finds its nodes */
    struct dwell_tree_head *head; /* NULL if there is no tree yet */
    struct dwell_tree_node *root; /* a node of no function, which is not in the file: `no_function` */
    struct dwell_tree_node no_function;
    struct dwell_chunk_header *chunk; /* the last one */
    char *next;                       /* the next free node of the chunk */
    const char *end;                  /* of the chunk */
    uint32_t nodes;                   /* number of nodes so far */
    uint32_t seen_unloads;            /* the process' `modules.unloads` that the thread has seen */
    struct own_in_interval own;       /* what the runtime took of the last interval */
};

/* Adds a node to the thread's table that is not in the file. False if there is no memory. */
bool tree_add_known(struct thread *t, const struct dwell_tree_node *parent, struct dwell_tree_node *node,
                    uint64_t function);

/* Unmaps the table that tree_add_known has made. */
void tree_drop_tables(struct thread *t);

/* Begins the thread's tree, with the calls that are open. False if there is no space. */
bool tree_begin(struct thread *t, uint64_t now);

/* Ends the thread's tree, if it has one. */
void tree_end(struct thread *t);

/* Returns the node of a call whose caller has one, and makes it if needed. NULL if there is no space. */
struct dwell_tree_node *tree_node_of(struct thread *t, const struct call *call, uint64_t now);

/* Adds a node with the same caller and function, which is not found as that of a call. NULL if there is no space. */
struct dwell_tree_node *tree_add_twin(struct thread *t, const struct dwell_tree_node *of);

/* Gives the open calls from depth `from` (bytes) on their nodes. False if there is no space. */
bool tree_find_open_calls(struct thread *t, uint32_t from, uint64_t now);

/* After libraries were unloaded: only nodes of the program are found again, as another library may be where one was. */
void tree_forget_unloaded(struct thread *t);

#pragma GCC visibility pop

#endif
