/*
 * Walks of the loader's list, and forks. The loader holds a lock during a walk. If another thread forks meanwhile, the
 * child inherits the lock taken, and nobody releases it there (glibc makes only its other locks anew). A walk in the
 * child, or its next dlopen, would never end. So no walk of the runtime goes on while a thread forks.
 */
#ifndef DWELL_LOADER_H
#define DWELL_LOADER_H

#include <link.h>

#include "common.h"

#pragma GCC visibility push(hidden)

/* In the process' block. */
struct process_loader {
    uint32_t lock;
    uint32_t forking; /* number of threads inside fork */
    uint32_t walking; /* number of threads inside a walk */
};

typedef int loader_visitor(struct dl_phdr_info *info, size_t size, void *data);

/* Visits the modules in namespaces of dlmopen, which dl_iterate_phdr leaves out. In a walk of the loader's list. Does
 * nothing before glibc 2.35. */
void loader_visit_namespaces(loader_visitor *visit, void *data);

/* Whether a thread changes the loader's list. It holds the loader's lock, and may wait for malloc's. The calling thread
 * may hold that one, if it is in a handler that interrupted malloc. */
bool loader_is_busy(void);

/* dl_iterate_phdr, but not while a thread forks. False if it did not begin: the fork was not over after 20 ms, or at
 * once if the caller may not wait. Signals are held back. */
bool loader_walk(loader_visitor *visit, void *data, bool may_wait);

/* The calling thread is about to fork (true), or has forked, in the parent. It waits for a walk's end at most two
 * seconds. Any thread with a process. */
void loader_forking(bool now);

#pragma GCC visibility pop

#endif
