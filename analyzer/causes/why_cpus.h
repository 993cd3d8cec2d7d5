/* On which CPU a thread was, as far as its records say: they name a CPU each time that the thread comes to one. */
#ifndef DWELL_CAUSES_WHY_CPUS_H
#define DWELL_CAUSES_WHY_CPUS_H

#include "trace/decode.h"

/* The CPU is that with which the stretch of the thread begins, which is read apart from what is before it. */
enum { WHY_CPU_EARLIER = UINT32_MAX };

/* Of a thread. CPUs are 1 + their number, and zero if unknown. */
struct why_cpus {
    uint32_t now, last; /* the last one that was known */
    uint32_t first; /* the one to which the thread came first in the stretch; zero if that was before the last call */
    bool moved;     /* it has come to another one since the last call */
    bool carries;   /* no call has ended in the stretch: it has come to another one, too, if it had before */
};

static inline struct why_cpus why_cpus_begin(void)
{
    return (struct why_cpus){ .now = WHY_CPU_EARLIER, .last = WHY_CPU_EARLIER, .carries = true };
}

static inline void why_cpus_note(struct why_cpus *c, const struct decoded_extras *extras)
{
    if (extras->cpu) {
        if (c->last == WHY_CPU_EARLIER)
            c->first = extras->cpu;
        else
            c->moved |= c->last && c->last != extras->cpu;
        c->now = c->last = extras->cpu;
    } else if (extras->blocked || extras->preempted) {
        c->now = 0;
    }
}

static inline void why_cpus_end_call(struct why_cpus *c)
{
    c->first = 0;
    c->moved = c->carries = false;
}

/* What is known of the stretch, as it is known what was before it. */
static inline struct why_cpus why_cpus_after(const struct why_cpus *before, const struct why_cpus *c)
{
    return (struct why_cpus){
        .now = c->now == WHY_CPU_EARLIER ? before->now : c->now,
        .last = c->last == WHY_CPU_EARLIER ? before->last : c->last,
        .moved = c->moved || (c->first && before->last && before->last != c->first) || (c->carries && before->moved),
    };
}

#endif
