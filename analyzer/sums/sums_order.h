/* The order in which sums are written, and the parts of writing them. */
#ifndef DWELL_SUMS_SUMS_ORDER_H
#define DWELL_SUMS_SUMS_ORDER_H

#include "sums/sums.h"
#include "trace/chunk_writer.h"

enum { SUMS_MODULES = 30000 /* addresses have 64 bits, and sites need the highest one */ };
#define SUMS_MODULE_SIZE ((uint64_t)1 << 48)

struct sums_writer {
    const struct sums *sums;
    const struct session *session;
    int fd;
    uint32_t *session_order;                    /* places of sessions */
    uint32_t *process_serials, *thread_serials; /* by place */
    uint32_t *process_order;                    /* places */
    uint32_t *thread_order;                     /* places, by process and serial number */
    uint64_t *process_modules;                  /* process << 32 | rank of a module that it has functions of, sorted */
    size_t process_module_count, process_module_room;
    uint32_t *module_order, *module_ranks;
    size_t module_count;  /* that are used */
    bool *used;           /* by function */
    uint64_t *addresses;  /* by function */
    uint32_t *node_order; /* nodes, by thread, and then in the order of the file (profile/node_order.h) */
    uint32_t *numbers;    /* by node: in its thread's tree; zero for a root */
    uint32_t *threads;    /* by node: place in the profile's threads */
    uint32_t *depths;
    bool good;
};

/* Sets all but the session and its file. False if there are too many modules. */
bool sums_order(struct sums_writer *w, struct sums *sums);
void sums_order_drop(struct sums_writer *w);

/* Code of no module has none. */
static inline bool sums_is_module(const struct profile_module *m)
{
    return m->path[0] || m->build_id_length;
}

/* A chunk of a process and thread. sums_end remembers in the writer whether it could be written. */
enum { SUMS_CHUNK = 1 << 20, SUMS_METADATA = 256 << 10 };
struct chunk_writer sums_begin(const struct sums_writer *w, enum dwell_chunk_kind kind, uint32_t process,
                               uint32_t thread, uint32_t size);
void sums_end(struct sums_writer *w, struct chunk_writer *chunk);

/* sums_trees.c */
void sums_write_threads(struct sums_writer *w);
void sums_write_names(struct sums_writer *w);

#endif
