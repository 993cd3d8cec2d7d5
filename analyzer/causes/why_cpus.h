/* On which CPU a thread was, as far as its records say: they name a CPU each time that the thread comes to one. */
#ifndef DWELL_CAUSES_WHY_CPUS_H
#define DWELL_CAUSES_WHY_CPUS_H

#include "trace/decode.h"

/* Of a thread. CPUs are 1 + their number, and zero if unknown. */
struct why_cpus {
    uint32_t now, last; /* the last one that was known */
    bool moved;         /* it has come to another one since the last call */
};

static inline void why_cpus_note(struct why_cpus *c, const struct decoded_extras *extras)
{
    if (extras->cpu) {
        c->moved |= c->last && c->last != extras->cpu;
        c->now = c->last = extras->cpu;
    } else if (extras->blocked || extras->preempted) {
        c->now = 0;
    }
}

#endif
