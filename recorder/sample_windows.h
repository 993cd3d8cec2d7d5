/*
 * Samples in windows of time. Each time a sampled thread gets a processor, the kernel sets a timer for its next sample.
 * On a virtual machine that may take 10 us. So a program whose threads switch often would pay more for its samples than
 * its overhead budget allows. It is sampled for a part of the time then, and each sample stands for more.
 */
#ifndef DWELL_RECORDER_SAMPLE_WINDOWS_H
#define DWELL_RECORDER_SAMPLE_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLE_MOST_STRETCH = 16, SAMPLE_LOOKED_AT = 16 /* threads whose switches are counted */ };

struct switching_thread {
    uint32_t tid;
    uint64_t switches; /* when its samples began to be counted */
    uint64_t time;     /* for which these stand, in nanoseconds of CPU time */
};

struct sample_windows {
    uint32_t permille; /* of CPU time that switches may cost; zero: samples are always taken */
    unsigned stretch;  /* one window in so many is sampled; a power of two */
    bool measured;
    uint64_t cost; /* of a switch, in nanoseconds */
    struct switching_thread threads[SAMPLE_LOOKED_AT];
    size_t count;
    uint64_t switches, time; /* of threads that were looked at, since the last decision */
};

/* Returns the least power of two, up to SAMPLE_MOST_STRETCH, by which switches have to become rarer to cost at most
 * that part of the CPU time. `cost` is that of a switch, and both times are in nanoseconds. */
unsigned sample_stretch(uint64_t switches, uint64_t time, uint64_t cost, uint32_t permille);

/* Returns the CPU time of the calling thread in nanoseconds, or always the same number if the system does not say it.
 */
uint64_t sample_cpu_time(void);

/* Returns what a switch costs a sampled thread more than another one, in nanoseconds. `event` is a perf event of the
 * calling thread with the period of the samples; it is disabled before and afterwards. Takes some milliseconds. */
uint64_t sample_switch_cost(int event);

/* A thread was sampled. */
void sample_windows_note(struct sample_windows *w, uint32_t tid, uint32_t period);

/* A window begins: switches of the time before do not count. */
void sample_windows_begin(struct sample_windows *w);

/* Counts the switches since the window began or since the last look. Returns whether enough CPU time was seen to
 * decide. */
bool sample_windows_look(struct sample_windows *w);

/* Returns the stretch that the switches seen since the last decision need if one costs so many nanoseconds. Few
 * switches need none. */
unsigned sample_windows_needed(const struct sample_windows *w, uint64_t cost);

/* Sets the stretch by what was seen, and forgets that. It gets longer at once, and shorter by steps. */
void sample_windows_decide(struct sample_windows *w);

#endif
