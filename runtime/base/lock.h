/*
 * Locks of the runtime: one word, zero while free. They may be taken by any thread, with signals held back, so that a
 * handler on the same thread cannot wait for its own lock.
 */
#ifndef DWELL_LOCK_H
#define DWELL_LOCK_H

#include "common.h"

#pragma GCC visibility push(hidden)

void lock_take(uint32_t *lock);
void lock_release(uint32_t *lock);

#pragma GCC visibility pop

#endif
