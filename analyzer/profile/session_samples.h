/*
 * All samples of a session, ready to be attributed: at which time a thread was in which functions. The functions are
 * those of the binaries on this machine. Of the stack, only the functions are kept.
 */
#ifndef DWELL_PROFILE_SESSION_SAMPLES_H
#define DWELL_PROFILE_SESSION_SAMPLES_H

#include "trace/session_file.h"

/* Whose code it is. */
enum sampled_code {
    SAMPLED_PROGRAM,
    SAMPLED_RUNTIME, /* its time is that of probes, which is known */
    SAMPLED_STUB,    /* through which calls go that are counted, or have no slot: its time is not known otherwise */
};

/* A function in which a thread was. */
struct sampled_frame {
    const struct trace_module *module; /* NULL if the address is in none */
    uint64_t offset;                   /* of the function as the module's file has it, or an address */
    enum sampled_code code;
};

/* Functions from the innermost one outwards, as far as the stack could be unwound. */
struct sampled_chain {
    uint32_t first, count; /* in the list of links */
};

struct sample_point {
    uint64_t time;
    uint32_t chain;
    uint32_t period; /* nanoseconds of CPU time for which it stands */
};

/* The samples of a thread, by time. */
struct thread_samples {
    uint32_t thread; /* serial number */
    struct sample_point *points;
    size_t count, room;
};

struct session_samples {
    struct sampled_frame *frames;
    size_t frame_count, frame_room;
    uint32_t *links; /* numbers of frames */
    size_t link_count, link_room;
    struct sampled_chain *chains;
    size_t chain_count, chain_room;
    struct thread_samples *threads; /* by serial number */
    size_t thread_count, thread_room;
    uint64_t damaged_chunks;
};

/* Returns NULL if the session has no samples. Without `stacks`, chains have the innermost function alone. */
struct session_samples *session_samples_read(const struct session_file *file, bool stacks);

struct binaries;

/* Only the innermost functions, with binaries that are open already. They are quiet meanwhile. */
struct session_samples *session_samples_read_with(const struct session_file *file, struct binaries *binaries);
void session_samples_free(struct session_samples *samples);

/* The samples of a thread from that time on. */
const struct sample_point *session_samples_from(const struct session_samples *samples, uint32_t thread, uint64_t time,
                                                const struct sample_point **end);

#endif
