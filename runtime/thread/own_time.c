/* The time on a CPU comes from the perf ring, which has the times off the CPU. Threads without a ring have a clock. */
#include "own_time.h"

#include "clock.h"
#include "os_ring.h"
#include "osevents.h"
#include "runtime.h"
#include "switches.h"
#include "thread.h"

enum { MAX_TRIES = 8 }; /* reading the clock may be an OS event itself */

/* A tracer stops the thread in the call. Each probe would find that OS event, and make the call again. */
static struct own_moment own_by_clock(const struct thread *t, uint64_t time)
{
    uint64_t cpu;
    const uint64_t word = *t->os.word;
    const struct own_moment moment = { time, switches_read_cpu(&cpu) ? os_ticks(cpu) : time, 0 };
    os_disregard(t, word);
    return moment;
}

struct own_moment own_now(const struct thread *t)
{
    if (!t->os_source.ring)
        return own_by_clock(t, clock_counter());
    struct off_cpu off;
    uint64_t time, word;
    int tries = 0;
    do {
        word = *t->os.word;
        off = os_off_cpu(t);
        time = clock_counter();
    } while (*t->os.word != word && ++tries < MAX_TRIES);
    return (struct own_moment){ time, time - off.ticks, off.waits };
}

struct own_moment own_of_event(const struct thread *t, uint64_t time)
{
    if (!t->os_source.ring)
        return own_by_clock(t, time);
    return (struct own_moment){ time, time - t->switches.off_cpu_seen, t->switches.seen.waits };
}

struct own_span own_since(const struct thread *t, const struct own_moment *begin)
{
    if (begin->time == 0)
        return (struct own_span){ 0, 0 };
    const struct own_moment now = own_now(t);
    const int64_t took = (int64_t)(now.cpu - begin->cpu); /* the counters of two CPUs may differ */
    return (struct own_span){ took > 0 ? (uint64_t)took : 0, now.waits - begin->waits };
}

struct own_unset own_before_setup(void)
{
    struct own_unset before = { .time = 0 };
    if (runtime.clock != DWELL_CLOCK_MONOTONIC && switches_read_cpu(&before.cpu))
        before.time = clock_counter();
    return before;
}

/* With a ring, the time off the CPU is counted from the fork on. */
struct own_moment own_after_setup(const struct thread *t, const struct own_unset *before)
{
    if (before->time == 0 || !t->os_source.ring)
        return (struct own_moment){ before->time, os_ticks(before->cpu), 0 };
    const uint64_t cpu = os_ticks(saturating_difference(before->cpu, t->switches.cpu_before));
    return (struct own_moment){ before->time, t->last + cpu, os_off_cpu(t).waits };
}
