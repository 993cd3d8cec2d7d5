/* Calls of handle of which some are slow for one reason, which is planted. */
#ifndef DWELL_TESTS_SLOW_CALLS_H
#define DWELL_TESTS_SLOW_CALLS_H

#include <stdbool.h>

enum { CALLS = 200, EACH = 20, NAP_MS = 40 };

#define KEPT __attribute__((noinline, noclone))

/* A reason. Only its name and its work are not NULL. */
struct slow_cause {
    const char *name;
    void (*work)(bool slow); /* in handle */
    void (*other)(void);     /* of another thread: runs until `finished` */
    bool forks;              /* the other one is a process */
    void (*begin)(void);     /* once, when the other thread runs */
    void (*prepare)(void);   /* before a slow call */
    bool in_threads;         /* each slow call, and those after it, have a thread of their own */
};

/* Ended by one without a name. */
extern const struct slow_cause slow_waits[], slow_work[];

/* Both processes see these. */
struct slow_flags {
    volatile bool wanted, held, finished;
};
extern struct slow_flags *flags;

void compute(unsigned rounds);
void nap(unsigned ms);

/* Lets the other thread do its work, until it says that it holds what the call needs. */
void wait_until_held(void);

/* What the other thread does: `hold` each time that it is wanted. */
void hold_when_wanted(void (*hold)(void));

#endif
