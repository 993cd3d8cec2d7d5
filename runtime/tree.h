/*
 * The mode profile: sums in a call tree that each thread has in the session file.
 */
#ifndef DWELL_TREE_H
#define DWELL_TREE_H

#include "call.h"
#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct event;
struct thread;
struct tree_table;

/* In a thread's block. */
struct thread_tree {
    struct tree_table *table;         /* finds its nodes */
    struct dwell_tree_head *head;     /* NULL if there is no tree yet */
    struct dwell_tree_node *root;     /* a node of no function, which is not in the file */
    struct dwell_chunk_header *chunk; /* the last one */
    char *next;                       /* the next free node of the chunk */
    uint32_t nodes;                   /* number of nodes so far */
    uint32_t seen_unloads;            /* the process' `modules.unloads` that the thread has seen */
    uint64_t own_time;                /* ticks that the runtime took of the interval that began at `own_since` */
    uint64_t own_since;
};

/* Adds a node to the thread's table that is not in the file. False if there is no memory. */
bool tree_add_known(struct thread *t, const struct dwell_tree_node *parent, struct dwell_tree_node *node,
                    uint64_t function);

/* Unmaps the table that tree_add_known has made. */
void tree_drop_tables(struct thread *t);

/* Records an event of the slow path. `begin`: when the probe began, in ticks; zero if it is not known. */
void tree_record(struct thread *t, const struct event *event, uint64_t begin);

/* Signals are held back in the following. */
void tree_pause(struct thread *t, uint64_t time);
void tree_resume(struct thread *t, uint64_t time);
void tree_end(struct thread *t);
uint64_t tree_leave_stack(struct thread *t, uint64_t time);             /* before the shadow stack is changed */
void tree_take_stack(struct thread *t, uint64_t time, bool other_tree); /* after it was changed */

#pragma GCC visibility pop

#endif
