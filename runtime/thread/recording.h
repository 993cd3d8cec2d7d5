/* Whether anything is recorded of the calling process and the calling thread. */
#ifndef DWELL_RUNTIME_RECORDING_H
#define DWELL_RUNTIME_RECORDING_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

/* The calling thread is inside process_begin. What that calls may have probes, and these record nothing. */
extern __thread bool process_is_being_set_up __attribute__((tls_model("initial-exec")));

/* Whether the calling process records. False in a child by vfork, which shares its parent's memory. */
bool process_is_recorded(void);

/* No more chunks are taken. */
void process_stop(void);

/* The calling thread cannot be set up. It is not tried again, as it would then have exits without an enter. */
extern __thread bool thread_refused __attribute__((tls_model("initial-exec")));

/* The same, and its events are lost from now on. */
void thread_refuse(enum dwell_trouble trouble);

#pragma GCC visibility pop

#endif
