/*
 * Reads memory of the program, by addresses that may be wrong. A page is read by a system call first, which a wrong
 * address does not hurt. From then on, it is read directly: the handlers of SIGSEGV and SIGBUS end the reading if the
 * page has gone. Without these handlers, each reading is a system call.
 */
#ifndef DWELL_RUNTIME_MEMORY_READ_H
#define DWELL_RUNTIME_MEMORY_READ_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* Whether it could read `size` bytes, at most 4096. Changes no errno. Any thread of the process `pid`, any time. */
bool memory_read(uint32_t pid, uint64_t address, void *into, size_t size);

/* In a handler: whether memory_read has caused the fault. Then it fails when the handler returns. `context` is what
 * the handler got. */
bool memory_read_has_failed(void *context);

#pragma GCC visibility pop

#endif
