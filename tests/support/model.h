/*
 * A random program's events and their times by the time model taken literally. The reference walks the whole stack for
 * each interval. It is slow, and shares no code with the analyzer.
 */
#ifndef DWELL_TESTS_MODEL_H
#define DWELL_TESTS_MODEL_H

#include "profile/rollup.h"
#include "support/session_writer.h"

enum {
    MODEL_PROCESSES = 2,
    MODEL_THREADS = 4, /* the first two belong to the first process */
    MODEL_MODULES = 4, /* the last one is the unknown module */
    MODEL_PER_MODULE = 3,
    MODEL_FUNCTIONS = MODEL_MODULES * MODEL_PER_MODULE,
    MODEL_EVENTS = 700,
    MODEL_DEEPEST = 10,
    MODEL_PATHS = 4096,
    MODEL_NOBODY = MODEL_FUNCTIONS, /* the caller of a root */
};

struct model_event {
    uint64_t time;
    int function; /* -1 for an exit */
    unsigned unwound;
    bool flagged;
};

struct model_path {
    unsigned thread, depth;
    unsigned char stack[MODEL_DEEPEST];
    struct times times;
};

struct model {
    uint64_t random;
    struct model_event events[MODEL_THREADS][MODEL_EVENTS];
    uint64_t end[MODEL_THREADS];
    bool end_flagged[MODEL_THREADS];
    /* the reference's results */
    struct times functions[MODEL_FUNCTIONS], modules[MODEL_MODULES];
    struct times threads[MODEL_THREADS], processes[MODEL_PROCESSES], session;
    struct times callers[MODEL_FUNCTIONS][MODEL_FUNCTIONS + 1], callees[MODEL_FUNCTIONS][MODEL_FUNCTIONS];
    struct model_path *paths;
    unsigned path_count;
};

/* Makes events from the seed, and computes their times. */
struct model *model_new(uint64_t seed);
void model_free(struct model *m);

unsigned model_random(struct model *m, unsigned limit);
unsigned model_process(unsigned thread);

/* A function's offset in its file and its address in the process. model_paths has the files' names. */
uint64_t model_offset(int function);
uint64_t model_address(unsigned process, int function);
extern const char *const model_paths[MODEL_MODULES];

/* Writes the events as a session. A new chunk begins before an event with a chance of one in `pieces`, or never if it
 * is zero. The file has the threads' chunks in turn, starting with thread `first`. */
struct writer *model_write(struct model *m, unsigned pieces, unsigned first);

/* The profile of the calls of one function, and of all below them. The caller frees it. */
struct profile *model_subtree(const struct profile *p, uint32_t root);

#endif
