/* The waits of a session of mode profile: sums of the waits of each thread, by call path, object and holder. They are
 * read together with the threads' call trees (trees.h). */
#ifndef DWELL_PROFILE_TREE_WAITS_H
#define DWELL_PROFILE_TREE_WAITS_H

#include "trace/session_file.h"

/* A row of the session. Its node is one of the profile. That of the rest of a thread is the thread's root. */
struct tree_wait {
    uint32_t process, thread; /* serial numbers */
    uint32_t node;
    struct dwell_wait_row row;
};

/* Where the nodes of a thread's call tree are in the profile. */
struct tree_thread {
    size_t first, count; /* in the list of nodes */
    uint32_t top;        /* the innermost call at the thread's last event; its root if there was none */
};

struct number_index;

struct tree_waits {
    struct tree_wait *list;
    size_t count, room;
    uint32_t *nodes; /* of all threads */
    size_t node_count, node_room;
    struct tree_thread *threads;
    size_t thread_count, thread_room;
    struct number_index *thread_table; /* serial number -> place in `threads` */
    const struct trace_chunk **chunks; /* the session's chunks of waits, by process, thread and number */
    size_t chunk_count, next_chunk;
};

struct tree_waits *tree_waits_new(const struct session_file *file);

/* Adds the rows of a thread, whose nodes by number are `nodes`. Threads come in the order of their chunks. */
void tree_waits_add_thread(struct tree_waits *w, const struct session_file *file, const struct trace_chunk *any,
                           const uint32_t *nodes, size_t count, uint32_t top);

/* The node with that number of a thread's call tree, and the thread's last one. PROFILE_NONE if unknown. */
uint32_t tree_waits_find_node(const struct tree_waits *w, uint32_t thread, uint32_t number);
uint32_t tree_waits_find_top(const struct tree_waits *w, uint32_t thread);

void tree_waits_free(struct tree_waits *w);

#endif
