/* Calls and times by function in some chunks of events, without call paths: for looks that have to be quick. */
#ifndef DWELL_PROFILE_FUNCTION_SUMS_H
#define DWELL_PROFILE_FUNCTION_SUMS_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct function_sum {
    uint32_t process;   /* serial number */
    uint32_t function;  /* number in the profile */
    uint64_t calls;     /* enters */
    uint64_t inclusive; /* ticks, within the chunks; a call within one of the same function has its ticks again */
};

struct function_sums {
    struct function_sum *list; /* in no order; a function may be there several times */
    size_t count, room;
    uint64_t cpu;   /* ticks of CPU time of all threads, without the runtime's own on its slow path */
    size_t threads; /* that have events in the chunks */
};

/* Reads the events of these chunks. Functions are added to the profile. The caller ends it by function_sums_drop. */
struct function_sums function_sums_of(const struct session_file *file, const struct trace_chunk *chunks, size_t count,
                                      struct profile *functions);

void function_sums_drop(struct function_sums *s);

#endif
