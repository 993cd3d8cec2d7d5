/* Sessions with samples, and the times that they give. */
#ifndef DWELL_TESTS_SAMPLED_SESSION_H
#define DWELL_TESTS_SAMPLED_SESSION_H

#include "support/load.h"
#include "support/scenario.h"

/* Functions of the program, of a library, and of the runtime. */
enum { F = 0x1000, G = 0x2000, PLAIN = 0x3000, COPY = 0x20100, PARSE = 0x20200, PROBE = 0x30100 };

/* A process with a thread, these modules and names of functions. Samples have a period of 1 us. */
void sampling_write_modules(struct writer *w);

/* The same, and two calls: F from 0 to 1,000 is blocked for 100 and calls G from 200 to 600. */
struct writer *sampling_two_calls(void);

/* A sample at this address. */
void sampling_write(struct writer *w, uint64_t time, uint64_t address);

/* Loads the session with a number of jobs, and checks the identities of its times. */
void sampling_load(struct analysis *analysis, struct writer *w, unsigned jobs);

/* By name; calls of a function that is not there are none. */
struct times sampling_times(const struct analysis *analysis, const char *name);

/* Whether the function's own time is within its interval of the truth. */
bool sampling_is_within(const struct analysis *analysis, const char *name, double truth);

/* The next of a row of numbers, which `*state` begins. */
uint64_t sampling_next_random(uint64_t *state);

#endif
