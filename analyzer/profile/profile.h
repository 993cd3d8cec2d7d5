/*
 * The profile: a call tree for each thread of each process, whose nodes hold the values of the time model
 * (docs/time-model.md). It knows no file format and no symbols: a function is a module and an address in it.
 *
 * Profiles of parts of a session are made in any order and merged into one. The sums do not depend on how the work was
 * split.
 */
#ifndef DWELL_PROFILE_PROFILE_H
#define DWELL_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/format.h"
#include "profile/values.h"

#define PROFILE_NONE UINT32_MAX
#define PROFILE_SAMPLED (UINT32_MAX - 1) /* the site of a path that is known by samples: it has no calls */

/* A file of code. Path and build-id identify it. */
struct profile_module {
    char *path; /* empty for code that belongs to no known module */
    uint8_t *build_id;
    size_t build_id_length;
};

struct profile_function {
    uint32_t module;
    uint64_t offset; /* address as the module's file has it, or an absolute one in the unknown module */
};

/* Another address of a function, such as that of a copy which counts as the same function. */
struct profile_alias {
    uint32_t module;
    uint64_t offset;
    uint32_t function;
};

/* A call site: the address after the call, or one within an inlined call. */
struct profile_site {
    uint32_t module;
    uint64_t offset; /* as in struct profile_function */
    bool inlined;
};

struct profile_thread {
    uint32_t process; /* serial numbers in the session */
    uint32_t thread;
    uint32_t root;    /* the node that the thread's calls are below */
    uint64_t runtime; /* ticks of the runtime's recorded work outside of all functions */
};

/* A call path. All times are in ticks. Inclusive values are sums over a node and the nodes below it (rollup.h). */
struct profile_node {
    uint32_t parent;   /* PROFILE_NONE for a thread's root */
    uint32_t function; /* PROFILE_NONE for a thread's root */
    uint32_t site;     /* PROFILE_NONE if it is unknown or was not requested; or PROFILE_SAMPLED */
    /* Of its completed calls, elapsed inclusive; NULL if there are none, or not kept. Near `elapsed`, as each call
     * changes both. */
    struct durations *durations;
#define AMOUNT_MEMBER(member, unit, merge) uint64_t member;
    PATH_AMOUNTS(AMOUNT_MEMBER)
#undef AMOUNT_MEMBER
};

/* A mark that the program set on one of its threads. */
struct profile_mark {
    uint64_t time;  /* the time that it marks */
    uint64_t order; /* among the marks of the thread */
    uint32_t process, thread;
    uint32_t number;
    uint32_t node; /* the innermost open call when it was set */
    char *text;
};

struct profile_counts {
    uint64_t enters, exits;
    uint64_t unwound;     /* frames left without an exit */
    uint64_t stray_exits; /* without an enter */
    uint64_t switches;    /* changes to another stack */
    uint64_t intervals, flagged_intervals;
    uint64_t os_events, page_faults;
    uint64_t blocked, preempted; /* ticks */
    uint64_t pauses, paused;     /* how often recording was paused on a thread, and for how many ticks in all */
    uint64_t outside;            /* ticks between events of a thread while no function was open */
    uint64_t chunks, damaged_chunks;
    uint64_t samples;           /* samples while a function was open */
    uint64_t samples_in_probes; /* those of `samples` that were in the runtime */
};

/* A row of an imported report. It overrides the values of the call tree. */
struct profile_reported {
    uint32_t process;  /* serial number */
    uint32_t kind;     /* enum dwell_reported */
    uint32_t function; /* or a module */
    uint32_t other;    /* PROFILE_NONE if it is unknown */
    struct times times;
    struct dwell_stated stated;
};

/* Calls of a function on a thread that were only counted (counted.h). A function may have several entries. */
struct profile_counted {
    uint32_t thread;   /* index in the profile's threads */
    uint32_t function; /* index */
    uint64_t calls;
};

struct durations;
struct intern;
struct number_index;
struct node_index;

struct profile {
    struct profile_module *modules;
    size_t module_count, module_room;
    struct profile_function *functions;
    size_t function_count, function_room;
    struct profile_alias *aliases;
    size_t alias_count, alias_room;
    struct profile_site *sites;
    size_t site_count, site_room;
    struct profile_thread *threads;
    size_t thread_count, thread_room;
    struct profile_node *nodes; /* parents come before their children */
    size_t node_count, node_room;
    struct profile_mark *marks; /* in no order */
    size_t mark_count, mark_room;
    struct profile_reported *reported;
    size_t reported_count, reported_room;
    struct profile_counted *counted;
    size_t counted_count, counted_room;
    struct profile_counts counts;
    size_t uncounted_functions; /* those of which durations were to be counted, and could not all be */
    uint64_t uncounted_calls;   /* how many of these functions' calls */
    uint64_t sampled_time,
        sampled_in_probes;       /* nanoseconds for which its samples stand, and of these, in the runtime */
    struct intern *module_table; /* path and build-id to module */
    struct number_index *function_table, *site_table, *thread_table;
    struct node_index *node_table; /* nodes by parent, function and site */
};

struct profile *profile_new(void);
void profile_free(struct profile *p);

/* Removes the threads with their nodes, marks, rows and counts, and keeps the memory for others. */
void profile_clear(struct profile *p);

/* Removes the durations of all paths. */
void profile_drop_durations(struct profile *p);

/* The path of the module of the node's function; empty for a thread's root. */
const char *profile_module_path(const struct profile *p, uint32_t node);

/* Find an entry. Return PROFILE_NONE if there is none. */
uint32_t profile_find_module(const struct profile *p, const char *path, const uint8_t *build_id,
                             size_t build_id_length);
uint32_t profile_find_function(const struct profile *p, uint32_t module, uint64_t offset);
/* The profile's number of a function of another profile. */
uint32_t profile_find_same_function(const struct profile *p, const struct profile *other, uint32_t function);
uint32_t profile_find_root(const struct profile *p, uint32_t process, uint32_t thread);
uint32_t profile_find_child(const struct profile *p, uint32_t parent, uint32_t function); /* without a call site */
/* By function, and by node, of another profile: the profile's number of it, or PROFILE_NONE. The caller frees the
 * list. */
uint32_t *profile_find_functions(const struct profile *p, const struct profile *other);
uint32_t *profile_find_nodes(const struct profile *p, const struct profile *other);

/* Find an entry, or make it. Paths and build-ids are copied into the profile. */
uint32_t profile_module(struct profile *p, const char *path, const uint8_t *build_id, size_t build_id_length);
uint32_t profile_function(struct profile *p, uint32_t module, uint64_t offset);
uint32_t profile_root(struct profile *p, uint32_t process, uint32_t thread);
uint32_t profile_child(struct profile *p, uint32_t parent, uint32_t function);
uint32_t profile_child_from(struct profile *p, uint32_t parent, uint32_t function, uint32_t site);
uint32_t profile_site(struct profile *p, uint32_t module, uint64_t offset, bool inlined);

/* Adds an address at which the function is found. Does nothing if there is a function at that address. */
void profile_add_alias(struct profile *p, uint32_t module, uint64_t offset, uint32_t function);

/* Lets profile_child_from find a node that has no other place in the index. */
void profile_index_node(struct profile *p, uint32_t node);

/* Lets profile_root find the threads, whose serial numbers were changed. */
void profile_index_threads(struct profile *p);

/* Copies all modules, functions, aliases and sites into an empty profile, where they have the same numbers. */
void profile_copy_functions(struct profile *into, const struct profile *from);

/* Orders modules by path, then by the length of the build-id, then by its bytes. */
int profile_compare_modules(const struct profile_module *a, const struct profile_module *b);

/* For qsort of marks: by time, then thread, then the order in which they were set. */
int profile_compare_marks(const void *a, const void *b);

/* Adds all of `from` but its aliases to `into`. Merging is associative, and commutative except for the order of the
 * entries. */
void profile_merge(struct profile *into, const struct profile *from);

/* The same. Returns the numbers of the nodes of `from` in `into`; the caller frees the array. */
uint32_t *profile_merge_numbered(struct profile *into, const struct profile *from);

/* Adds all nodes of `from` without their amounts. Returns their numbers in `into`; the caller frees the array. */
uint32_t *profile_add_nodes(struct profile *into, const struct profile *from);

/* The same for the nodes that are set in `kept`, as those above them must be. Others have no number. */
uint32_t *profile_add_kept_nodes(struct profile *into, const struct profile *from, const bool *kept);

#endif
