/* What the tests of waits across threads share: hand-written sessions of one program whose threads wait and act. */
#ifndef DWELL_TESTS_WAKES_H
#define DWELL_TESTS_WAKES_H

#include "support/session_writer.h"

/* Addresses of functions of the program and of its libc. */
enum {
    WAKES_MAIN = 0x401000,
    WAKES_WORK = 0x401100,
    WAKES_WAIT = 0x801000,
    WAKES_ACT = 0x801100,
    WAKES_YIELD = 0x801200
};

/* A session whose process has the functions main and work, and wait and act of libc. */
struct writer *wakes_new(void);

/* A thread with the tid 99 + serial number is in a function from `begin` to `end`. */
void wakes_thread_begins(struct writer *w, uint32_t serial, uint64_t begin, uint64_t function);
void wakes_thread_ends(struct writer *w, uint32_t serial, uint64_t end);

/* A call of wait that is blocked for all but 5 ticks at each side. Without a kind, it has no object. */
void wakes_call(struct writer *w, uint64_t begin, uint64_t end, unsigned kind, uint64_t id, uint32_t holder);

/* A call of act on an object. */
void wakes_act(struct writer *w, uint64_t begin, uint64_t end, unsigned kind, uint64_t id);

#endif
