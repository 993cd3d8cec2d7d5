/*
 * Memory that processes share: what a lock in it is called by all of them. The table has the mappings that the runtime
 * saw, and is inherited by forked children. It is of fixed size: locks in later mappings are objects of one process.
 */
#ifndef DWELL_SHARED_MEMORY_H
#define DWELL_SHARED_MEMORY_H

#include <stddef.h>

#include "common.h"

#pragma GCC visibility push(hidden)

/* A mapping was made, or is gone. `fd` is negative for memory that only children share. A segment is one of System V.
 */
void shared_memory_add(const void *at, size_t size, int fd, uint64_t offset);
void shared_memory_add_segment(const void *at, int segment);
void shared_memory_remove(const void *at, size_t size);
void shared_memory_remove_segment(const void *at);

/* The page of the named object, such as a semaphore, that is at the address. */
void shared_memory_add_named(const void *at, const char *name);

/* What all processes call the object at the address: bit 63 is set. The address itself if it is not in shared memory.
 */
uint64_t shared_memory_number(const void *at);

#pragma GCC visibility pop

#endif
