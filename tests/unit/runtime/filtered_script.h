/* Plays events to the recorder of modes trace and ring with filters, and returns what it writes into its chunk. */
#ifndef TESTS_FILTERED_SCRIPT_H
#define TESTS_FILTERED_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct script_event {
    uint64_t time, function; /* ticks */
    bool enter;
    bool flagged;                /* the exit of a call of the OS */
    bool os;                     /* the OS intervened before it: */
    uint32_t blocked, preempted; /* ticks, right before the event */
    uint32_t faults;
};

enum { SCRIPT_FUNCTIONS = 4, SCRIPT_FUNCTION = 0x1000 }; /* functions are multiples of it */

struct script_filters {
    uint32_t actions[SCRIPT_FUNCTIONS]; /* of the functions: bits of DWELL_FILTER_* */
    uint32_t depth;
    uint64_t shortest, shortest_in[2]; /* ticks */
};

/* Returns the number of words. The thread's recording begins at tick `start`. */
size_t filtered_script_play(const struct script_filters *filters, const struct script_event *events, size_t count,
                            uint64_t start, uint16_t *words, size_t room);

#endif
