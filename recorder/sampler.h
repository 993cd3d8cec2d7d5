/* Takes samples of the recorded program: where each of its threads is, so many times a second of its CPU time. */
#ifndef DWELL_RECORDER_SAMPLER_H
#define DWELL_RECORDER_SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "recorder/sample_rate.h"
#include "recorder/sample_windows.h"
#include "session.h"

struct sample_ring;
struct sample_writer;

/* One instant on the session's clock and on the clock of perf events. */
struct sampler_instant {
    uint64_t ticks, ns;
};

struct sampler {
    const struct session *session;
    struct sample_writer *writer;
    struct sample_periods periods;
    struct sample_ring *rings; /* one of each CPU */
    size_t count;
    uint64_t first_time; /* nanoseconds of CPU time that samples with the first period stand for */
    unsigned enabled;    /* how often samples were begun; SAMPLER_TIMES if they begin with the program */
    unsigned settled;    /* how often the later period was set */
    struct sample_windows windows;
    bool pauses;    /* between two windows */
    uint64_t until; /* when the window or the pause ends, in milliseconds */
    uint32_t chance;
    int wake; /* eventfd */
    bool running;
    bool stop;   /* atomic */
    bool wanted; /* atomic: samples are taken, or begin now */
    pthread_t thread;
    struct sampler_instant before, now;
    int64_t clock_offset; /* perf_clock.h */
};

/* Whether the system lets this user sample a program. Returns zero or an errno value. Sets whether there are samples in
 * the kernel, too. */
int sampler_try(bool *in_kernel);

/* Measures what a sample costs the sampled thread, in nanoseconds. This takes some milliseconds. Returns zero if the
 * system refuses samples or takes too few of them. */
uint64_t sampler_measure_cost(void);

/* Prepares to take samples with these periods. `cost`: the nanoseconds that one takes, or zero if this is
 * unknown. `switches`: how much of the CPU time the switches of sampled threads may cost, in
 * thousandths; zero: any. The session and its descriptor must stay valid. If the header says that samples may be spare,
 * they begin with sampler_want, else with the program. */
void sampler_begin(struct sampler *sampler, const struct session *session, int fd, struct sample_periods periods,
                   uint64_t cost, uint32_t switches);

/* Samples the process, which is about to execute the program, all its threads, and all processes that it starts. If the
 * system refuses, the header says why. */
void sampler_attach(struct sampler *sampler, pid_t pid);

/* Samples begin, if they have not. For any thread. */
void sampler_want(struct sampler *sampler);

/* Keeps the samples taken so far and ends. */
void sampler_end(struct sampler *sampler);

#endif
