/*
 * sleeper [TIMES [UNITS [MILLISECONDS]]]: elapsed time against application time.
 *
 * TIMES times, busy computes for UNITS units of some 10 microseconds (one call of churn each), and doze sleeps for
 * MILLISECONDS. The report should give doze an elapsed time of at least TIMES * MILLISECONDS and almost no application
 * time. busy has nearly the same of both. The work is cut into units so that a preemption costs busy the application
 * time of only one unit.
 */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <time.h>

#include "sample.h"

enum { STEPS_PER_UNIT = 8000 };

static unsigned long churn_calls;
static unsigned long busy_calls;
static unsigned long doze_calls;

/* Each step needs the result of the one before, so that no compiler can remove the work. */
static uint64_t churn(uint64_t state)
{
    churn_calls++;
    for (int i = 0; i < STEPS_PER_UNIT; i++)
        state = state * 6364136223846793005u + 1442695040888963407u;
    return state;
}

static uint64_t busy(long units, uint64_t state)
{
    busy_calls++;
    for (long i = 0; i < units; i++)
        state = churn(state);
    return state;
}

static void doze(long milliseconds)
{
    doze_calls++;
    struct timespec rest = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue; /* a signal ended the sleep: sleep for the rest */
}

int main(int argc, char **argv)
{
    if (argc > 4)
        sample_usage("sleeper [TIMES [UNITS [MILLISECONDS]]]");
    long times = argc > 1 ? sample_number(argv[1], 0, 1000000) : 20;
    long units = argc > 2 ? sample_number(argv[2], 0, 1000000) : 1000;
    long milliseconds = argc > 3 ? sample_number(argv[3], 0, 1000000) : 10;
    uint64_t state = 1;

    for (long i = 0; i < times; i++) {
        state = busy(units, state);
        doze(milliseconds);
    }
    printf("state %016llx\n", (unsigned long long)state);
    printf("calls churn %lu\n", churn_calls);
    printf("calls busy %lu\n", busy_calls);
    printf("calls doze %lu\n", doze_calls);
    printf("calls main 1\n");
    return EXIT_SUCCESS;
}
