/* Keeps samples of threads in the session: a chunk for each thread, in which its samples follow one another. */
#ifndef DWELL_RECORDER_SAMPLE_WRITER_H
#define DWELL_RECORDER_SAMPLE_WRITER_H

#include <stddef.h>

#include "session.h"

/* A sample as the kernel took it, with registers in the order of docs/format.md. */
struct taken_sample {
    uint32_t pid, tid;
    uint64_t time;   /* ticks */
    uint32_t period; /* nanoseconds of CPU time for which it stands */
    const uint64_t *registers;
    uint32_t register_count;
    const uint8_t *stack; /* bytes from the stack pointer upwards */
    size_t stack_size;
};

struct sample_writer;

/* The session and its descriptor must stay valid. */
struct sample_writer *sample_writer_new(const struct session *session, int fd);

/* Adds a sample. If there is no room, it is counted as lost. */
void sample_writer_add(struct sample_writer *w, const struct taken_sample *sample);

/* The thread has ended or executed another program: later samples of this tid are those of another thread. */
void sample_writer_end_thread(struct sample_writer *w, uint32_t tid);

void sample_writer_lose(struct sample_writer *w, uint64_t samples);

/* Ends all chunks. */
void sample_writer_free(struct sample_writer *w);

#endif
